"""Grids: the points of the ranges of some variables, all of them or some that are telling."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxcheck.generators.expressions.language import LIMITS, Variable

Array = NDArray[Any]

POINTS = 4096
"""No grid has more points; one that would has some of its variables' values only."""

_LOW, _HIGH = LIMITS["int64"]


class Values(NamedTuple):
    """An expression at every point of a grid.

    ``values`` is a vector of the grid's length, or a scalar where it is the same everywhere; what
    stands where ``invalid`` holds means nothing. ``invalid`` is None where that is nowhere. All
    values are from ``low`` to ``high``.

    ``lost`` is the part of ``invalid`` where what has no value is used, and ``traps`` the part of
    that where to compute it ends the process, used or not. Only where ``invalid`` does not hold is
    a value claimed; only where ``lost`` holds is it wrong to compute the expression.
    """

    values: Any
    low: int
    high: int
    invalid: Any
    lost: Any = None
    traps: Any = None


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Points: for each variable its value at each, as a vector of length ``size``.

    ``leaves`` are the same with the ends of the ranges.
    ``whole`` says that they are all points there are; what holds at all of others is not proved.
    """

    variables: tuple[Variable, ...]
    columns: Mapping[str, Array]
    leaves: Mapping[str, Values]
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
    size = prod(map(_length, chosen))
    columns, before = {}, 1
    for each, values in zip(variables, chosen, strict=True):
        count = _length(values)
        vector = np.tile(np.repeat(_vector(values), size // (before * count)), before)
        vector.setflags(write=False)
        columns[each.name], before = vector, before * count
    leaves = {
        each.name: Values(columns[each.name], each.low, each.high, None) for each in variables
    }
    return Grid(variables, columns, leaves, size, not thinned)


def _length(values: Sequence[int]) -> int:
    # len() refuses ranges of 2**63 and more.
    return values.stop - values.start if isinstance(values, range) else len(values)


def _notable(declared: Variable) -> list[int]:
    low, high = declared.low, declared.high
    near = [sign * 2**power for power in range(64) for sign in (1, -1)]
    middle = [0, low, high, (low + high) // 2, *near]
    candidates = {value + off for value in middle for off in (-1, 0, 1)}
    return sorted(value for value in candidates if low <= value <= high)


def _vector(values: Sequence[int]) -> Array:
    wide = len(values) > 0 and not _LOW <= values[0] <= values[-1] <= _HIGH
    return np.array(values, dtype=object if wide else np.int64)
