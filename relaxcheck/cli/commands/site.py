"""``relaxcheck site``: its options."""

from pathlib import Path
from typing import Annotated

import typer

from relaxcheck.cli.terminal import one_line_errors

EPILOG = "\n\n".join(
    (
        "Nights of one release, side of the fixes and target are a series, and are compared: the "
        "site says which faults are new, came back or are fixed. It needs no server and no "
        "network: open its index.html, or publish the folder.",
        "Each night that was read is kept in the history, a small file for each, and stays on the "
        "site when its journal is gone. A night without --known (fuzz, nightly.sh) says nothing "
        "about faults that it did not draw: they are not seen, and never fixed.",
        "Examples:",
        "  relaxcheck site nights",
        "  relaxcheck site nights-0.26 nights-0.27 runs/MONDAY --out public --title 'My fork'",
        "  relaxcheck site nights --history nights/history --out public",
        "Exit codes: 0 written; 2 bad input, the site cannot be written, or a night cannot be read "
        "(the site is without it); 130 interrupted: nights that were read are kept.",
    )
)

app = typer.Typer(add_completion=False)


@app.command(epilog=EPILOG)
def site(
    places: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FOLDER",
            help="Campaigns, or folders of campaigns, as nightly.sh makes them (default: runs, if "
            "there is no history yet).",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Write the site here.")] = Path("site"),
    history: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Keep nights here (default: history in the site's folder)."
        ),
    ] = None,
    title: Annotated[str, typer.Option(help="The title of the site.")] = "Faults of TVM Relax",
) -> None:
    """Write the campaigns of many nights as one static site."""
    with one_line_errors():
        from relaxcheck.cli.actions.pages import site as action

        code = action.site(places or (), out=out, history=history, title=title)
    raise typer.Exit(code)
