"""Steering: points drawn at random, but towards the pairs of cells that no point has had yet.

Each point is made to have one pair still missing, chosen at random, sooner of two axes that miss
many, since a point has one pair of them. Every other axis draws its value by weight; each missing
pair that the value makes with those already there adds to its weight.
When nothing else is missing, points are made to have the missing pairs of the axes that are not
steered; when these are drawn too, the weights of ``weights`` alone are left. Some points are small:
most of their axes, or all, have their least value, and the pair is one that allows that. Some are
plain: most of the axes beside the pair, or all, have their default.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from math import lcm

import numpy as np
from numpy.typing import NDArray

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.coverage.covering import Order, complete_with
from relaxcheck.generators.core.coverage.pairs import Pairs

_SMALL = 8
"""One point in so many is small: its axes mostly have the least value that is allowed. Loops of one
iteration are what a compiler simplifies most, and hardly come together by chance."""

_PLAIN = 6
"""One other point in so many is plain: its axes mostly have their default. A size of 0 or 1, or an
attribute that has the operator ignore another one, hides most faults, and a point of chance has
some such value."""

_MOSTLY = (0.75, 1.0, 1.0)
"""Shares of the axes of a small point that have their least value; each point draws a share."""

_PLAINLY = (0.8, 0.9, 0.95)
"""Shares of the axes of a plain point that have their default: seldom all, whatever its pair is."""

_TRIED = 8
"""Missing pairs of which the most pressing one is taken."""

_PULL = 20
"""The multiple of its own weight that a value gains for each missing pair."""


class Steering:
    """Draws points of ``axes``, each towards what the points before it left out.

    The same choices in the same order give the same points on every machine: weights are integers.
    ``impossible`` holds the pairs of cells (by number) known to be in no valid point; ``discarded``
    counts the points given up because they were to have such a pair.
    """

    def __init__(self, axes: Sequence[Axis]):
        self.axes = axes
        self.pairs, self.impossible = possible(axes)
        self.discarded = 0
        self._by_weight = tuple(axis for axis in axes if not axis.steered)
        # No point is made to have their pairs while others are missing: they only pull.
        self._left_to_chance, _ = possible(axes)
        for axis in self._by_weight:
            self.pairs.leave_out(axis.name)
        self._left_to_chance.missing &= ~self.pairs.missing
        self._weights = {axis.name: weights(axis) for axis in axes}
        small = np.zeros(len(self.pairs.cells), np.bool_)
        for axis in axes:
            numbers = dict(zip(axis.values, self.pairs.numbers[axis.name], strict=True))
            small[[numbers[value] for value in axis.least[:1] or axis.values]] = True
        self._small = np.outer(small, small)

    def point(self, choice: int) -> Point:
        """A valid point, decided by ``choice`` and the points drawn before.

        Raises:
            ValueError: the axes have no valid point.
        """
        source = random.Random(choice)
        small = source.choice(_MOSTLY) if source.randrange(_SMALL) == 0 else 0.0
        plain = source.choice(_PLAINLY) if not small and source.randrange(_PLAIN) == 0 else 0.0
        while True:
            missing = self.pairs.missing
            if not small and not missing.any():
                missing = self._left_to_chance.missing
            # A small point is only made to have what leaves it small.
            pair = self._most_pressing(missing & self._small if small else missing, source)
            point = complete_with(self.axes, {}, self._order(source, pair, small, plain))
            if point is not None:
                self.pairs.strike([point])
                self._left_to_chance.strike([point])
                return point
            if pair is None:
                raise ValueError("the axes have no valid point")
            self.discarded += 1
            self.impossible.append(pair)
            self.pairs.give_up(*pair)
            self._left_to_chance.give_up(*pair)

    def _most_pressing(
        self, missing: NDArray[np.bool_], source: random.Random
    ) -> tuple[int, int] | None:
        """Of a few pairs of ``missing``, the one whose two axes miss the most; None if none is."""
        chosen = np.flatnonzero(missing)
        if not len(chosen):
            return None
        some = (int(chosen[source.randrange(len(chosen))]) for _ in range(_TRIED))
        return max((divmod(each, len(missing)) for each in some), key=self._missing_beside)

    def _missing_beside(self, pair: tuple[int, int]) -> int:
        """The number of missing pairs of the two axes of ``pair``."""
        first, second = (self.pairs.spans[self.pairs.cells[number][0]] for number in pair)
        return int(np.count_nonzero(self.pairs.missing[first, second]))

    def _order(
        self, source: random.Random, pair: tuple[int, int] | None, small: float, plain: float
    ) -> Order:
        """Orders the values of each axis at random by weight, leaving out what ``pair`` rules out.

        As often as ``small`` says, the least values come before all others; as ``plain`` says, the
        default does. What comes after the first value is asked for only where the first leads
        nowhere.

        An axis that is not steered takes a value by its weights alone, but before all others, so
        that these complete its pairs.
        """
        wanted = {self.pairs.cells[number][0]: number for number in pair or ()}
        ahead: dict[str, Value] = {}
        for axis in self._by_weight:
            (value,) = source.choices(axis.values, self._weights[axis.name])
            if axis.name not in wanted:
                ahead[axis.name] = value
        by_chance = self._left_to_chance.all_gains(ahead)

        def order(axis: Axis, point: Point) -> Iterator[Value]:
            if axis.name not in wanted and source.random() < small:
                yield from axis.least
            if axis.name not in wanted and plain and source.random() < plain:
                yield axis.default
            if axis.name in ahead:
                yield ahead[axis.name]
            left = [
                (value, weight * (1 + _PULL * (gain + other)))
                for value, number, weight, gain, other in zip(
                    axis.values,
                    self.pairs.numbers[axis.name],
                    self._weights[axis.name],
                    self.pairs.gains(axis.name, point),
                    by_chance[axis.name],
                    strict=True,
                )
                if wanted.get(axis.name, number) == number
            ]
            while left:
                (at,) = source.choices(range(len(left)), [weight for _, weight in left])
                yield left.pop(at)[0]

        return order


def possible(axes: Sequence[Axis]) -> tuple[Pairs, list[tuple[int, int]]]:
    """The pairs of cells of ``axes``, and those (by number) that were taken out as impossible.

    Some of the pairs that are left may be impossible as well, for what three axes or more say.
    """
    pairs = Pairs(axes)
    impossible = list(excluded(tuple(axes)))
    for pair in impossible:
        pairs.give_up(*pair)
    return pairs, impossible


@lru_cache(maxsize=2048)
def excluded(axes: tuple[Axis, ...]) -> tuple[tuple[int, int], ...]:
    """The pairs that one axis rules out whatever the values of all others are.

    A campaign asks of all its families, to draw and to count: what was found is kept.
    """
    return tuple(_ruled_out(axes, Pairs(axes)))


def _ruled_out(axes: Sequence[Axis], pairs: Pairs) -> Iterator[tuple[int, int]]:
    for at, axis in enumerate(axes):
        judged = dict(zip(pairs.numbers[axis.name], axis.values, strict=True))
        for earlier in axes[:at]:
            there = dict(zip(pairs.numbers[earlier.name], earlier.values, strict=True))
            for (cell, assumed), (other, value) in product(there.items(), judged.items()):
                if not axis.allowed({earlier.name: assumed}, value):
                    yield cell, other


def weights(axis: Axis) -> tuple[int, ...]:
    """The relative weight of each value of ``axis`` in a draw.

    All cells but the default's weigh the same, and split their weight evenly among their values, so
    that a cell with many values does not drown the others. ``axis.weight`` multiplies this.
    """
    sizes = Counter(repr(axis.cell(value)) for value in axis.values if value != axis.default)
    others, common = len(axis.values) - 1, lcm(*sizes.values())
    return tuple(
        axis.weight(value)
        * (
            max(len(sizes), 1) * common
            if value == axis.default
            else others * common // sizes[repr(axis.cell(value))]
        )
        for value in axis.values
    )
