"""``relaxcheck export --all``: every finding of a campaign, or every new entry of a corpus."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from generators.program import CaseError
from harness.cli.exporting import FaultError, Say, Wanted, Workers, complete, exported
from harness.cli.lookup import Found
from harness.cli.terminal import called_as, newest_campaign
from harness.corpus import EXPORTS, entries
from harness.differential import described_on
from harness.finding import Finding
from harness.jobs import Limits
from harness.journal import FILE_NAME, Journal, Mode
from harness.known import findings_in
from harness.pool import PoolError
from harness.reproduction import limits_of

_INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class All:
    """What is to be exported of ``directory``, into folders in ``out``; ``silent`` findings not.

    Those say nothing about TVM: oracles that differ, say.
    """

    directory: Path
    out: Path
    wanted: tuple[Wanted, ...]
    silent: tuple[Finding, ...] = ()


def everything(directory: Path | None, out: Path | None, seconds: float) -> All:
    """All there is in ``directory``, or in the last campaign; ``seconds`` to reduce one.

    Raises:
        CaseError: there is no campaign, or the corpus is malformed.
        JournalError: it holds no campaign, or cannot be read.
    """
    if directory is None:
        directory = newest_campaign()
    if not (directory / FILE_NAME).is_file() and (chosen := entries(directory)):
        wanted = (
            Wanted(
                one.name,
                Found(one.case, entry=one.name, expected=one.expected),
                one.folder if out is None else out / one.case.family / one.name,
            )
            for one in chosen
        )
        return All(directory, out or directory, tuple(wanted))
    target = out or directory / EXPORTS
    with Journal(directory, Mode.READ) as journal:
        environment = journal.description
        findings = tuple(findings_in(journal))
    return All(
        directory,
        target,
        tuple(
            Wanted(
                one.case.identifier,
                Found(one.case, one.outcome, one, described_on(one.outcome.release, environment)),
                target / one.case.family / one.case.identifier,
                seconds=seconds,
            )
            for one in findings
            if one.verdict.is_failure
        ),
        tuple(one for one in findings if not one.verdict.is_failure),
    )


def export_all(given: All, case_seconds: float | None, console: Console) -> int:
    """Export all of ``given`` that was not before; the exit code. Raises ``CaseError``."""

    def tell(line: str) -> None:
        console.print(line, markup=False, highlight=False, soft_wrap=True)

    left = [one for one in given.wanted if not complete(one.folder)]
    before = len(given.wanted) - len(left)
    tell(f"{given.directory}: {len(left)} to export to {given.out}, {before} exported before")
    for silent in given.silent:
        tell(f"not exported: {silent.case.identifier[:8]}: {silent.verdict} is no fault of TVM's")
    failed = faults = 0
    seconds = Limits().seconds if case_seconds is None else case_seconds
    try:
        with Workers(Limits(seconds=seconds)) as workers:
            for number, one in enumerate(left, 1):
                begun = f"{number}/{len(left)} {one.folder.parent.name} {one.name}"
                try:
                    _check_deadline(one.found, seconds, given.directory)
                    with telling(console, begun) as say:
                        record = exported(one, workers, say)
                    tell(f"{begun}: {record.title}")
                except (CaseError, PoolError) as error:
                    failed += 1
                    faults += isinstance(error, FaultError)
                    tell(f"{begun}: NOT exported: {error}")
    except KeyboardInterrupt:
        tell(f"Interrupted; what was exported is kept. To go on: {_command(given)}")
        return _INTERRUPTED
    tell(f"Written to {given.out}: {len(given.wanted) - failed} of {len(given.wanted)}")
    return 3 if faults else int(failed > 0)


def _command(given: All) -> str:
    return f"{called_as()} export --all --dir {given.directory} --out {given.out}"


def _check_deadline(found: Found, seconds: float, directory: Path) -> None:
    """Raise ``CaseError`` where a timeout was one of another deadline."""
    if found.outcome is None:
        return
    recorded = limits_of(found.outcome, Limits(seconds=seconds)).seconds
    if recorded != seconds:
        raise CaseError(
            f"it was past a deadline of {recorded:g} s; for such ones give "
            f"--dir {directory} --case-seconds {recorded:g}"
        )


@contextmanager
def telling(console: Console, begun: str) -> Iterator[Say]:
    """A live line on a terminal, a line for each step elsewhere."""
    begun = f"{begun}: " if begun else ""
    if console.is_terminal:
        with console.status(begun) as status:
            yield lambda step: status.update(f"{begun}{step} …")
    else:
        yield lambda step: console.print(f"{begun}{step} …", markup=False, highlight=False)
