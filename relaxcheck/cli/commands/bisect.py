"""``relaxcheck bisect``: its options."""

from pathlib import Path
from typing import Annotated

import typer

from relaxcheck.cli.options import (
    CampaignFolder,
    CaseName,
    CaseSeconds,
    FixesSwitch,
    PipelineName,
    Release,
    ResultFormat,
)
from relaxcheck.cli.terminal import one_line_errors

EPILOG = """The case runs after every prefix of its pipeline: the passes up to one, and then only
those without which nothing can be executed. The first prefix that fails names the pass. If even the
shortest one fails, the culprit is the pass that raised or left a call unlowered, or the lowering,
if the functions it made are wrong when called one by one; otherwise it stays unknown. Passes that
change nothing are not tried. Of most passes it then names the calls that they go wrong on: the
pass runs again with the others held back from it.

The case also runs on every other installed TVM release (see relaxcheck releases), to find the first
that fails and the first after it that passes. For an expression (relaxcheck fuzz algebra) that is
all: it runs no pass.

With --builds it does nothing of that, but runs the case on builds of TVM in a folder, the oldest
first by their names: wheels, environments (bin/python) and TVM's own sources, each built. It
halves them until it knows between which two the outcome changes, some 10 runs for 250 nights. A
build that cannot run the case, or fails in another way than the oldest and the newest, is passed
over. What ran is kept: the same command goes on after Ctrl-C.

Examples:

  relaxcheck bisect runs/conformance/CASE.json --fixes off

  relaxcheck bisect CORPUS-ENTRY --tvm 0.26

  relaxcheck bisect ID --builds ~/nightlies

Exit codes: 0 a culprit is named, an expression fails on a release, or a build is found; 2 bad
input, the case does not fail, or no worker can start; 3 no culprit or no change is found, or a
fault of relaxcheck itself; 130 interrupted."""

app = typer.Typer(add_completion=False)


@app.command(epilog=EPILOG)
def bisect(
    case: CaseName,
    fixes: FixesSwitch = None,
    tvm: Release = None,
    pipeline: PipelineName = None,
    directory: CampaignFolder = None,
    case_seconds: CaseSeconds = 60,
    builds: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Find the first of the builds of TVM in this folder that fails, or passes again.",
        ),
    ] = None,
    form: Annotated[
        ResultFormat, typer.Option("--format", help="text, or json: one object and nothing else.")
    ] = ResultFormat.TEXT,
) -> None:
    """Find the first pass that breaks a case, and the first TVM release that it fails on.

    Shows the program before and after that pass. An expression only runs on each release.
    """
    with one_line_errors():
        if builds is None:
            from relaxcheck.cli.actions.bisect import bisect as run

            code = run(
                case,
                directory,
                fixes=fixes,
                tvm=tvm,
                pipeline=pipeline,
                case_seconds=case_seconds,
                form=form,
            )
        else:
            if tvm is not None:
                raise typer.BadParameter("--builds names all builds; leave --tvm out")
            from relaxcheck.cli.actions.bisect_builds import bisect_builds

            code = bisect_builds(
                case,
                directory,
                builds,
                fixes=fixes,
                pipeline=pipeline,
                case_seconds=case_seconds,
                form=form,
            )
    raise typer.Exit(code)
