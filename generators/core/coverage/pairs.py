"""Pairs of cells: which values of two axes have met in a point, and which have not yet.

A *cell* is a value of an axis, or a class of values where the axis declares classes.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value


class Pairs:
    """The pairs of cells of two different axes that no point given so far has.

    Cells are numbered over all axes, in the axes' order: ``cells`` gives each one's axis and name,
    ``numbers`` the cell of each value of an axis, ``spans`` the cells of all its values.
    ``missing`` is symmetric, cells by cells.
    """

    def __init__(self, axes: Sequence[Axis]):
        self.cells: list[tuple[str, Value]] = []
        self.numbers: dict[str, tuple[int, ...]] = {}
        # True is not 1, nor is False 0.
        self._number: dict[tuple[str, type, Value], int] = {}
        self.spans: dict[str, slice] = {}
        self._places: dict[str, NDArray[np.intp]] = {}
        starts = [0]
        for axis in axes:
            numbers: dict[str, int] = {}
            for value in axis.values:
                cell = axis.cell(value)
                if repr(cell) not in numbers:
                    numbers[repr(cell)] = len(self.cells)
                    self.cells.append((axis.name, cell))
                self._number[axis.name, type(value), value] = numbers[repr(cell)]
            self.numbers[axis.name] = tuple(
                self._number[axis.name, type(value), value] for value in axis.values
            )
            starts.append(len(self.cells))
            self.spans[axis.name] = slice(*starts[-2:])
            self._places[axis.name] = np.array(self.numbers[axis.name], np.intp) - starts[-2]
        self.missing: NDArray[np.bool_] = np.ones((starts[-1], starts[-1]), np.bool_)
        for start, stop in pairwise(starts):
            self.missing[start:stop, start:stop] = False

    def strike(self, points: Iterable[Point]) -> None:
        """Take out the pairs that ``points`` have."""
        for point in points:
            here = self._cells_of(point)
            self.missing[np.ix_(here, here)] = False

    def give_up(self, cell: int, other: int) -> None:
        """Take out the pair of the cells ``cell`` and ``other``, which no valid point has."""
        self.missing[cell, other] = self.missing[other, cell] = False

    def leave_out(self, name: str) -> None:
        """Take out all pairs of the axis ``name``."""
        numbers = list(self.numbers[name])
        self.missing[numbers, :] = self.missing[:, numbers] = False

    def all_gains(self, point: Point) -> dict[str, list[int]]:
        """``gains`` for each axis, by its name."""
        gains = self.missing[self._cells_of(point)].sum(axis=0)
        return {name: gains[list(numbers)].tolist() for name, numbers in self.numbers.items()}

    def gains(self, name: str, point: Point) -> list[int]:
        """For each value of the axis ``name``: its missing pairs with the cells of ``point``."""
        places = self._places[name]
        if not self.missing.any():
            return [0] * len(places)
        missing = self.missing[self._cells_of(point), self.spans[name]].sum(axis=0)
        gains: list[int] = missing[places].tolist()
        return gains

    @property
    def count(self) -> int:
        """The number of missing pairs."""
        return int(np.count_nonzero(self.missing)) // 2

    def _cells_of(self, point: Point) -> list[int]:
        return [self._number[name, type(value), value] for name, value in point.items()]
