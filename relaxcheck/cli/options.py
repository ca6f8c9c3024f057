"""Options that several commands have. ``--help`` shows them, so this imports nothing large."""

import enum
import math
from pathlib import Path
from typing import Annotated

import typer

MOST_MINUTES = 527_040
"""A year."""
MOST_SECONDS = 86_400
"""A day: the longest deadline of a run."""
MOST_WORKERS = 1024
MOST = 1_000_000_000
"""Cases, candidates and the like."""


def number(value: float | None) -> float | None:
    """``value``, which has passed the bounds of its option; NaN passes any."""
    if value is not None and math.isnan(value):
        raise typer.BadParameter("nan is not a number.")
    return value


class Switch(enum.StrEnum):
    """Are the bundled fixes installed?"""

    ON = "on"
    OFF = "off"


class Format(enum.StrEnum):
    """The form of a campaign on standard output: for a person, or events for a program."""

    TEXT = "text"
    JSONL = "jsonl"


class ResultFormat(enum.StrEnum):
    """The form of one result on standard output: for a person, or for a program."""

    TEXT = "text"
    JSON = "json"


TargetName = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="TARGET",
        help="Compile for this target: llvm, c, cuda, opencl, metal or webgpu (default: as "
        "recorded).",
    ),
]
PipelineName = Annotated[
    str | None,
    typer.Option(
        "--pipeline",
        metavar="NAME",
        help="Compile by this pipeline: one of TVM's, such as default-pipeline, or your own as "
        "package:function (default: as recorded; your own has to be named, see "
        "docs/extending.md).",
    ),
]
CaseName = Annotated[
    str,
    typer.Argument(
        metavar="CASE",
        help="The id of a case or a finding or the start of it, a case file, a corpus entry, or "
        "an expected failure.",
    ),
]
CampaignFolder = Annotated[
    Path | None,
    typer.Option("--dir", metavar="DIR", help="Look in this campaign (default: all in runs/)."),
]
FixesSwitch = Annotated[
    Switch | None, typer.Option(help="Run with or without the fixes (default: as recorded).")
]
Release = Annotated[
    str | None,
    typer.Option(
        metavar="RELEASE",
        help="Run on this TVM release or build (default: the recorded one, or that of this "
        "environment).",
    ),
]
ReleasesToRun = Annotated[
    str | None,
    typer.Option(
        metavar="RELEASE",
        help="Run on this TVM release or build, several (0.27,mine), or all installed releases "
        "(all).",
    ),
]
Releases = Annotated[
    list[str] | None,
    typer.Option("--tvm", metavar="RELEASE", help="Only this release or build; may be repeated."),
]
Workers = Annotated[
    int | None,
    typer.Option(min=1, max=MOST_WORKERS, help="Worker processes (default: one for each core)."),
]
CaseSeconds = Annotated[
    float,
    typer.Option(
        min=0.1,
        max=MOST_SECONDS,
        callback=number,
        metavar="SECONDS",
        help="Deadline of each run.",
    ),
]
DrawnSeconds = Annotated[
    float,
    typer.Option(
        "--case-seconds",
        min=0.1,
        max=MOST_SECONDS,
        callback=number,
        metavar="SECONDS",
        help="Deadline of each run; a failure is confirmed with three times as long.",
    ),
]
