"""``relaxcheck algebra kernels``."""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from generators.expression_cases import Member
from generators.program import CaseError, write
from harness.cli.terminal import EXIT_CODES, check_writable, console, one_line_errors
from harness.differential import described_on
from harness.end_to_end import PLACES, Compiled, compile_all, of_the_analyzer
from harness.errors import headline
from harness.jobs import Limits
from harness.journal import Journal, Mode
from harness.known import findings_in
from harness.outcome import Verdict
from harness.pool import Pool
from harness.releases import own, release

EPILOG = f"""Examples:

  relaxcheck algebra kernels runs/FOLDER

  relaxcheck algebra kernels runs/FOLDER --tvm 0.26 --out kernels

  relaxcheck export kernels/ID.json

What the analyzer gets wrong need not reach a kernel. Each smallest expression is compiled in every
place where one can stand, with its ranges as they are and with wider ones; what fails runs again in
a fresh process. It may fail for another cause than the analyzer's: each line says what comes of it.
"right": it was compiled and computes what it should; "-": there is no room for it.

{EXIT_CODES}"""

_COLUMNS = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
_LOT = 8
"""Findings whose kernels are compiled between two looks at how far it is."""
_INTERRUPTED = 130
_MESSAGE = 160
_SHORT = {
    Verdict.WRONG_VALUE: "wrong",
    Verdict.OPAQUE_CRASH: "raises",
    Verdict.PROCESS_DEATH: "dies",
}


Campaign = Annotated[Path, typer.Argument(metavar="CAMPAIGN", help="A campaign's folder.")]
CompiledOn = Annotated[
    str | None,
    typer.Option(
        metavar="RELEASE",
        help="Compile on this TVM release (default: the newest that the campaign ran on).",
    ),
]
Workers = Annotated[int | None, typer.Option(min=1, help="Worker processes (default: one a core).")]


def kernels(
    campaign: Campaign,
    tvm: CompiledOn = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write a case file for each kernel that fails."),
    ] = None,
    workers: Workers = None,
    case_seconds: Annotated[float, typer.Option(min=0.1, help="Deadline of each case.")] = 60,
) -> None:
    """Compile what a campaign found wrong in TVM's analyzer: which of it makes a kernel wrong?"""
    with one_line_errors():
        if out is not None:
            check_writable(out)
        found, on = _findings(campaign)
        screen = console()
        size = workers or len(os.sched_getaffinity(0))
        with Pool(size, Limits(seconds=case_seconds), release=release(tvm or on)) as pool:
            ended = compiled(pool, found, screen)
            version = pool.environment["apache-tvm"]
        _tell(screen, ended, len(found), version)
        failed = [case for one in ended for case, _ in one.failed.values()]
        if out is not None and failed:
            write_cases(out, ((case.identifier, case) for case in failed))
            screen.print(f"Case files are in {out}", highlight=False, soft_wrap=True)
    raise typer.Exit(exit_code(ended, len(found)))


def exit_code(ended: Sequence[Compiled], count: int) -> int:
    """What a command ends with that compiled ``ended`` of ``count``: interrupted, ours, or 0."""
    if len(ended) < count:
        return _INTERRUPTED
    outcomes = (outcome for one in ended for _, outcome in one.failed.values())
    return 3 if any(one.verdict is Verdict.HARNESS_ERROR for one in outcomes) else 0


def compiled(pool: Pool, found: Sequence[Compiled], screen: Console) -> list[Compiled]:
    """Those of ``found`` that were compiled before the user had enough."""
    ended: list[Compiled] = []
    with (
        suppress(KeyboardInterrupt),
        Progress(
            *_COLUMNS, console=screen, transient=True, disable=not screen.is_terminal
        ) as progress,
    ):
        bar = progress.add_task("Compiling", total=len(found))
        while len(ended) < len(found):
            lot = found[len(ended) : len(ended) + _LOT]
            compile_all(pool, lot)
            ended += lot
            progress.update(bar, completed=len(ended))
    return ended


def _findings(campaign: Path) -> tuple[list[Compiled], str]:
    """What ``campaign`` found about the analyzer, and the newest release that it ran on.

    Raises:
        CaseError: nothing.
        JournalError: there is no campaign.
    """
    with Journal(campaign, Mode.READ) as journal:
        found = of_the_analyzer(findings_in(journal))
        on = described_on("", journal.description).get("release", own().name)
    if not found:
        raise CaseError(
            f"{campaign} has no finding about the analyzer: relaxcheck fuzz algebra looks for them"
        )
    return found, on


def _tell(screen: Console, found: Sequence[Compiled], count: int, version: str) -> None:
    failing = [one for one in found if one.failed]
    table = Table(title=f"What the analyzer gets wrong, compiled by apache-tvm {version}")
    table.add_column("what the analyzer is asked about, and what fails", overflow="fold")
    for place in PLACES:
        table.add_column(place, no_wrap=True)
    for one in failing:
        fixed = ", fixes on" * one.case.fixes
        asked = Text(f"{one.case.subject}\n{one.finding.operator}{fixed}", overflow="fold")
        table.add_row(asked, *(_cell(one, place) for place in PLACES))
    if failing:
        screen.print(table)
    for one in failing:
        for case, outcome in one.failed.values():
            said = headline(outcome.message)[:_MESSAGE]
            line = f"{case.identifier}  {case.position}: {case.subject}: {outcome.verdict}: {said}"
            screen.print(line, markup=False, highlight=False, soft_wrap=True)
    wrong = [one for one in found if one.finding.verdict is Verdict.WRONG_VALUE]
    computed = sum(_is_wrong(one) for one in wrong)
    otherwise = sum(not _is_wrong(one) for one in failing)
    screen.print(
        f"{len(found)} of {count} findings about the analyzer compiled, of which {len(wrong)} are "
        f"wrong answers. Compiled code is wrong for {computed} of these, and fails otherwise for "
        f"{otherwise} of all",
        highlight=False,
        soft_wrap=True,
    )


def _is_wrong(one: Compiled) -> bool:
    return any(outcome.verdict is Verdict.WRONG_VALUE for _, outcome in one.failed.values())


def _cell(one: Compiled, place: str) -> Text:
    if place in one.failed:
        verdict = one.failed[place][1].verdict
        return Text(_SHORT.get(verdict, str(verdict)), "red")
    return Text("right", "green") if place in one.right else Text("-", "dim")


def write_cases(folder: Path, cases: Iterable[tuple[str, Member]]) -> None:
    """Write each case to ``folder`` under its name. Raises ``CaseError``: it cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, case in cases:
            write(case, folder / f"{name}.json")
    except OSError as error:
        raise CaseError(f"cannot write to {folder}: {error.strerror}") from error
