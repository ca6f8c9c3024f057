"""``relaxcheck fuzz``: its options."""

from pathlib import Path
from typing import Annotated

import typer

from relaxcheck.cli.exit_codes import EXIT_CODES, MESSAGES_PASS
from relaxcheck.cli.options import MOST, MOST_MINUTES, MOST_WORKERS, DrawnSeconds, Format, number
from relaxcheck.cli.terminal import one_line_errors
from relaxcheck.harness.campaign.fixes import Fixes

EPILOG = f"""Examples:

  relaxcheck fuzz FAMILY --minutes 10 --pipelines build,convert-layout

  relaxcheck fuzz --minutes 10 --pipeline package:function

  relaxcheck fuzz all --fixes both --until-new --known runs/YESTERDAY

  relaxcheck fuzz --seed 7 --uniform --shard 2/8 --out shard-2 --format jsonl

  relaxcheck fuzz torch --minutes 20

  relaxcheck fuzz --target c --minutes 20

  relaxcheck fuzz --tvm all --minutes 20

  relaxcheck fuzz --minutes 60 --cluster tcp://HOST:8786

  relaxcheck fuzz --resume runs/FOLDER

{EXIT_CODES} {MESSAGES_PASS}"""

_DRAWN = "Cases"
_RUN = "Execution"
_OUTPUT = "Output"

app = typer.Typer(add_completion=False)


@app.command(epilog=EPILOG)
def fuzz(
    family: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FAMILY",
            help="Families to draw from (default: the usual ones); onnx: those of ONNX models; "
            "torch: those of PyTorch programs; all: every family.",
        ),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(
            min=0.01,
            max=MOST_MINUTES,
            callback=number,
            help="Draw new cases for so long (default: 5, or what a resumed campaign had left; no "
            "limit with --cases).",
            rich_help_panel=_RUN,
        ),
    ] = None,
    cases: Annotated[
        int | None,
        typer.Option(min=1, max=MOST, help="Stop after so many cases.", rich_help_panel=_RUN),
    ] = None,
    until_new: Annotated[
        bool,
        typer.Option(
            "--until-new",
            help="Stop once a new failure is reduced and confirmed.",
            rich_help_panel=_RUN,
        ),
    ] = False,
    workers: Annotated[
        str, typer.Option(help="Worker processes; auto: one for each core.", rich_help_panel=_RUN)
    ] = "auto",
    case_seconds: DrawnSeconds = 10,
    recycle: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST,
            help="Replace a worker after so many cases (default: 1000).",
            rich_help_panel=_RUN,
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Run shards on the Dask cluster with this scheduler, and merge them.",
            rich_help_panel=_RUN,
        ),
    ] = None,
    shards: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_WORKERS,
            help="With --cluster: so many shards (default: one for each of its threads).",
            rich_help_panel=_RUN,
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Continue the campaign in DIR where it stopped.",
            rich_help_panel=_RUN,
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Show the plan and the first ten cases; run nothing.",
            rich_help_panel=_RUN,
        ),
    ] = False,
    fixes: Annotated[
        Fixes | None,
        typer.Option(
            help="Run TVM with the fixes or without (default: off); both: run each case twice and "
            "count the two sides apart.",
            rich_help_panel=_DRAWN,
        ),
    ] = None,
    tvm: Annotated[
        str | None,
        typer.Option(
            metavar="RELEASE,…",
            help="Run this TVM release instead of this environment's, such as 0.25, or a build of "
            "your own (see relaxcheck releases). Several, or all: run each case on each; what "
            "passes on one and fails on a later one is a regression.",
            rich_help_panel=_RUN,
        ),
    ] = None,
    pipelines: Annotated[
        list[str] | None,
        typer.Option(
            "--pipelines",
            "--pipeline",
            metavar="NAME,…",
            help="Draw only these pass pipelines (default: all of TVM's): by name, or your own as "
            "package:function, which takes a target and returns a pass (see docs/extending.md). "
            "To resume, name your own again.",
            rich_help_panel=_DRAWN,
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="TARGET",
            help="Compile for llvm (the default), c, cuda, opencl, metal or webgpu. Code that "
            "cannot run here is generated and checked; such a case is built, not passed (see "
            "docs/targets.md).",
            rich_help_panel=_DRAWN,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=2**64 - 1,
            show_default=False,
            help="The same seed draws the same cases.",
            rich_help_panel=_DRAWN,
        ),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="K/N",
            help="Draw stream K of N of the seed, for N machines that do not talk to each other.",
            rich_help_panel=_DRAWN,
        ),
    ] = None,
    uniform: Annotated[
        bool,
        typer.Option(
            "--uniform",
            help="Draw uniformly instead of steering towards pairs of values not drawn yet.",
            rich_help_panel=_DRAWN,
        ),
    ] = False,
    known: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR",
            help="An earlier campaign; may be repeated. Its findings run first and are not new; "
            "only new ones give exit code 1.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The campaign's folder (default: a new one in runs/).",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet", help="Print only new findings and the summary.", rich_help_panel=_OUTPUT
        ),
    ] = False,
    all_messages: Annotated[
        bool,
        typer.Option(
            "--all-messages",
            help="List error messages too: invalid programs that TVM refuses without saying what "
            "is wrong. Without it they are counted in one line.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False,
    summary: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Append a summary in Markdown to FILE, such as a CI job's.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    form: Annotated[
        Format,
        typer.Option(
            "--format",
            help="text; or jsonl, for programs: one JSON object a line (see docs/long-runs.md).",
            rich_help_panel=_OUTPUT,
        ),
    ] = Format.TEXT,
) -> None:
    """Draw programs, compile and run them with TVM, and check every result.

    PyTorch, ONNX Runtime and a float64 reference are what results are checked against. Each case is
    written to a journal before it runs, so Ctrl-C loses nothing. Failures are grouped by cause,
    reduced, confirmed in a fresh process, and listed with the command that replays them.
    """
    with one_line_errors():
        from relaxcheck.cli.actions import fuzz as action

        request = action.Request(
            families=family,
            pipelines=pipelines,
            target=target,
            fixes=fixes,
            tvm=tvm,
            seed=seed,
            shard=shard,
            uniform=uniform,
            out=out,
            resume=resume,
            minutes=minutes,
            cases=cases,
            until_new=until_new,
            known=known or [],
            workers=workers,
            case_seconds=case_seconds,
            recycle=recycle,
            cluster=cluster,
            shards=shards,
        )
        if dry_run:
            action.describe(request)
        else:
            reporter = action.reporter(form, summary, quiet=quiet, all_messages=all_messages)
            raise typer.Exit(action.fuzz(request, reporter))
