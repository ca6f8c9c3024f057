"""Families and points that the tests of the generators share."""

import random
from collections.abc import Sequence

from generators.axes import Axis, Point, Value
from generators.families import families

PIPELINES = ("build", "legalize-first", "convert-layout")
FAMILIES = families(PIPELINES)


def at_random(axes: Sequence[Axis], count: int, seed: int = 0) -> list[Point]:
    """``count`` valid points."""
    rng = random.Random(seed)
    found: list[Point] = []
    for _ in range(count):
        point: dict[str, Value] = {}
        for axis in axes:
            point[axis.name] = rng.choice(axis.choices(point))
        found.append(point)
    return found
