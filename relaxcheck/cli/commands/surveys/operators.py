"""``relaxcheck operators``: its options."""

from typing import Annotated

import typer

from relaxcheck.cli.exit_codes import EXIT_CODES
from relaxcheck.cli.options import Release, ResultFormat
from relaxcheck.cli.terminal import one_line_errors

EPILOG = f"""Examples:

  relaxcheck operators

  relaxcheck operators --tvm 0.26 --format json

{EXIT_CODES}"""

app = typer.Typer(add_completion=False)


@app.command(epilog=EPILOG)
def operators(
    tvm: Release = None,
    form: Annotated[
        ResultFormat, typer.Option("--format", help="For a person, or rows of JSON.")
    ] = ResultFormat.TEXT,
    docs: Annotated[
        bool,
        typer.Option(
            "--docs",
            help="Write docs/operators.md, and the table of the report, in this checkout instead.",
        ),
    ] = False,
) -> None:
    """List every operator that TVM registers: its record, or the reason for which it has none.

    A row says how TVM lowers the operator, the oracles that judge it, known failures, fixes, and
    how its cases ended in the newest campaign of runs/.
    """
    with one_line_errors():
        from relaxcheck.cli.actions import operators as action

        action.operators(tvm, form, docs=docs)
