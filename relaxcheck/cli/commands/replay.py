"""``relaxcheck replay``: its options."""

from typing import Annotated

import typer

from relaxcheck.cli.exit_codes import EXIT_CODES
from relaxcheck.cli.options import (
    CampaignFolder,
    CaseSeconds,
    FixesSwitch,
    PipelineName,
    Release,
    TargetName,
    Workers,
)
from relaxcheck.cli.terminal import one_line_errors

EPILOG = f"""STILL FAILS: as recorded. CHANGED: fails, but not as recorded. FIXED: recorded as a
failure, passes now. FAILS, PASSES: no failure is recorded. UNDECIDED: no verdict. A failure that is
neither recorded nor expected (relaxcheck known) is new. Of a campaign, the smallest case of each
finding runs.

Examples:

  relaxcheck replay 3f2a9c1b --fixes on

  relaxcheck replay runs/FOLDER --tvm 0.26

  relaxcheck replay corpus

  relaxcheck replay 3f2a9c1b --pipeline package:function

  relaxcheck replay corpus/known.json

{EXIT_CODES}"""

app = typer.Typer(add_completion=False)


@app.command(epilog=EPILOG)
def replay(
    case: Annotated[
        str,
        typer.Argument(
            metavar="CASE",
            help="The id of a case or a finding or the start of it, a case file, a corpus entry, "
            "an expected failure; or a campaign, a folder of cases or entries.",
        ),
    ],
    fixes: FixesSwitch = None,
    tvm: Release = None,
    target: TargetName = None,
    pipeline: PipelineName = None,
    directory: CampaignFolder = None,
    workers: Workers = None,
    case_seconds: CaseSeconds = 60,
) -> None:
    """Run cases again, each in a fresh process, and compare with what was recorded."""
    with one_line_errors():
        from relaxcheck.cli.actions import replay as action

        code = action.replay(
            case,
            directory,
            fixes=fixes,
            tvm=tvm,
            target=target,
            pipeline=pipeline,
            workers=workers,
            case_seconds=case_seconds,
        )
    raise typer.Exit(code)
