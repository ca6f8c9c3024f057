"""Causes for which models of the zoo fail on TVM alone, as data in ``corpus/models``.

A cause is an entry of the corpus, or a script of at most ``LONGEST`` lines beside ``causes.json``:
exported programs of PyTorch are no cases. The script shows the fault alone. It exits with 1 while
the fault is there, and with 0 once it is gone.
"""

import contextlib
import io
import runpy
import warnings
from pathlib import Path

import msgspec

from relaxcheck.harness.paths import CORPUS
from tests.zoo.records import Trial

FOLDER = CORPUS / "models"

LONGEST = 60
"""Lines of a script."""


class Failing(msgspec.Struct, frozen=True, order=True, forbid_unknown_fields=True):
    """A model of the zoo that fails by the importer ``path``, static, dynamic or both."""

    model: str
    path: str


class Cause(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A cause of failures of ``models``.

    ``name`` is that of an entry of the corpus, or of the folder of the script. A script has a
    ``title``, which says what is wrong, and ``cure``: the fixes that mend it.
    """

    name: str
    models: tuple[Failing, ...]
    title: str = ""
    cure: tuple[str, ...] = ()

    @property
    def script(self) -> Path:
        """The file of the script, if the cause has one."""
        return FOLDER / self.name / "script.py"


def stored() -> tuple[Cause, ...]:
    """All causes."""
    return msgspec.json.decode((FOLDER / "causes.json").read_bytes(), type=tuple[Cause, ...])


def failing(trial: Trial) -> Failing:
    """The model of ``trial`` and its importer."""
    return Failing(trial.model, trial.path)


def exit_code(script: Path) -> tuple[int, str]:
    """The exit code of ``script``, run in this process, and what it printed."""
    printed = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
        warnings.simplefilter("ignore")
        try:
            runpy.run_path(str(script), run_name="__main__")
        except SystemExit as end:
            return int(end.code or 0), printed.getvalue()
    return 0, printed.getvalue()
