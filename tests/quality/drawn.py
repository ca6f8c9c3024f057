"""What a stream of cases holds: pairs of cells, duplicates, sizes of programs."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations
from statistics import median
from typing import Any

import numpy as np
from hypothesis import strategies as st

from generators.axes import Family, Point, cases, itself
from generators.families import families
from generators.pairs import Pairs
from generators.program import Case, Valid
from generators.steering import Steering
from harness.drawing import draw, stream
from harness.pipelines import PIPELINES
from tests.quality.work import elements, multiply_adds

FAMILIES = families(tuple(PIPELINES))

SHARES = ("pipeline", "opt_level", "regime", "exec_mode")
"""The axes of which the share of each value is shown."""


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

    def add(self, point: Point) -> None:
        """Take note of ``point``."""
        self.drawn += 1
        self.cells.strike([point])
        self.values.strike([point])
        self._seen.update(
            (axis.name, repr(axis.cell(point[axis.name]))) for axis in self.family.axes
        )

    def figures(self) -> dict[str, Any]:
        """What has been drawn, of what is possible, and what as many points can have at most."""
        return {
            "drawn": self.drawn,
            "cells": len(self.cells.cells),
            "cells_drawn": len(self._seen),
            **self._pairs("pairs", self.cells),
            **self._pairs("value_pairs", self.values),
        }

    def _pairs(self, name: str, pairs: Pairs) -> dict[str, Any]:
        possible, most, complete, worst = 0, 0, 0, (2.0, "", 0, 0)
        found = 0
        for one, other in combinations(self.family.axes, 2):
            block = _block(pairs, one.name, other.name)
            there = int(self._possible[id(pairs)][block].sum())
            drawn = there - int(pairs.missing[block].sum())
            possible += there
            found += drawn
            most += min(there, self.drawn)
            complete += drawn == there
            if there:
                worst = min(worst, (drawn / there, f"{one.name} × {other.name}", drawn, there))
        return {
            name: possible,
            f"{name}_drawn": found,
            f"{name}_at_most": most,
            f"{name}_complete": complete,
            f"{name}_worst": worst[1:],
        }


def _block(pairs: Pairs, one: str, other: str) -> tuple[slice, slice]:
    left, right = pairs.numbers[one], pairs.numbers[other]
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
            reach.add(reach.family.point(case))
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
        max(multiply_adds(case, binding) for binding in case.bindings),
        case.identifier,
    )


def _sizes(each: list[tuple[int, int, int, str]]) -> dict[str, Any]:
    what = ("nodes", "elements", "multiply_adds")
    return {
        name: {
            "median": median(one[at] for one in each),
            "largest": max(one[at] for one in each),
            "case": max(each, key=lambda one: one[at])[-1],
        }
        for at, name in enumerate(what)
        if each
    }


def discarded(count: int, seed: int) -> dict[str, dict[str, int]]:
    """How many draws were begun, and how many of them gave no case, for each way of drawing.

    A steered draw is begun anew where its pair turns out to be in no valid point, which is soon
    known of all such pairs: ``count`` is to be small.
    """
    found = {way: {"begun": 0, "discarded": 0} for way in ("steered", "uniform", "invalid")}
    for family in FAMILIES:
        steering = Steering(family.axes)
        for choice in range(count):
            steering.point(choice)
        lost = steering.discarded
        _count(found["steered"], count + lost, lost)
        for way, strategy in (("uniform", cases(family)), ("invalid", st.one_of(family.invalid))):
            begun: list[None] = []
            kept = len(draw(_counting(strategy, begun), count, seed))
            _count(found[way], len(begun), len(begun) - kept)
    return found


def _count(counts: dict[str, int], begun: int, lost: int) -> None:
    counts["begun"] += begun
    counts["discarded"] += lost


@st.composite
def _counting(draw: st.DrawFn, strategy: st.SearchStrategy[Case], begun: list[None]) -> Case:
    begun.append(None)
    return draw(strategy)
