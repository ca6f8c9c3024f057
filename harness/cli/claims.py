"""``relaxcheck claims``."""

from pathlib import Path
from typing import Annotated

import typer

from generators.program import CaseError
from harness import claims as running
from harness.cli.matrix import shown
from harness.cli.terminal import EXIT_CODES, console, one_line_errors
from harness.jobs import Limits
from harness.outcome import Verdict
from harness.releases import CHECKOUT, known
from reports import claims_page

PAGE = CHECKOUT / "docs" / "claims.md"

EPILOG = f"""Examples:

  relaxcheck claims

  relaxcheck claims --tvm 0.27 --out /tmp/claims.md

Exit code 1: a verdict is not as declared, or none is of a check; 2: no release could run; 3:
relaxcheck itself failed on a case or a check, which is named.

{EXIT_CODES}"""


def claims(
    tvm: Annotated[
        list[str] | None,
        typer.Option(metavar="RELEASE", help="Only this release; may be given again."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The page that is written (default: docs/claims.md where everything ran on every "
            "release, and none otherwise)."
        ),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Worker processes.")] = 1,
    case_seconds: Annotated[float, typer.Option(min=0.1, help="Deadline of a case.")] = 60,
) -> None:
    """Hold what a report said of dynamic shapes against every installed TVM release."""
    with one_line_errors():
        screen = console()
        wanted = running.read()
        with shown(screen) as show:
            limits = Limits(seconds=case_seconds)
            found = running.run(wanted, tvm or known(), workers, limits, show)
        for column in found.columns:
            if column.missing:
                screen.print(f"{column.release}: {column.missing}", highlight=False)
        surprises = claims_page.surprises(found)
        for line in surprises:
            screen.print(line, highlight=False, markup=False, soft_wrap=True)
        complete = not any(column.missing for column in found.columns)
        page = PAGE if out is None and not tvm and complete else out
        if page is not None:
            try:
                page.write_text(claims_page.markdown(found))
            except OSError as error:
                raise CaseError(f"cannot write to {page}: {error.strerror}") from error
            screen.print(f"Written to {page}", highlight=False, soft_wrap=True)
        raise typer.Exit(_exit_code(found, bool(surprises)))


def _exit_code(found: running.Answers, surprising: bool) -> int:
    cells = (
        cell
        for answer in found.answers
        for line in answer.lines
        for sides in line.cells.values()
        for cell in sides.values()
    )
    if any(cell.verdict is Verdict.HARNESS_ERROR for cell in cells):
        return 3
    if all(column.missing for column in found.columns):
        return 2
    return int(surprising)
