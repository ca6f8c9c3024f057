"""Problems for the analyzer at points drawn by weight, for tests and benchmarks."""

import random
from collections.abc import Iterator

from relaxcheck.generators.core.axes import Point
from relaxcheck.generators.expressions.drawing import AXES, drawn_by
from relaxcheck.generators.expressions.subject import Problem

_CHOICES = {
    axis.name: tuple(value for value in axis.values for _ in range(axis.weight(value)))
    for axis in AXES
}


def draw(seed: int) -> tuple[Point, Problem]:
    """A point and a problem at it, from ``seed``: the same on every machine."""
    source = random.Random(seed)
    point = {name: values[int(source.random() * len(values))] for name, values in _CHOICES.items()}
    return point, drawn_by(point, source)


def problems(seed: int, count: int) -> Iterator[Problem]:
    """``count`` problems, each from a seed of its own that ``seed`` decides."""
    for number in range(count):
        yield draw(seed * 1_000_003 + number)[1]
