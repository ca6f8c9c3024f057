"""``relaxcheck claims``: its options."""

from pathlib import Path
from typing import Annotated

import typer

from relaxcheck.cli.exit_codes import EXIT_CODES
from relaxcheck.cli.options import MOST_WORKERS, CaseSeconds, Releases
from relaxcheck.cli.terminal import one_line_errors

EPILOG = f"""Examples:

  relaxcheck claims

  relaxcheck claims --tvm 0.27 --out /tmp/claims.md

Exit code 1: a verdict differs from the declared one, or a check has no declared one; 2: no release
could run; 3: relaxcheck itself failed on a case or a check, which is named.

{EXIT_CODES}"""

app = typer.Typer(add_completion=False)


@app.command(epilog=EPILOG)
def claims(
    tvm: Releases = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the page here (default: docs/claims.md if everything ran on every release; "
            "else nowhere).",
        ),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, max=MOST_WORKERS, help="Worker processes.")] = 1,
    case_seconds: CaseSeconds = 60,
) -> None:
    """Check claims about dynamic shapes on every installed TVM release."""
    with one_line_errors():
        from relaxcheck.cli.actions import claims as action

        code = action.claims(tvm, out, workers=workers, case_seconds=case_seconds)
    raise typer.Exit(code)
