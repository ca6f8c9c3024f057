"""``relaxcheck reduce``: its options."""

from pathlib import Path
from typing import Annotated

import typer

from relaxcheck.cli.options import (
    MOST,
    MOST_MINUTES,
    CampaignFolder,
    CaseName,
    CaseSeconds,
    FixesSwitch,
    PipelineName,
    Release,
    TargetName,
    Workers,
    number,
)
from relaxcheck.cli.terminal import console, one_line_errors

EPILOG = """Examples:

  relaxcheck reduce case.json --out smaller.json

  relaxcheck reduce ID --fixes on --minutes 30

  relaxcheck reduce case.json --predicate './still-fails.sh'

Exit codes: 0 reduced; 1 the result did not fail again in a new process; 2 bad input, nothing fails,
the workers cannot start, or the result had to be written elsewhere; 130 interrupted. Once begun,
the simplest case so far is always written."""

app = typer.Typer(add_completion=False)


@app.command(epilog=EPILOG)
def reduce(
    case: CaseName,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the result here (default: reduced-ID.json)."),
    ] = None,
    predicate: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Keep what makes COMMAND exit with 0. The case's file replaces {}, or is its last "
            "argument. Default: keep the same kind of failure.",
        ),
    ] = None,
    fixes: FixesSwitch = None,
    tvm: Release = None,
    target: TargetName = None,
    pipeline: PipelineName = None,
    directory: CampaignFolder = None,
    tries: Annotated[
        int, typer.Option(min=1, max=MOST, help="Stop after so many candidates.")
    ] = 1000,
    minutes: Annotated[
        float, typer.Option(min=0.01, max=MOST_MINUTES, callback=number, help="Stop after so long.")
    ] = 10,
    workers: Workers = None,
    case_seconds: CaseSeconds = 60,
) -> None:
    """Make a failing case smaller while it fails in the same way.

    Tries fewer nodes, outputs, bindings and attributes; plainer pipelines, layouts and dtypes;
    static dimensions, smaller sizes and simpler values; until no step keeps the failure. A
    candidate counts only if the reference accepts it as valid. The result does not depend on the
    number of workers, and is run again in a new process. Ctrl-C writes the simplest case so far.
    """
    with one_line_errors():
        from relaxcheck.cli.actions import reduce as action

        request = action.request(
            case,
            directory,
            out,
            predicate=predicate,
            fixes=fixes,
            tvm=tvm,
            target=target,
            pipeline=pipeline,
            tries=tries,
            minutes=minutes,
            workers=workers,
            case_seconds=case_seconds,
        )
        raise typer.Exit(action.run(request, console()))
