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

from relaxcheck.generators.families import every
from relaxcheck.harness.campaign.drawing import stream
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.releases.environment import VARIABLES
from tests.measure.quality.section import Figures, Section, Show
from tests.measure.quality.spreading import processes

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
        sides = {}
        for done, (side, future) in enumerate(running.items(), 1):
            sides[side] = future.result()
            show(f"fixes {side}", done / len(SIDES))
    return {"seed": SEED, "cases": count, "sides": sides}


def _run(count: int, fixes_on: bool) -> dict[str, list[int]]:
    """The numbers of new ``lines`` and ``verdicts`` in each of ``count`` cases."""
    # Before TVM is imported, which may need none where only the page is rendered.
    os.environ.update(VARIABLES)
    import tvm

    from relaxcheck.harness.programs.execute import execute

    monitor = Monitor(Path(tvm.__file__).parent)
    lines, verdicts = [], []
    outcomes_seen: set[tuple[str, str, str | None]] = set()
    for case in islice(stream(every(tuple(PIPELINES)), SEED), count):
        before = len(monitor.seen)
        sided = msgspec.structs.replace(case, fixes=fixes_on, opt_level=0)
        with monitor:
            outcome = execute(sided, lambda stage: None)
        lines.append(len(monitor.seen) - before)
        here = (case.family, outcome.verdict.value, outcome.stage)
        verdicts.append(int(here not in outcomes_seen))
        outcomes_seen.add(here)
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
    """The case numbers by which 99% of the new things, and the last of them, had come up."""
    lines = [
        f"The first {figures['cases']} cases that seed {figures['seed']} draws. A budget that"
        " favours what lately was new has nothing to go by once nothing is new any more: each of"
        " the families then gets the same, as now.",
        "",
        "| fixes | new | in all | 99% of them by case | the last in case |",
        "|---|---|---:|---:|---:|",
    ]
    for side, figures_of_side in figures["sides"].items():
        for kind, name in (("lines", "lines"), ("verdicts", "verdicts by family and stage")):
            counts = figures_of_side[kind]
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
    """A line for each kind of thing that was never seen; there is no other target."""
    return [
        f"fixes {side}: no {kind} were seen"
        for side, figures_of_side in figures["sides"].items()
        for kind in ("lines", "verdicts")
        if not sum(figures_of_side[kind])
    ]


SECTION = Section("novelty", "Novelty, case by case", measure, markdown, missed)
