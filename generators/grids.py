"""Grids: the points of the ranges of some variables, all of them or some that are telling."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generators.expressions import LIMITS, Variable

Array = NDArray[Any]

POINTS = 4096
"""No grid has more points; one that would has some of its variables' values only."""

_LOW, _HIGH = LIMITS["int64"]


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Points: for each variable its value at each, as a vector of length ``size``.

    ``whole`` says that they are all points there are; what holds at all of others is not proved.
    """

    variables: tuple[Variable, ...]
    columns: Mapping[str, Array]
    size: int
    whole: bool

    def binding(self, index: int) -> dict[str, int]:
        """The values of the variables at point number ``index``."""
        return {name: int(column[index]) for name, column in self.columns.items()}


@lru_cache(maxsize=1024)
def grid(variables: tuple[Variable, ...], limit: int = POINTS) -> Grid:
    """All points of the ranges of ``variables``, the last one varying fastest.

    Where they are more than ``limit``, the widest ranges are thinned to values near their ends,
    near zero and near powers of two, until they are not.
    """
    axes = [range(each.low, each.high + 1) for each in variables]
    chosen: list[Sequence[int]] = list(axes)
    thinned = 0
    while prod(map(_length, chosen)) > limit:
        widest = max(range(len(chosen)), key=lambda number: _length(chosen[number]))
        if isinstance(chosen[widest], range):
            chosen[widest] = _notable(variables[widest])
        else:  # Every second one, the ends kept: they are where what is wrong shows first.
            kept = chosen[widest]
            chosen[widest] = [*kept[:-1:2], kept[-1]]
        thinned += 1
    points = list(product(*chosen))
    columns = {
        each.name: _vector([point[number] for point in points])
        for number, each in enumerate(variables)
    }
    return Grid(variables, columns, len(points), not thinned)


def _length(values: Sequence[int]) -> int:
    # len() refuses ranges of 2**63 and more.
    return values.stop - values.start if isinstance(values, range) else len(values)


def _notable(declared: Variable) -> list[int]:
    low, high = declared.low, declared.high
    near = [sign * 2**power for power in range(64) for sign in (1, -1)]
    middle = [0, low, high, (low + high) // 2, *near]
    candidates = {value + off for value in middle for off in (-1, 0, 1)}
    return sorted(value for value in candidates if low <= value <= high)


def _vector(values: list[int]) -> Array:
    wide = any(not _LOW <= value <= _HIGH for value in values)
    vector = np.array(values, dtype=object if wide else np.int64)
    vector.setflags(write=False)
    return vector
