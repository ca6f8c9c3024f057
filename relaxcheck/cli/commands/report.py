"""``relaxcheck report``: its options."""

from pathlib import Path
from typing import Annotated

import typer

from relaxcheck.cli.options import CaseSeconds
from relaxcheck.cli.terminal import one_line_errors

EPILOG = "\n\n".join(
    (
        "The page is one file that needs no network. It shows the newest of the given campaigns; "
        "the others are its trend. Cases with wrong values run again, to show expected and actual "
        "side by side. With --bisect, the page names the pass behind each finding; results are "
        "kept in the campaign's folder, so an interrupted run continues where it stopped.",
        "Examples:",
        "  relaxcheck report",
        "  relaxcheck report runs/MONDAY runs/TUESDAY --bisect",
        "  relaxcheck report --corpus --out corpus.html",
        "Exit codes: 0 written; 2 bad input, or the page cannot be written; 130 interrupted: the "
        "page shows what was known until then.",
    )
)

app = typer.Typer(add_completion=False)


@app.command(epilog=EPILOG)
def report(
    campaigns: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="CAMPAIGN", help="Folders of campaigns (default: the newest in runs/)."
        ),
    ] = None,
    corpus: Annotated[
        bool, typer.Option("--corpus", help="Run the corpus and show that instead.")
    ] = False,
    known: Annotated[
        list[Path] | None,
        typer.Option(
            "--known",
            metavar="DIR",
            help="An earlier campaign (as in fuzz --known); may be repeated. Its findings are "
            "shown as known, last, like those in corpus/known.json.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write here (default: report.html in the campaign's folder; with --corpus, in the "
            "current one).",
        ),
    ] = None,
    bisect: Annotated[
        bool, typer.Option("--bisect", help="Find the pass behind each finding.")
    ] = False,
    run: Annotated[
        bool, typer.Option("--run/--no-run", help="Run cases with wrong values again.")
    ] = True,
    case_seconds: CaseSeconds = 60,
) -> None:
    """Write a campaign, or the corpus, as one web page."""
    with one_line_errors():
        from relaxcheck.cli.actions.pages import report as action

        code = action.report(
            campaigns,
            corpus=corpus,
            known=known or (),
            out=out,
            bisect=bisect,
            run=run,
            case_seconds=case_seconds,
        )
    raise typer.Exit(code)
