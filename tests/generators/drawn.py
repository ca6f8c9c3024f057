"""Families and points that the tests of the generators share."""

import random
from collections.abc import Sequence

import pytest

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.families import families

PIPELINES = ("build", "legalize-first", "convert-layout")
FAMILIES = families(PIPELINES)

WIDE = tuple(family for family in FAMILIES if family.record.own is not None)
"""Families with so many axes and values that it takes thought to cover them."""

many = pytest.mark.parametrize("count", [75, pytest.param(300, marks=pytest.mark.slow)])
"""Gives a test the number of points that it takes of each family."""


def at_random(axes: Sequence[Axis], count: int, seed: int = 0) -> list[Point]:
    """``count`` valid points."""
    rng = random.Random(seed)
    result: list[Point] = []
    for _ in range(count):
        point: dict[str, Value] = {}
        for axis in axes:
            point[axis.name] = rng.choice(axis.choices(point))
        result.append(point)
    return result
