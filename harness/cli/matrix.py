"""``relaxcheck matrix``."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from generators.program import CaseError
from harness import matrix as running
from harness.cli.terminal import EXIT_CODES, console, one_line_errors
from harness.jobs import Limits
from harness.outcome import Verdict
from harness.releases import known
from reports import release_matrix
from reports.html.releases import COMMITTED

EPILOG = f"""Examples:

  relaxcheck matrix

  relaxcheck matrix --scripts --workers 2

  relaxcheck matrix runs/FOLDER --tvm 0.26 --tvm 0.27 --out .

Exit code 1: a verdict is not as declared, or what nothing is declared of fails with the fixes on,
or a script does not exit as its case ends; 2: no release could run; 3: relaxcheck itself failed on
a case, which is named.

{EXIT_CODES}"""


def matrix(
    cases: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Case files, folders of them, entries of the corpus, campaigns, of which the "
            "findings are taken (default: the whole corpus and every declared gap)."
        ),
    ] = None,
    tvm: Annotated[
        list[str] | None,
        typer.Option(metavar="RELEASE", help="Only this release; may be given again."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where the page and its data are written (default: reports/matrix where "
            "everything ran on every release, and nowhere otherwise)."
        ),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Worker processes.")] = 1,
    case_seconds: Annotated[float, typer.Option(min=0.1, help="Deadline of one case.")] = 60,
    scripts: Annotated[
        bool,
        typer.Option(
            "--scripts",
            help="Run the repro.py of each entry on each release as well, and hold what it exits "
            "with against the verdict.",
        ),
    ] = False,
) -> None:
    """Run cases on every installed TVM release, with the fixes off and on."""
    with one_line_errors():
        screen = console()
        wanted = running.subjects(cases or ())
        limits = Limits(seconds=case_seconds)
        with shown(screen) as show:
            found = running.run(wanted, tvm or known(), workers, limits, show)
            if scripts:
                found = running.with_scripts(found, wanted, workers, show)
        screen.print(release_matrix.table(found))
        for line in release_matrix.lines(found):
            screen.print(line, highlight=False, markup=False, soft_wrap=True)
        for name, where, cell in _faults(found):
            said = f"a fault of relaxcheck itself: {name} on {where}: {cell.message}"
            screen.print(said, highlight=False, markup=False, soft_wrap=True)
        complete = not any(column.missing for column in found.columns)
        if out is None and not cases and not tvm and complete:
            out = COMMITTED
        if out is not None:
            try:
                page = release_matrix.write(found, out)
            except OSError as error:
                raise CaseError(f"cannot write to {out}: {error.strerror}") from error
            screen.print(f"Written to {page}", highlight=False, soft_wrap=True)
        raise typer.Exit(_exit_code(found))


def _exit_code(found: running.Matrix) -> int:
    if any(_faults(found)):
        return 3
    if all(column.missing for column in found.columns):
        return 2
    return int(bool(release_matrix.surprises(found) or release_matrix.disagreeing(found)))


def _faults(found: running.Matrix) -> Iterator[tuple[str, str, running.Cell]]:
    """The cells in which relaxcheck itself failed: the row's name, release and side, the cell."""
    for row in found.rows:
        for name, sides in row.cells.items():
            for side, cell in sides.items():
                if cell.verdict is Verdict.HARNESS_ERROR and cell.surprises:
                    yield row.name, f"{name}, fixes {side}", cell


@contextmanager
def shown(screen: Console) -> Iterator[running.Progress]:
    """A bar for each release; where there is no terminal, a line when it is done."""
    if not screen.is_terminal:

        def say(release: str, done: int, total: int) -> None:
            if done == total:
                screen.print(f"TVM {release}: {total} runs", highlight=False)

        yield say
        return
    columns = (TextColumn("TVM {task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=screen, transient=True) as progress:
        bars = {}

        def move(release: str, done: int, total: int) -> None:
            if release not in bars:
                bars[release] = progress.add_task(release, total=total)
            progress.update(bars[release], completed=done)

        yield move
