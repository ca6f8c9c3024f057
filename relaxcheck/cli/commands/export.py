"""``relaxcheck export``: its options."""

from pathlib import Path
from typing import Annotated

import typer

from relaxcheck.cli.options import MOST_MINUTES, MOST_SECONDS, number
from relaxcheck.cli.terminal import one_line_errors

EPILOG = "\n\n".join(
    (
        "An export has four files. repro.py is a script that needs only tvm, numpy and, for wrong "
        "values, torch; it exits with 1 while the bug is there and with 0 once it is gone. "
        "issue.md is TVM's bug report, filled in; its first line is the title. case.json is the "
        "case, for relaxcheck replay. finding.json holds everything that is known.",
        "Export reduces the case, runs it again in a new process, tries each setting at its "
        "default, bisects the passes, runs it on every installed release with the fixes off and "
        "on, and then runs the script. Entries of the corpus are not reduced.",
        "Examples:",
        "  relaxcheck export 3f2a9c1b",
        "  relaxcheck export --all --dir runs/2026-11-21-fixes-off --out exported",
        "  relaxcheck export CORPUS-ENTRY --pytest --out tests/python/relax",
        "  relaxcheck export CORPUS-ENTRY --as-is   # its issue and script, without a run",
        "  relaxcheck export --all --dir corpus     # complete new entries of the corpus",
        "  relaxcheck export --rewrite              # render each repro.py of the corpus anew",
        "With --all, finished exports are skipped: after Ctrl-C, give the same command again.",
        "Exit codes: 0 written; 1 with --all, some failed (one line says why for each); 2 bad "
        "input, the case does not fail, or the workers cannot start; 3 a fault of relaxcheck "
        "itself; 130 interrupted.",
    )
)

app = typer.Typer(add_completion=False)


@app.command(epilog=EPILOG)
def export(
    case: Annotated[
        str | None,
        typer.Argument(
            metavar="CASE",
            help="The id of a case or a finding or the start of it, a case file, its folder, a "
            "corpus entry, or an expected failure.",
        ),
    ] = None,
    every: Annotated[
        bool,
        typer.Option("--all", help="Export every cause of a campaign, each to OUT/FAMILY/ID."),
    ] = False,
    rewrite: Annotated[
        bool,
        typer.Option(
            "--rewrite",
            help="Render repro.py anew, and issue.md where it is there, from case.json and "
            "finding.json: of one folder or of the whole corpus. Runs nothing.",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write here (default: a folder with the case's id; with --pytest, the current "
            "one; with --all, corpus in the campaign's folder).",
        ),
    ] = None,
    pytest: Annotated[
        bool,
        typer.Option(
            "--pytest",
            help="Write one test as in TVM's tests/python/relax, marked as an expected failure.",
        ),
    ] = False,
    as_is: Annotated[
        bool,
        typer.Option("--as-is", help="Write what is recorded; reduce and bisect nothing."),
    ] = False,
    directory: Annotated[
        Path | None,
        typer.Option(
            "--dir",
            metavar="DIR",
            help="Look in this campaign (default: all in runs/; with --all the newest). With --all "
            "also a corpus.",
        ),
    ] = None,
    pipeline: Annotated[
        str | None,
        typer.Option(
            "--pipeline",
            metavar="NAME",
            help="The case is compiled by this pipeline of your own, package:function, which may "
            "be imported (see docs/extending.md).",
        ),
    ] = None,
    minutes: Annotated[
        float,
        typer.Option(
            min=0.01,
            max=MOST_MINUTES,
            callback=number,
            help="Reduce a case for at most so long.",
        ),
    ] = 3,
    case_seconds: Annotated[
        float | None,
        typer.Option(
            min=0.1,
            max=MOST_SECONDS,
            callback=number,
            metavar="SECONDS",
            help="Deadline of each run (default: 60, or that of a recorded timeout).",
        ),
    ] = None,
) -> None:
    """Write a failure as a script and an issue to paste, or as a test for TVM."""
    with one_line_errors():
        from relaxcheck.cli.actions import export as action

        raise typer.Exit(
            action.export(
                case,
                directory,
                action.Choice(every=every, rewrite=rewrite, pytest=pytest, as_is=as_is),
                pipeline=pipeline,
                out=out,
                minutes=minutes,
                case_seconds=case_seconds,
            )
        )
