"""``relaxcheck passes``: its options."""

from pathlib import Path
from typing import Annotated

import typer

from relaxcheck.cli.exit_codes import EXIT_CODES
from relaxcheck.cli.options import MOST, MOST_WORKERS, DrawnSeconds, ResultFormat
from relaxcheck.cli.terminal import one_line_errors

EPILOG = f"""With --measure, programs are drawn for each pass until it has changed so many of them,
or until six times as many are drawn. Each is checked after the pass; every tenth is compiled, run
and judged as well. What runs is kept in the folder of --out, one campaign a release: after Ctrl-C,
give the same command again.

Examples:

  relaxcheck passes --measure 500 --tvm all --docs

  relaxcheck passes --measure 100 --pass FuseOps --pass FuseTIR

  relaxcheck fuzz pass --minutes 30, then relaxcheck passes

  relaxcheck passes runs/fuse runs/MONDAY --format json

{EXIT_CODES}"""

_MEASURE = "Measuring"

app = typer.Typer(add_completion=False)


@app.command(epilog=EPILOG)
def passes(
    campaigns: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="CAMPAIGN",
            help="Folders of campaigns, which count together (default: the newest in runs/, or, "
            "with --measure, none besides its own).",
        ),
    ] = None,
    form: Annotated[
        ResultFormat, typer.Option("--format", help="For a person, or rows of JSON.")
    ] = ResultFormat.TEXT,
    docs: Annotated[
        bool, typer.Option("--docs", help="Write docs/passes.md in this checkout instead.")
    ] = False,
    measure: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST,
            metavar="PROGRAMS",
            help="First draw programs for each pass until it has changed so many.",
            rich_help_panel=_MEASURE,
        ),
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--pass",
            metavar="NAME",
            help="Only this pass; may be repeated.",
            rich_help_panel=_MEASURE,
        ),
    ] = None,
    tvm: Annotated[
        str | None,
        typer.Option(
            metavar="RELEASE,…",
            help="On this TVM release or build, several, or all installed releases (all).",
            rich_help_panel=_MEASURE,
        ),
    ] = None,
    every: Annotated[
        int,
        typer.Option(
            "--compile-every",
            min=1,
            max=MOST,
            metavar="N",
            help="Compile and judge each Nth program.",
            rich_help_panel=_MEASURE,
        ),
    ] = 10,
    seed: Annotated[
        int,
        typer.Option(
            min=0,
            max=2**64 - 1,
            help="The same seed draws the same programs.",
            rich_help_panel=_MEASURE,
        ),
    ] = 1,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_WORKERS,
            help="Worker processes (default: one for each core).",
            rich_help_panel=_MEASURE,
        ),
    ] = None,
    case_seconds: DrawnSeconds = 10,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The folder of what is measured (default: runs/passes).",
            rich_help_panel=_MEASURE,
        ),
    ] = None,
) -> None:
    """List every pass: how many programs it was applied to, changed, and failed on.

    A failure that the same program has without any pass is not the pass's, and is counted apart.
    A pass that changes no program needs fragments in which it finds something to do.
    """
    with one_line_errors():
        from relaxcheck.cli.actions import passes as action

        if measure is None:
            if any(each is not None for each in (names, tvm, workers, out)):
                raise typer.BadParameter("--pass, --tvm, --workers and --out need --measure.")
            action.passes(campaigns or [], form, docs=docs)
            return
        request = action.Request(
            changed=measure,
            passes=names or [],
            tvm=tvm,
            every=every,
            seed=seed,
            workers=workers,
            case_seconds=case_seconds,
            out=out,
        )
        raise typer.Exit(action.measure(request, campaigns or [], form, docs=docs))
