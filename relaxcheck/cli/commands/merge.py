"""``relaxcheck merge``: its options."""

from pathlib import Path
from typing import Annotated

import typer

from relaxcheck.cli.exit_codes import EXIT_CODES, MESSAGES_PASS
from relaxcheck.cli.terminal import one_line_errors

EPILOG = f"""Example:

  relaxcheck merge shard-1 shard-2 shard-3 --out runs/all

{EXIT_CODES} {MESSAGES_PASS}"""

app = typer.Typer(add_completion=False)


@app.command(epilog=EPILOG)
def merge(
    directories: Annotated[
        list[Path], typer.Argument(metavar="DIR", help="Campaigns, or earlier merges.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Write the merge to this new folder.")],
    all_messages: Annotated[
        bool, typer.Option("--all-messages", help="List error messages too.")
    ] = False,
) -> None:
    """Merge campaigns that ran with the same versions: shards, machines, nights.

    The merge has each case and each finding once, whatever the order of the campaigns. Commands
    take a merge's folder like a campaign's.
    """
    with one_line_errors():
        from relaxcheck.cli.actions import merge as action

        raise typer.Exit(action.merge(directories, out, all_messages=all_messages))
