"""``relaxcheck targets``: its options."""

from pathlib import Path
from typing import Annotated

import typer

from relaxcheck.cli.exit_codes import EXIT_CODES
from relaxcheck.cli.options import MOST_WORKERS, CaseSeconds, ReleasesToRun, ResultFormat
from relaxcheck.cli.terminal import RUNS, one_line_errors

EPILOG = f"""Examples:

  relaxcheck targets

  relaxcheck targets nn.conv2d softmax --target opencl,webgpu

  relaxcheck targets --tvm all --docs       # rewrites the tables of docs/targets.md

{EXIT_CODES}"""

app = typer.Typer(add_completion=False)


@app.command(epilog=EPILOG)
def targets(
    operators: Annotated[
        list[str] | None,
        typer.Argument(metavar="OPERATOR", help="Only these, as in nn.softmax or softmax."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target", metavar="TARGET,…", help="Only these targets (default: all but llvm)."
        ),
    ] = None,
    tvm: ReleasesToRun = None,
    form: Annotated[
        ResultFormat, typer.Option("--format", help="For a person, or the whole table in JSON.")
    ] = ResultFormat.TEXT,
    docs: Annotated[
        bool,
        typer.Option(
            "--docs", help="Write docs/targets.md and docs/targets.json in this checkout, too."
        ),
    ] = False,
    kept: Annotated[
        Path, typer.Option("--kept", help="The file of cases that ended, which do not run again.")
    ] = RUNS / "targets.jsonl",
    anew: Annotated[bool, typer.Option("--anew", help="Delete that file first.")] = False,
    workers: Annotated[int, typer.Option(min=1, max=MOST_WORKERS, help="Worker processes.")] = 1,
    case_seconds: CaseSeconds = 60,
) -> None:
    """Build a program of each operator for each target, and run it where that can be done.

    Each operator has a program with constant and one with symbolic sizes. Takes some minutes for
    each target. A run that was interrupted goes on where it was when it is started again.
    """
    with one_line_errors():
        from relaxcheck.cli.actions import targets as action

        action.targets(
            action.Request(tuple(operators or ()), target, tvm, kept, anew, workers, case_seconds),
            form,
            docs=docs,
        )
