"""Running a ``repro.py`` as its reader does: alone, outside this project, in a process."""

import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from relaxcheck.extensions.naming import folders_of_extensions
from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.releases import releases
from relaxcheck.harness.releases.processes import running
from relaxcheck.harness.releases.releases import Release

BESIDES = 120.0
"""Seconds that a script may take besides its case: to import TVM and PyTorch."""

_RAISED = "Traceback (most recent call last)"


@dataclass(frozen=True, slots=True)
class ScriptRun:
    """A script's exit ``code``, the headline of its ``output``, and if it ``raised``."""

    code: int
    output: str
    raised: bool


def exit_code(verdict: Verdict) -> int:
    """The exit code of a script whose case has ``verdict``: 1 while the bug is there."""
    return int(verdict.is_failure)


def run_script(
    script: Path, release: Release, seconds: float, package: Path | None = None
) -> ScriptRun:
    """Run ``script`` with the interpreter of ``release``; its case takes at most ``seconds``.

    It imports the TVM in the folder ``package``, if there is one, in place of the installed TVM.

    Raises:
        CaseError: it did not end in time.
    """
    variables = {
        key: value for key, value in releases.environment(release).items() if key != "PYTHONPATH"
    }
    paths = [] if package is None else [str(package)]
    if not paths and release.build is not None:
        paths += release.build.pythonpath
    # Where there is a TVM, it would be imported in place of the release's.
    paths += [path for path in folders_of_extensions() if not Path(path, "tvm").is_dir()]
    if paths:
        variables["PYTHONPATH"] = os.pathsep.join(paths)
    with tempfile.TemporaryDirectory(prefix="relaxcheck-script-") as elsewhere:
        command = (str(release.python), str(script.absolute()))
        try:
            with running(command, variables, elsewhere) as process:
                printed, errors = process.communicate(timeout=seconds + BESIDES)
        except subprocess.TimeoutExpired as late:
            raise CaseError(f"{script.name} did not end in {late.timeout:.0f} s") from late
    output = headline((printed + errors).decode(errors="replace"))
    return ScriptRun(process.returncode, output, _RAISED in errors.decode(errors="replace"))
