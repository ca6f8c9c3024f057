"""``relaxcheck passes``: its options."""

from pathlib import Path
from typing import Annotated

import typer

from relaxcheck.cli.exit_codes import EXIT_CODES
from relaxcheck.cli.options import ResultFormat
from relaxcheck.cli.terminal import one_line_errors

EPILOG = f"""Examples:

  relaxcheck fuzz pass --minutes 30, then relaxcheck passes

  relaxcheck fuzz pass-FuseOps passes --tvm all --cases 500 --out runs/fuse

  relaxcheck passes runs/fuse runs/MONDAY --format json

{EXIT_CODES}"""

app = typer.Typer(add_completion=False)


@app.command(epilog=EPILOG)
def passes(
    campaigns: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="CAMPAIGN",
            help="Folders of campaigns, which count together (default: the newest in runs/).",
        ),
    ] = None,
    form: Annotated[
        ResultFormat, typer.Option("--format", help="For a person, or rows of JSON.")
    ] = ResultFormat.TEXT,
    docs: Annotated[
        bool, typer.Option("--docs", help="Write docs/passes.md in this checkout instead.")
    ] = False,
) -> None:
    """List every pass: how many programs it was applied to, changed, and failed on.

    A failure that the same program has without any pass is not the pass's, and is counted apart.
    A pass that changes no program needs fragments in which it finds something to do.
    """
    with one_line_errors():
        from relaxcheck.cli.actions import passes as action

        action.passes(campaigns or [], form, docs=docs)
