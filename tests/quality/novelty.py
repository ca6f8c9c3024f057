"""Section ``novelty``: whether there is anything that a campaign's budget could be steered by.

Families could get more of the budget as long as they bring up something new: a line of TVM's Python
legalizations or of TOPI that no case has run, or a family's verdict at a stage it has not had. That
pays only while such things come up at all. Here they are counted, case by case.
"""

import os
import sys
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec

from generators.families import families
from harness.drawing import stream
from harness.environment import VARIABLES
from harness.pipelines import PIPELINES
from tests.quality.section import Figures, Section, Show
from tests.quality.spreading import processes

FULL_SIZE = 800
SEED = 1
SIDES = ("on", "off")
WATCHED = ("relax/transform/legalize_ops", "topi")
"""Folders of TVM's Python package whose lines count."""


def measure(share: float, workers: int, show: Show) -> Figures:
    """Run ``share`` of the full size with the fixes on, and again with them off."""
    count = max(8, round(FULL_SIZE * share))
    show("with and without the fixes", 0.0)
    with processes(min(workers, len(SIDES)), start="spawn") as submit:
        running = {side: submit(_run, count, side == "on") for side in SIDES}
        found = {}
        for done, (side, one) in enumerate(running.items(), 1):
            found[side] = one.result()
            show(f"fixes {side}", done / len(SIDES))
    return {"seed": SEED, "cases": count, "sides": found}


def _run(count: int, fixes_on: bool) -> dict[str, list[int]]:
    """How many ``lines`` and ``verdicts`` were new in each of ``count`` cases."""
    # Before TVM is imported, which may need none where only the page is rendered.
    os.environ.update(VARIABLES)
    import tvm

    from harness.conduct import conduct

    monitor = Monitor(Path(tvm.__file__).parent)
    lines, verdicts = [], []
    met: set[tuple[str, str, str | None]] = set()
    for case in islice(stream(families(tuple(PIPELINES)), SEED), count):
        before = len(monitor.seen)
        given = msgspec.structs.replace(case, fixes=fixes_on, opt_level=0)
        with monitor:
            outcome = conduct(given, lambda stage: None)
        lines.append(len(monitor.seen) - before)
        here = (case.family, outcome.verdict.value, outcome.stage)
        verdicts.append(int(here not in met))
        met.add(here)
    return {"lines": lines, "verdicts": verdicts}


class Monitor:
    """While it is open, every line that runs in ``WATCHED`` of the package at ``root`` is seen."""

    def __init__(self, root: Path):
        self.seen: set[tuple[str, int]] = set()
        self._folders = tuple(f"{root / folder}{os.sep}" for folder in WATCHED)
        self._watched: dict[str, bool] = {}

    def __enter__(self) -> None:
        sys.settrace(self._call)

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _call(self, frame: FrameType, event: str, argument: object) -> Any:
        name = frame.f_code.co_filename
        if name not in self._watched:
            self._watched[name] = name.startswith(self._folders)
        return self._line if self._watched[name] else None

    def _line(self, frame: FrameType, event: str, argument: object) -> Any:
        if event == "line":
            self.seen.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line


def markdown(figures: Mapping[str, Any]) -> str:
    """When the last new thing came up, and when all but one in a hundred had."""
    lines = [
        f"The first {figures['cases']} cases that seed {figures['seed']} draws. A budget that"
        " favours what lately was new has nothing to go by once nothing is new any more: each of"
        " the families then gets the same, as now.",
        "",
        "| fixes | new | in all | 99% of them by case | the last in case |",
        "|---|---|---:|---:|---:|",
    ]
    for side, found in figures["sides"].items():
        for what, name in (("lines", "lines"), ("verdicts", "verdicts by family and stage")):
            counts = found[what]
            by, last = _by(counts, 0.99), _by(counts, 1.0)
            lines.append(f"| {side} | {name} | {sum(counts)} | {by} | {last} |")
    return "\n".join(lines)


def _by(counts: list[int], share: float) -> int:
    """The number, from 1, of the case by which ``share`` of everything new had come up."""
    there, whole = 0, sum(counts)
    for number, count in enumerate(counts, 1):
        there += count
        if there >= share * whole:
            return number
    return len(counts)


def missed(figures: Mapping[str, Any]) -> list[str]:
    """Nothing was promised; but a measurement that saw nothing measured nothing."""
    return [
        f"fixes {side}: no {what} were seen"
        for side, found in figures["sides"].items()
        for what in ("lines", "verdicts")
        if not sum(found[what])
    ]


SECTION = Section("novelty", "What is new, case by case", measure, markdown, missed)
