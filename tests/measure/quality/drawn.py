"""Figures of a stream of cases: pairs of cells, duplicates, sizes of programs."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations, islice
from statistics import median
from typing import Any

import numpy as np
from hypothesis import strategies as st

from relaxcheck.generators.core.axes import Family, Point, cases, itself, point_of
from relaxcheck.generators.core.case import Valid
from relaxcheck.generators.core.coverage.pairs import Pairs
from relaxcheck.generators.core.coverage.steering import Steering
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.core.sampling import draw
from relaxcheck.generators.families import every
from relaxcheck.harness.campaign.drawing import stream
from relaxcheck.harness.compiling.pipelines import PIPELINES
from tests.measure.quality.work import elements, multiply_adds

FAMILIES = every(tuple(PIPELINES))

SHARES = ("pipeline", "opt_level", "regime", "exec_mode")
"""The axes of which the share of each value is shown."""

OWN = 400
"""Cases of a family, invalid ones among them, at which its pairs are judged."""

AGAIN = 4
"""Cases for each pair of the two largest axes, for families that have more such pairs than
``OWN`` cases can have."""

GRAPHS = ("dynamic", "graphs")
"""Families whose operators follow each other freely: ``work`` does not know their sizes."""


class Reach:
    """The pairs of one family: those that a valid point has, and those drawn so far.

    ``cells`` counts cells, ``values`` each value for itself. A pair of values is possible if that
    of their cells is: the values of a cell are allowed alike (a test of the families holds that).
    """

    def __init__(self, family: Family):
        self.family = family
        self.cells = Pairs(family.axes)
        self.values = Pairs([replace(axis, cell=itself) for axis in family.axes])
        self.drawn = 0
        self._seen: set[tuple[str, str]] = set()
        steering = Steering(family.axes)
        choice = 0
        while steering.pairs.count:
            steering.point(choice)
            choice += 1
        for pair in steering.impossible:
            self.cells.give_up(*pair)
        of_value = np.concatenate([self.cells.numbers[axis.name] for axis in family.axes])
        self.values.missing &= self.cells.missing[np.ix_(of_value, of_value)]
        self._possible = {id(each): each.missing.copy() for each in (self.cells, self.values)}

    @property
    def judged_at(self) -> int:
        """The cases of the family after which nearly all its pairs are to be drawn."""
        possible = self._possible[id(self.cells)]
        largest = max(
            int(possible[_block(self.cells, axis.name, other.name)].sum())
            for axis, other in combinations(self.family.axes, 2)
        )
        return OWN if largest < OWN else AGAIN * largest

    def add(self, point: Point) -> None:
        """Take note of ``point``."""
        self.drawn += 1
        self.cells.strike([point])
        self.values.strike([point])
        self._seen.update(
            (axis.name, repr(axis.cell(point[axis.name]))) for axis in self.family.axes
        )

    def figures(self) -> dict[str, Any]:
        """The cells and pairs drawn, those possible, and the most that as many points can have."""
        return {
            "drawn": self.drawn,
            "cells": len(self.cells.cells),
            "cells_drawn": len(self._seen),
            **self._pairs("pairs", self.cells),
            **self._pairs("value_pairs", self.values),
        }

    def _pairs(self, name: str, pairs: Pairs) -> dict[str, Any]:
        possible, most, complete, worst = 0, 0, 0, (2.0, "", 0, 0)
        total = 0
        for axis, other in combinations(self.family.axes, 2):
            block = _block(pairs, axis.name, other.name)
            there = int(self._possible[id(pairs)][block].sum())
            drawn = there - int(pairs.missing[block].sum())
            possible += there
            total += drawn
            most += min(there, self.drawn)
            complete += drawn == there
            if there:
                worst = min(worst, (drawn / there, f"{axis.name} × {other.name}", drawn, there))
        return {
            name: possible,
            f"{name}_drawn": total,
            f"{name}_at_most": most,
            f"{name}_complete": complete,
            f"{name}_worst": worst[1:],
        }


def _block(pairs: Pairs, first: str, other: str) -> tuple[slice, slice]:
    left, right = pairs.numbers[first], pairs.numbers[other]
    return slice(min(left), max(left) + 1), slice(min(right), max(right) + 1)


def measured(seed: int, count: int, checkpoints: Iterable[int], uniform: bool) -> dict[str, Any]:
    """The figures of the first ``count`` cases of the stream of ``seed``."""
    reached = {family.name: Reach(family) for family in FAMILIES}
    wanted = set(checkpoints)
    at: dict[str, Any] = {}
    seen: dict[str, Counter[str]] = {"valid": Counter(), "invalid": Counter()}
    shares: dict[str, Counter[str]] = {name: Counter() for name in SHARES}
    sizes: dict[str, list[tuple[int, int, int, str]]] = {family.name: [] for family in FAMILIES}
    seconds = 0.0
    for number, (case, spent) in enumerate(_timed(stream(FAMILIES, seed, uniform=uniform), count)):
        seconds += spent
        valid = isinstance(case.expect, Valid)
        seen["valid" if valid else "invalid"][case.identifier] += 1
        if valid:
            reach = reached[case.family]
            reach.add(point_of(reach.family, case))
            sizes[case.family].append(_size(case))
            for name in SHARES:
                shares[name][str(getattr(case, name))] += 1
        if number + 1 in wanted:
            at[str(number + 1)] = {name: reach.figures() for name, reach in reached.items()}
    return {
        "seed": seed,
        "uniform": uniform,
        "cases": count,
        "milliseconds_per_case": round(1_000 * seconds / count, 2),
        "at": at,
        "drawn": {kind: each.total() for kind, each in seen.items()},
        "duplicates": {kind: each.total() - len(each) for kind, each in seen.items()},
        "shares": {
            name: {value: round(n / each.total(), 4) for value, n in sorted(each.items())}
            for name, each in shares.items()
        },
        "sizes": {name: _sizes(each) for name, each in sizes.items()},
    }


def alone(seed: int, uniform: bool) -> dict[str, Any]:
    """The pairs of each family at the case of its own at which they are judged."""
    figures: dict[str, Any] = {}
    for family in FAMILIES:
        reach = Reach(family)
        count = reach.judged_at
        for case in islice(stream([family], seed, uniform=uniform), count):
            if isinstance(case.expect, Valid):
                reach.add(point_of(family, case))
        figures[family.name] = {"cases": count, **reach.figures()}
    return {"seed": seed, "uniform": uniform, "families": figures}


def _timed(cases: Iterator[Case], count: int) -> Iterator[tuple[Case, float]]:
    """The first ``count`` cases, each with the CPU seconds it took to draw."""
    for _ in range(count):
        began = time.process_time()
        case = next(cases)
        yield case, time.process_time() - began


def _size(case: Case) -> tuple[int, int, int, str]:
    """Nodes, and the most elements of all inputs and multiply-adds at any binding."""
    return (
        len(case.program.nodes),
        max(elements(case, binding) for binding in case.bindings),
        max(_work(case, binding) for binding in case.bindings),
        case.identifier,
    )


def _work(case: Case, binding: Mapping[str, int]) -> int:
    return 0 if case.family in GRAPHS else multiply_adds(case, binding)


def _sizes(each: list[tuple[int, int, int, str]]) -> dict[str, Any]:
    measures = ("nodes", "elements", "multiply_adds")
    return {
        name: {
            "median": median(row[at] for row in each),
            "largest": max(row[at] for row in each),
            "case": max(each, key=lambda row: row[at])[-1],
        }
        for at, name in enumerate(measures)
        if each
    }


def discarded(count: int, seed: int) -> dict[str, dict[str, int]]:
    """The draws begun, and those of them that gave no case, for each way of drawing.

    A steered draw is begun anew where its pair turns out to be in no valid point, which is soon
    known of all such pairs: ``count`` is to be small.
    """
    tally = {way: {"begun": 0, "discarded": 0} for way in ("steered", "uniform", "invalid")}
    for family in FAMILIES:
        steering = Steering(family.axes)
        for choice in range(count):
            steering.point(choice)
        lost = steering.discarded
        _count(tally["steered"], count + lost, lost)
        drawing = [("uniform", cases(family))]
        if family.invalid:
            drawing.append(("invalid", st.one_of(family.invalid)))
        for way, strategy in drawing:
            begun: list[None] = []
            kept = len(draw(_counting(strategy, begun), count, seed))
            _count(tally[way], len(begun), len(begun) - kept)
    return tally


def _count(counts: dict[str, int], begun: int, lost: int) -> None:
    counts["begun"] += begun
    counts["discarded"] += lost


@st.composite
def _counting(draw: st.DrawFn, strategy: st.SearchStrategy[Case], begun: list[None]) -> Case:
    begun.append(None)
    return draw(strategy)
