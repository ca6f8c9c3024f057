"""The folder of an export: rendered, its script run, and then put in place."""

import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from relaxcheck.generators.core.case import AnyCase, CaseError, write
from relaxcheck.harness.known.corpus import (
    CASE,
    CURED,
    FINDING,
    SCRIPT,
    UNFINISHED,
    Record,
    record_text,
)
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.releases.releases import release
from relaxcheck.harness.triage.scripts import ScriptRun, exit_code, run_script
from relaxcheck.reports.issue.finding_folder import rendered

_SHOWN = frozenset(
    {
        *(Verdict.SILENT_BAIL, Verdict.ACCEPTS_INVALID),
        *(Verdict.WRONG_SHAPE, Verdict.WRONG_DTYPE, Verdict.WRONG_VALUE),
    }
)
"""Verdicts that a script shows without an exception: if it raises, it is broken."""


def write_folder(
    folder: Path,
    files: Sequence[str],
    case: AnyCase,
    record: Record,
    ran: Callable[[], ScriptRun],
    cure: Mapping[str, str],
) -> None:
    """Write ``files`` and ``cure``, texts by name, if the script exited as it should.

    ``ran`` is the result of its run, as ``script_of`` gives or raises it. A cure of an earlier
    export goes.

    Raises:
        CaseError: the script exited otherwise, and is left beside the folder; or there is no room.
    """
    # As "." it has no name.
    folder = folder.absolute()
    unfinished = folder.with_name(f"{folder.name}{UNFINISHED}")
    try:
        unfinished.mkdir(parents=True, exist_ok=True)
        write(case, unfinished / CASE)
        for file, text in {**rendered(case, record), **cure}.items():
            (unfinished / file).write_text(text)
        (unfinished / FINDING).write_bytes(record_text(record))
        check_script(unfinished / SCRIPT, record, ran())
        folder.mkdir(parents=True, exist_ok=True)
        # finding.json last: an export that has it is complete.
        for file in sorted((*files, *cure), key=lambda file: file == FINDING):
            (unfinished / file).replace(folder / file)
        for file in CURED:
            if file not in cure:
                (folder / file).unlink(missing_ok=True)
        shutil.rmtree(unfinished)
    except OSError as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise CaseError(f"cannot write to {folder}: {error.strerror}") from error


def script_of(case: AnyCase, record: Record, name: str, package: Path | None = None) -> ScriptRun:
    """Run the script of ``case`` in a new process with the release ``name``, outside this project.

    It imports the TVM in the folder ``package``, if there is one, in place of the installed TVM.

    Raises:
        CaseError: it did not end in time, there is no room for it, or no script can show the
            outcome.
    """
    text = rendered(case, record)[SCRIPT]
    try:
        with tempfile.TemporaryDirectory(prefix="relaxcheck-") as folder:
            script = Path(folder, SCRIPT)
            script.write_text(text)
            return run_script(script, release(name, alone=True), record.seconds, package)
    except OSError as error:
        where = tempfile.gettempdir()
        raise CaseError(f"cannot run a script in {where}: {error.strerror}") from error


def check_script(script: Path, record: Record, ended: ScriptRun) -> None:
    """Compare the end of ``script`` with the verdict that it shows.

    Raises:
        CaseError: its exit code contradicts ``record``, or it raised where it should show a value.
    """
    assert record.outcome is not None
    verdict = record.outcome.verdict
    wanted = exit_code(verdict)
    if ended.code != wanted:
        raise CaseError(f"{script} exited with {ended.code}, not with {wanted}: {ended.output}")
    if verdict in _SHOWN and ended.raised:
        raise CaseError(f"{script} raised instead of showing {verdict}: {ended.output}")
