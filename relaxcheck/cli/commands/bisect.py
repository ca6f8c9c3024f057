"""``relaxcheck bisect``: its options."""

from typing import Annotated

import typer

from relaxcheck.cli.options import (
    CampaignFolder,
    CaseName,
    CaseSeconds,
    FixesSwitch,
    Release,
    ResultFormat,
)
from relaxcheck.cli.terminal import one_line_errors

EPILOG = """The case runs after every prefix of its pipeline: the passes up to one, and then only
those without which nothing can be executed. The first prefix that fails names the pass. If even the
shortest one fails, the culprit is the pass that raised or left a call unlowered, or the lowering,
if the functions it made are wrong when called one by one; otherwise it stays unknown. Passes that
change nothing are not tried.

The case also runs on every other installed TVM release (see relaxcheck releases), to find the first
that fails and the first after it that passes. For an expression (relaxcheck fuzz algebra) that is
all: it runs no pass.

Examples:

  relaxcheck bisect runs/conformance/CASE.json --fixes off

  relaxcheck bisect CORPUS-ENTRY --tvm 0.26

Exit codes: 0 a culprit is named, or an expression fails on a release; 2 bad input, the case does
not fail, or the workers cannot start; 3 no culprit is found, or a fault of relaxcheck itself; 130
interrupted."""

app = typer.Typer(add_completion=False)


@app.command(epilog=EPILOG)
def bisect(
    case: CaseName,
    fixes: FixesSwitch = None,
    tvm: Release = None,
    directory: CampaignFolder = None,
    case_seconds: CaseSeconds = 60,
    form: Annotated[
        ResultFormat, typer.Option("--format", help="text, or json: one object and nothing else.")
    ] = ResultFormat.TEXT,
) -> None:
    """Find the first pass that breaks a case, and the first TVM release that it fails on.

    Shows the program before and after that pass. An expression only runs on each release.
    """
    with one_line_errors():
        from relaxcheck.cli.actions import bisect as action

        code = action.bisect(
            case, directory, fixes=fixes, tvm=tvm, case_seconds=case_seconds, form=form
        )
    raise typer.Exit(code)
