"""``relaxcheck algebra kernels``: compiles what the analyzer gets wrong."""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from relaxcheck.cli.exit_codes import FAULT, INTERRUPTED
from relaxcheck.cli.terminal import check_writable, console
from relaxcheck.generators.core.case import CaseError, write
from relaxcheck.generators.expressions.cases import ExpressionCase
from relaxcheck.harness.expressions.end_to_end import PLACES, Compiled, compile_all, of_the_analyzer
from relaxcheck.harness.journal.journal import Journal, Mode
from relaxcheck.harness.known.known import findings_in
from relaxcheck.harness.outcomes.differential import described_on
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.releases.releases import is_alone, own, release
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.harness.workers.pool import Pool

_COLUMNS = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
_LOT = 8
"""Findings that are compiled between two updates of the progress bar."""
_MESSAGE = 160
_SHORT = {
    Verdict.WRONG_VALUE: "wrong",
    Verdict.OPAQUE_CRASH: "raises",
    Verdict.PROCESS_DEATH: "dies",
}


def kernels(
    campaign: Path,
    tvm: str | None,
    out: Path | None,
    *,
    workers: int | None,
    case_seconds: float,
) -> int:
    """Compile the findings of ``campaign``, and print which fail; the exit code.

    Raises:
        CaseError: the campaign has no such finding, or a case cannot be written.
        JournalError: there is no campaign.
        PoolError: the workers cannot start.
    """
    if out is not None:
        check_writable(out)
    subjects, on = _findings(campaign)
    screen = console()
    size = workers or len(os.sched_getaffinity(0))
    with Pool(size, Limits(seconds=case_seconds), release=release(tvm or on)) as pool:
        ended = compiled(pool, subjects, screen)
        version = pool.environment["apache-tvm"]
    _tell(screen, ended, len(subjects), version)
    failed = [case for subject in ended for case, _ in subject.failed.values()]
    if out is not None and failed:
        write_cases(out, ((case.identifier, case) for case in failed))
        screen.print(f"Case files are in {out}", highlight=False, soft_wrap=True)
    return exit_code(ended, len(subjects))


def compiled_on(description: Mapping[str, str]) -> str:
    """The newest release that a campaign ran on; TIRx alone compiles nothing, so then this one."""
    on = described_on("", description).get("release", own().name)
    return own().name if is_alone(on) else on


def exit_code(ended: Sequence[Compiled], count: int) -> int:
    """The exit code after compiling ``ended`` of ``count`` findings."""
    if len(ended) < count:
        return INTERRUPTED
    outcomes = (outcome for subject in ended for _, outcome in subject.failed.values())
    return FAULT if any(each.verdict is Verdict.HARNESS_ERROR for each in outcomes) else 0


def compiled(pool: Pool, subjects: Sequence[Compiled], screen: Console) -> list[Compiled]:
    """Those of ``subjects`` that were compiled before Ctrl-C."""
    ended: list[Compiled] = []
    with (
        suppress(KeyboardInterrupt),
        Progress(
            *_COLUMNS, console=screen, transient=True, disable=not screen.is_terminal
        ) as progress,
    ):
        bar = progress.add_task("Compiling", total=len(subjects))
        while len(ended) < len(subjects):
            lot = subjects[len(ended) : len(ended) + _LOT]
            compile_all(pool, lot)
            ended += lot
            progress.update(bar, completed=len(ended))
    return ended


def _findings(campaign: Path) -> tuple[list[Compiled], str]:
    """The findings of ``campaign`` about the analyzer, and the newest release that it ran on.

    Raises:
        CaseError: there is no such finding.
        JournalError: there is no campaign.
    """
    with Journal(campaign, Mode.READ) as journal:
        subjects = of_the_analyzer(findings_in(journal))
        on = compiled_on(journal.description)
    if not subjects:
        raise CaseError(
            f"{campaign} has no finding about the analyzer: relaxcheck fuzz algebra looks for them"
        )
    return subjects, on


def _tell(screen: Console, subjects: Sequence[Compiled], count: int, version: str) -> None:
    failing = [subject for subject in subjects if subject.failed]
    table = Table(title=f"Wrong answers of the analyzer, compiled by apache-tvm {version}")
    table.add_column("expression and failing check", overflow="fold")
    for place in PLACES:
        table.add_column(place, no_wrap=True)
    for subject in failing:
        fixed = ", fixes on" * subject.case.fixes
        asked = Text(f"{subject.case.subject}\n{subject.finding.operator}{fixed}", overflow="fold")
        table.add_row(asked, *(_cell(subject, place) for place in PLACES))
    if failing:
        screen.print(table)
    for subject in failing:
        for case, outcome in subject.failed.values():
            message = headline(outcome.message)[:_MESSAGE]
            line = (
                f"{case.identifier}  {case.position}: {case.subject}: {outcome.verdict}: {message}"
            )
            screen.print(line, markup=False, highlight=False, soft_wrap=True)
    wrong = [subject for subject in subjects if subject.finding.verdict is Verdict.WRONG_VALUE]
    computed = sum(_is_wrong(subject) for subject in wrong)
    otherwise = sum(not _is_wrong(subject) for subject in failing)
    screen.print(
        f"Compiled {len(subjects)} of {count} findings about the analyzer, {len(wrong)} of them "
        f"wrong answers. Compiled code is wrong for {computed} of these, and fails in another way "
        f"for {otherwise} of all findings",
        highlight=False,
        soft_wrap=True,
    )


def _is_wrong(subject: Compiled) -> bool:
    return any(outcome.verdict is Verdict.WRONG_VALUE for _, outcome in subject.failed.values())


def _cell(subject: Compiled, place: str) -> Text:
    if place in subject.failed:
        verdict = subject.failed[place][1].verdict
        return Text(_SHORT.get(verdict, str(verdict)), "red")
    return Text("right", "green") if place in subject.right else Text("-", "dim")


def write_cases(folder: Path, cases: Iterable[tuple[str, ExpressionCase]]) -> None:
    """Write each case to ``folder`` under its name. Raises ``CaseError``: it cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, case in cases:
            write(case, folder / f"{name}.json")
    except OSError as error:
        raise CaseError(f"cannot write to {folder}: {error.strerror}") from error
