"""``relaxcheck fuzz``: its options. What is done with them is in ``harness.cli.running``."""

import os
import random
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from typing import Annotated

import typer

from generators.program import CaseError
from harness.cli.running import Run, describe, run
from harness.cli.spreading import Spread, spread
from harness.cli.terminal import EXIT_CODES, RUNS, console, one_line_errors
from harness.cli.voices import Format, Lines, Quiet, Spoken, Summarised, Voice
from harness.drawing import WHOLE
from harness.jobs import Limits
from harness.known import known_findings
from harness.options import (
    Fixes,
    Options,
    chosen_families,
    chosen_pipelines,
    resumed,
)
from harness.options import shard as shard_of
from harness.releases import ALL, left_out, named, own

EPILOG = f"""Examples:

  relaxcheck fuzz FAMILY --minutes 10 --pipelines build,convert-layout

  relaxcheck fuzz all --fixes both --until-new --known runs/YESTERDAY

  relaxcheck fuzz --seed 7 --uniform --shard 2/8 --out shard-2 --format jsonl

  relaxcheck fuzz --tvm all --minutes 20

  relaxcheck fuzz --minutes 60 --cluster tcp://HOST:8786

  relaxcheck fuzz --resume runs/FOLDER

{EXIT_CODES}"""

_MINUTES = 5.0

_DRAWN = "What is drawn"
_RUN = "How it runs"
_TOLD = "What is told, and where"


def fuzz(
    family: Annotated[
        list[str] | None,
        typer.Argument(
            help="Families to draw from; all: also those that have to be asked for by name."
        ),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(
            min=0.01,
            help="How long to draw new cases (default: 5, or without end where --cases says when).",
            rich_help_panel=_RUN,
        ),
    ] = None,
    cases: Annotated[
        int | None, typer.Option(min=1, help="End after this many cases.", rich_help_panel=_RUN)
    ] = None,
    until_new: Annotated[
        bool,
        typer.Option(
            "--until-new",
            help="End as soon as a failure that is not known is reduced and confirmed.",
            rich_help_panel=_RUN,
        ),
    ] = False,
    workers: Annotated[
        str, typer.Option(help="Worker processes; auto: one a core.", rich_help_panel=_RUN)
    ] = "auto",
    case_seconds: Annotated[
        float, typer.Option(min=0.1, help="Deadline of one case.", rich_help_panel=_RUN)
    ] = 60,
    recycle: Annotated[
        int,
        typer.Option(min=1, help="Replace a worker after this many cases.", rich_help_panel=_RUN),
    ] = Limits().cases,
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
            help="With --cluster: how many (default: one a thread of it).",
            rich_help_panel=_RUN,
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Go on with the campaign in DIR, where it stopped.",
            rich_help_panel=_RUN,
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Say what would be done, draw ten cases, run nothing.",
            rich_help_panel=_RUN,
        ),
    ] = False,
    fixes: Annotated[
        Fixes | None,
        typer.Option(
            help="Run TVM with or without the fixes (default: off); both: every case runs twice, "
            "and the two sides are counted apart.",
            rich_help_panel=_DRAWN,
        ),
    ] = None,
    tvm: Annotated[
        str | None,
        typer.Option(
            metavar="RELEASE,…",
            help="Run another TVM release than that of this environment, such as 0.25 (see "
            "relaxcheck releases). Several, or all that are installed (all): every case runs on "
            "each, and what passes on one and fails on a later one is told first.",
            rich_help_panel=_RUN,
        ),
    ] = None,
    pipelines: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,…",
            help="Draw these pass pipelines only (default: all).",
            rich_help_panel=_DRAWN,
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="The same seed draws the same cases.", rich_help_panel=_DRAWN)
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="K/N",
            help="Draw stream K of N of the seed: one of N machines that need not know each other.",
            rich_help_panel=_DRAWN,
        ),
    ] = None,
    uniform: Annotated[
        bool,
        typer.Option(
            "--uniform",
            help="Do not steer towards what was not drawn yet.",
            rich_help_panel=_DRAWN,
        ),
    ] = False,
    known: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR",
            help="An earlier campaign; may be given again. Its findings are tried first, and count "
            "as known: only others are new, and only new ones give exit code 1.",
            rich_help_panel=_TOLD,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where to write (default: a new folder in runs/).", rich_help_panel=_TOLD
        ),
    ] = None,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet", help="Only new findings, and the last lines.", rich_help_panel=_TOLD
        ),
    ] = False,
    summary: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Add a summary in Markdown to FILE, such as a CI job's.",
            rich_help_panel=_TOLD,
        ),
    ] = None,
    form: Annotated[
        Format,
        typer.Option(
            "--format",
            help="text; or jsonl for a program: one JSON object a line, whose event is started, "
            "progress, finding or summary (see docs/long-runs.md).",
            rich_help_panel=_TOLD,
        ),
    ] = Format.TEXT,
) -> None:
    """Draw programs, compile and run them with TVM, compare with PyTorch and ONNX Runtime.

    Everything is written to a journal before it runs; Ctrl-C loses nothing. What failed is grouped
    by cause, reduced, confirmed in a fresh process and listed with the command that replays it.
    """
    with one_line_errors():
        if resume is None:
            switch = fixes or Fixes.OFF
            stamp = datetime.now(UTC).strftime("%Y-%m-%d-%H%M%S")
            options = Options(
                chosen_families(family),
                chosen_pipelines(None if pipelines is None else pipelines.split(",")),
                random.SystemRandom().randrange(2**31) if seed is None else seed,
                switch,
                uniform,
                WHOLE if shard is None else shard_of(shard),
                own().name if tvm is None else " ".join(named(tvm)),
                out or RUNS / f"{stamp}-fixes-{switch.value}",
            )
        else:
            given = {
                "FAMILY": family,
                "--pipelines": pipelines,
                "--fixes": fixes,
                "--tvm": tvm,
                "--seed": seed,
                "--shard": shard,
                "--out": out,
                "--uniform": uniform or None,
            }
            options = resumed(resume, [name for name, value in given.items() if value is not None])
        if minutes is None:
            minutes = _MINUTES if cases is None else inf
        plan = options.plan(minutes * 60, cases, known_findings(known or ()), until_new=until_new)
        if dry_run:
            describe(console(), plan)
            return
        limits = Limits(seconds=case_seconds, cases=recycle)
        voice = _voice(summary, form, quiet=quiet)
        for line in left_out() if tvm == ALL else ():
            voice.say(line)
        if cluster is not None:
            if resume is not None or shard is not None:
                raise CaseError("--cluster starts shards of its own; leave out --resume, --shard")
            # A thread of the cluster stands for a core.
            size = 1 if workers == "auto" else _workers(workers)
            raise typer.Exit(spread(cluster, Spread(options, plan, shards, size, limits), voice))
        if shards is not None:
            raise CaseError("--shards is for --cluster; one shard here is --shard K/N")
        size = _workers(workers)
        raise typer.Exit(run(Run(options, plan, size, limits, resume is not None), voice))


def _voice(summary: Path | None, form: Format, *, quiet: bool) -> Voice:
    if quiet and form is Format.JSONL:
        raise CaseError("--quiet and --format jsonl exclude each other")
    voice: Voice = Quiet(console()) if quiet else Spoken(console())
    if form is Format.JSONL:
        voice = Lines(lambda line: print(line, flush=True))
    return voice if summary is None else Summarised(voice, summary)


def _workers(wanted: str) -> int:
    if wanted == "auto":
        return len(os.sched_getaffinity(0))
    if not wanted.isdecimal() or int(wanted) < 1:
        raise CaseError(f"--workers {wanted}: give auto, or a number from 1")
    return int(wanted)
