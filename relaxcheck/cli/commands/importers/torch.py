"""``relaxcheck torch``: its options."""

from typing import Annotated

import typer

from relaxcheck.cli.exit_codes import EXIT_CODES
from relaxcheck.cli.options import MOST_WORKERS, CaseSeconds, ReleasesToRun, ResultFormat
from relaxcheck.cli.terminal import one_line_errors

EPILOG = f"""Exit code 1: of some row fewer programs pass with the fixes than without.

Examples:

  relaxcheck torch table

  relaxcheck torch table cumsum.default BatchNorm1d

  relaxcheck torch table --tvm all --docs       # rewrites docs/torch.md

{EXIT_CODES}"""

app = typer.Typer(add_completion=False)


@app.callback(epilog=EPILOG)
def torch() -> None:
    """Look into TVM's importer of PyTorch programs."""


@app.command("table", epilog=EPILOG)
def table(
    rows: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ROW]...",
            help="Only these overloads (softmax is _softmax.default) and layers.",
        ),
    ] = None,
    tvm: ReleasesToRun = None,
    form: Annotated[
        ResultFormat,
        typer.Option("--format", help="For a person, or the whole table in JSON."),
    ] = ResultFormat.TEXT,
    docs: Annotated[
        bool,
        typer.Option("--docs", help="Write docs/torch.md and docs/torch.json in this checkout."),
    ] = False,
    workers: Annotated[int, typer.Option(min=1, max=MOST_WORKERS, help="Worker processes.")] = 1,
    case_seconds: CaseSeconds = 60,
) -> None:
    """Run samples of each operator of core ATen and each layer through TVM's importer.

    Each program is exported decomposed, undecomposed, and with dynamic dimensions, and runs with
    the fixes off and on. Takes some minutes for the first release, less for the others: exported
    programs are kept.
    """
    with one_line_errors():
        from relaxcheck.cli.actions.importers import torch as action

        code = action.table(
            tuple(rows or ()),
            tvm,
            form,
            docs=docs,
            workers=workers,
            case_seconds=case_seconds,
        )
    raise typer.Exit(code)
