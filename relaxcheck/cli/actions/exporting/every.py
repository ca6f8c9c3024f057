"""``relaxcheck export --all``: every cause of a campaign, or each new entry of a corpus."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from relaxcheck.cli.actions.exporting.running import FaultError
from relaxcheck.cli.actions.exporting.single import Wanted, complete, exported
from relaxcheck.cli.actions.exporting.workers import Say, Workers
from relaxcheck.cli.exit_codes import FAULT, INTERRUPTED
from relaxcheck.cli.lookup import RecordedCase
from relaxcheck.cli.terminal import called_as, newest_campaign
from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.journal.journal import FILE_NAME, Journal, Mode
from relaxcheck.harness.kinds import read
from relaxcheck.harness.known.corpus import (
    CASE,
    EXPORTED,
    EXPORTS,
    FILES,
    entries,
    read_record,
)
from relaxcheck.harness.known.known import findings_in
from relaxcheck.harness.outcomes.differential import described_on
from relaxcheck.harness.triage.causes import Cause, by_cause
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.workers.jobs import Limits, limits_of
from relaxcheck.harness.workers.starting import PoolError
from relaxcheck.reports.issue.titles import Titles
from relaxcheck.reports.kinds import rendering
from relaxcheck.reports.rendering import SHAPES, STATIC


@dataclass(frozen=True, slots=True)
class All:
    """The exports of ``directory``, into folders in ``out``.

    ``silent`` findings say nothing about TVM (oracles that differ, say) and are not exported. Nor
    are ``covered`` ones: another finding of their cause is, and a cause is the subject of one
    issue.
    """

    directory: Path
    out: Path
    wanted: tuple[Wanted, ...]
    silent: tuple[Finding, ...] = ()
    covered: tuple[Finding, ...] = ()


def everything(directory: Path | None, out: Path | None, seconds: float) -> All:
    """All causes of ``directory``, or of the newest campaign; ``seconds`` to reduce each.

    Raises:
        CaseError: there is no campaign, or the corpus is malformed.
        JournalError: it holds no campaign, or cannot be read.
    """
    if directory is None:
        directory = newest_campaign()
    if not (directory / FILE_NAME).is_file() and (chosen := entries(directory)):
        wanted = (
            Wanted(
                entry.name,
                RecordedCase(entry.case, entry=entry.name, expected=entry.expected),
                entry.folder if out is None else out / entry.case.family / entry.name,
                FILES if out is None else EXPORTED,
            )
            for entry in chosen
        )
        return All(directory, out or directory, tuple(wanted))
    target = out or directory / EXPORTS
    with Journal(directory, Mode.READ) as journal:
        environment = journal.description
        causes = by_cause(tuple(findings_in(journal)))
    # The worst first: an export that is interrupted has them.
    telling = [cause for cause in causes if cause.lead.verdict.is_failure]
    return All(
        directory,
        target,
        tuple(of_cause(cause, target, environment, seconds) for cause in telling),
        tuple(cause.lead for cause in causes if cause not in telling),
        tuple(finding for cause in telling for finding in cause.findings[1:]),
    )


def of_cause(cause: Cause, target: Path, environment: Mapping[str, str], seconds: float) -> Wanted:
    """The export of the finding that stands for ``cause``."""
    lead = cause.lead
    own, *others = (operators.split(" + ") for operators in cause.operators)
    siblings = dict.fromkeys(name for names in others for name in names if name not in own)
    recorded = RecordedCase(
        lead.case,
        lead.outcome,
        lead,
        described_on(lead.outcome.release, environment),
        siblings=tuple(siblings),
        symbolic=tuple(name for name in siblings if name in _symbolic(cause)),
    )
    folder = target / lead.case.family / lead.case.identifier
    return Wanted(lead.case.identifier, recorded, folder, seconds=seconds)


def _symbolic(cause: Cause) -> set[str]:
    """The operators that were seen to fail with symbolic dimensions alone."""
    static: set[str] = set()
    symbolic: set[str] = set()
    for finding in cause.findings:
        shapes = rendering(finding.case).cells(finding.case).get(SHAPES)
        (static if shapes == STATIC else symbolic).update(finding.operator.split(" + "))
    return symbolic - static


def export_all(exports: All, case_seconds: float | None, console: Console) -> int:
    """Export all of ``exports`` that is not complete; the exit code. Raises ``CaseError``."""

    def tell(line: str) -> None:
        console.print(line, markup=False, highlight=False, soft_wrap=True)

    left = [export for export in exports.wanted if not complete(export)]
    before = len(exports.wanted) - len(left)
    tell(f"{exports.directory}: {len(left)} to export to {exports.out}, {before} exported before")
    for silent in exports.silent:
        tell(f"not exported: {silent.case.identifier[:8]}: {silent.verdict} says nothing about TVM")
    if exports.covered:
        names = ", ".join(finding.case.identifier[:8] for finding in exports.covered)
        tell(f"not exported, since another finding of their cause is: {names}; export ID does it")
    titles = _written(exports)
    failed = faults = 0
    seconds = Limits().seconds if case_seconds is None else case_seconds
    try:
        with Workers(Limits(seconds=seconds)) as workers:
            for number, export in enumerate(left, 1):
                begun = f"{number}/{len(left)} {export.folder.parent.name} {export.name}"
                try:
                    _check_deadline(export.recorded, seconds, exports.directory)
                    with telling(console, begun) as say:
                        record = exported(export, workers, say, titles)
                    tell(f"{begun}: {record.title}")
                except (CaseError, PoolError) as error:
                    failed += 1
                    faults += isinstance(error, FaultError)
                    tell(f"{begun}: NOT exported: {error}")
    except KeyboardInterrupt:
        tell(f"Interrupted; finished exports are kept. To continue: {_command(exports)}")
        return INTERRUPTED
    tell(f"Written to {exports.out}: {len(exports.wanted) - failed} of {len(exports.wanted)}")
    return FAULT if faults else int(failed > 0)


def _written(exports: All) -> Titles:
    """The titles of the exports that are there already. Raises ``CaseError``."""
    titles = Titles()
    for wanted in exports.wanted:
        if wanted.recorded.expected is None and complete(wanted):
            record = read_record(wanted.folder)
            assert record.outcome is not None
            titles.add(record.title, read(wanted.folder / CASE), record.outcome)
    return titles


def _command(exports: All) -> str:
    return f"{called_as()} export --all --dir {exports.directory} --out {exports.out}"


def _check_deadline(failure: RecordedCase, seconds: float, directory: Path) -> None:
    """Raise ``CaseError`` for a timeout that was recorded with another deadline."""
    if failure.outcome is None:
        return
    recorded = limits_of(failure.outcome, Limits(seconds=seconds)).seconds
    if recorded != seconds:
        raise CaseError(
            f"recorded as past a deadline of {recorded:g} s; to export it, give "
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
