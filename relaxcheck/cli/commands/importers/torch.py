"""``relaxcheck torch``: its options."""

from pathlib import Path
from typing import Annotated

import typer

from relaxcheck.cli.exit_codes import EXIT_CODES
from relaxcheck.cli.options import MOST_WORKERS, CaseSeconds, ReleasesToRun, ResultFormat
from relaxcheck.cli.terminal import RUNS, one_line_errors

EPILOG = f"""Exit code 1: with the fixes some program fails, or fewer of a row pass, than without.

Examples:

  relaxcheck torch table

  relaxcheck torch table cumsum.default BatchNorm1d

  relaxcheck torch table --tvm all --docs       # rewrites docs/torch.md

  relaxcheck torch regressions --samples 1

  relaxcheck torch regressions nn.functional.gelu Linear --tvm 0.25

  relaxcheck torch regressions --out today --known yesterday

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


@app.command("regressions", epilog=EPILOG)
def regressions(
    entries: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ENTRY]...",
            help="Only these entries of OpInfo and ModuleInfo (relaxcheck families lists them).",
        ),
    ] = None,
    samples: Annotated[
        int, typer.Option(min=1, max=1000, help="Samples of each entry, the simplest first.")
    ] = 2,
    tvm: ReleasesToRun = None,
    form: Annotated[
        ResultFormat,
        typer.Option("--format", help="For a person, or all outcomes in JSON."),
    ] = ResultFormat.TEXT,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Write the case of each regression to DIR/RELEASE, for replay."
        ),
    ] = None,
    known: Annotated[
        Path | None,
        typer.Option(
            "--known",
            metavar="DIR",
            help="The --out of an earlier run: only regressions that are not in it give exit code "
            "1.",
        ),
    ] = None,
    kept: Annotated[
        Path, typer.Option("--kept", help="The file of runs that ended, which do not run again.")
    ] = RUNS / "torch-regressions.jsonl",
    anew: Annotated[bool, typer.Option("--anew", help="Delete that file first.")] = False,
    workers: Annotated[int, typer.Option(min=1, max=MOST_WORKERS, help="Worker processes.")] = 1,
    case_seconds: CaseSeconds = 60,
) -> None:
    """Name the samples of PyTorch's that pass without the fixes, and fail with them.

    Each sample of each entry of OpInfo and ModuleInfo is imported decomposed, undecomposed, by
    from_fx and by relax_dynamo, with the fixes off and on. What regresses runs once more, alone.
    All entries take a quarter of an hour for each release. A run that was interrupted goes on where
    it was when it is started again, unless relaxcheck itself has changed.
    """
    with one_line_errors():
        from relaxcheck.cli.actions.importers import regressions as action

        code = action.regressions(
            action.Request(
                tuple(entries or ()),
                samples,
                tvm,
                out,
                known,
                kept,
                anew,
                workers,
                case_seconds,
            ),
            form,
        )
    raise typer.Exit(code)
