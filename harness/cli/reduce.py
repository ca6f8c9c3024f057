"""``relaxcheck reduce``: its options. How the reduction is run is in ``harness.cli.reducing``."""

import os
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from generators.program import CaseError
from harness.cli.lookup import look_up
from harness.cli.reducing import Wanted, run
from harness.cli.terminal import console, one_line_errors
from harness.jobs import Limits
from harness.options import Switch
from harness.reduction.trying import check_command
from harness.releases import own

EPILOG = """Examples:

  relaxcheck reduce case.json --out smaller.json

  relaxcheck reduce ID --fixes on --minutes 30

  relaxcheck reduce case.json --predicate './still-fails.sh'

Exit codes: 0 reduced; 1 the result did not come again in a new process; 2 bad input, there is no
failure to keep, the workers cannot start, or the result had to be written elsewhere; 130
interrupted. Where it was begun, the simplest case so far is written."""


def reduce(
    case: Annotated[str, typer.Argument(help="A case file, a corpus entry, or a case's id.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to write it (default: reduced-ID.json here)."),
    ] = None,
    predicate: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Keep what this command finds interesting, by exit code 0. The candidate's file "
            "takes the place of {}, or is its last argument. Default: the same kind of failure.",
        ),
    ] = None,
    fixes: Annotated[
        Switch | None, typer.Option(help="Override whether the fixes are installed.")
    ] = None,
    tvm: Annotated[
        str | None,
        typer.Option(
            metavar="RELEASE",
            help="The TVM release to run on (default: the one that it was recorded with, or that "
            "of this environment).",
        ),
    ] = None,
    directory: Annotated[
        Path | None, typer.Option("--dir", help="The campaign to look in (default: all in runs/).")
    ] = None,
    tries: Annotated[int, typer.Option(min=1, help="End after so many candidates.")] = 1000,
    minutes: Annotated[float, typer.Option(min=0.01, help="End after so long.")] = 10,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Worker processes (default: one a core).")
    ] = None,
    case_seconds: Annotated[float, typer.Option(min=0.1, help="Deadline of one candidate.")] = 60,
) -> None:
    """Make a failing case simpler, step by step, while it fails in the same way.

    Tried are fewer nodes, outputs, bindings and attributes, plainer pipelines, layouts and dtypes,
    static dimensions, smaller sizes, simpler values, until no further step keeps the failure. A
    candidate only counts if the reference finds it as valid as the case. The result does not depend
    on the number of workers, and is run once more in a new process. Ctrl-C writes the simplest.
    """
    with one_line_errors():
        known = look_up(case, directory)
        found = known.case
        if fixes is not None:
            found = msgspec.structs.replace(found, fixes=fixes is Switch.ON)
        if predicate is not None:
            check_command(predicate)
        target = out or Path(f"reduced-{found.identifier}.json")
        if target.is_dir() or not os.access(target.parent, os.W_OK):
            raise CaseError(f"cannot write to {target}")
        wanted = Wanted(
            case,
            found,
            target,
            predicate,
            tries,
            minutes * 60,
            workers or len(os.sched_getaffinity(0)),
            Limits(seconds=case_seconds),
            tvm or known.environment.get("release", own().name),
        )
        raise typer.Exit(run(wanted, console()))
