"""Sets of points in which every pair of values occurs.

A covering array of strength 2 holds, for every two axes, every pair of their values that some
valid point has. The library covertable makes it for the narrow axes; it takes minutes when axes
with more than a hundred values or constraints join in, so wide axes are laid out by arithmetic (two
as a full product, the others as Latin squares over it), and what validity then takes away is put
back by rows found by search.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from covertable import make

from relaxcheck.generators.core.axes import Axis, Point, itself
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.coverage.pairs import Pairs
from relaxcheck.generators.core.points import to_blame

WIDE = 20
"""An axis with more values than this is laid out by arithmetic."""

Order = Callable[[Axis, Point], Iterable[Value]]


def default_first(axis: Axis, _: Point) -> Sequence[Value]:
    """The default of ``axis``, then its other values in their order."""
    return (axis.default, *(value for value in axis.values if value != axis.default))


def complete_with(
    axes: Sequence[Axis], chosen: Point, order: Order = default_first
) -> Point | None:
    """A valid point that has the values ``chosen``, or None if there is none.

    Every other axis takes the first value in ``order(axis, point so far)`` that leads to a valid
    point. A dead end goes back to the last axis that has to do with it.
    """
    names = [axis.name for axis in axes]
    point: dict[str, Value] = {}

    def dead_end(at: int) -> set[str] | None:
        """The axes to blame when there is no valid rest from axis number ``at`` on."""
        if at == len(axes):
            return None
        axis = axes[at]
        fixed = axis.name in chosen
        blamed: set[str] = set()
        for value in (chosen[axis.name],) if fixed else order(axis, point):
            if not axis.allowed(point, value):
                blamed.update(to_blame(axis, names[:at], point, value))
                continue
            point[axis.name] = value
            deeper = dead_end(at + 1)
            if deeper is None:
                return None
            del point[axis.name]
            if axis.name not in deeper:
                return deeper
            blamed |= deeper - {axis.name}
        return blamed

    return point if dead_end(0) is None else None


def covering(axes: Sequence[Axis]) -> tuple[Point, ...]:
    """Valid points in which every pair of values of two axes occurs that occurs in any valid point.

    The same axes give the same points, in the same order.
    """
    rows: list[Point] = [_settled(axes, row, at) for at, row in enumerate(_unconstrained(axes))]
    rows = list({tuple(row.items()): row for row in rows}.values())
    missing = uncovered(axes, rows)
    for cell, other in np.argwhere(np.triu(missing.missing)).tolist():
        if missing.missing[cell, other]:
            chosen = dict((missing.cells[cell], missing.cells[other]))
            row = complete_with(axes, chosen, _most_missing(missing, chosen))
            if row is not None:
                rows.append(row)
                missing.strike([row])
    return tuple(rows)


def uncovered(axes: Sequence[Axis], rows: Iterable[Point]) -> Pairs:
    """The pairs that are in no row; here each value is a cell of its own."""
    missing = Pairs([replace(axis, cell=itself) for axis in axes])
    missing.strike(rows)
    return missing


def _most_missing(missing: Pairs, chosen: Point) -> Order:
    """An order that prefers the values in the most pairs still missing with those already there."""

    def order(axis: Axis, point: Point) -> Sequence[Value]:
        gains = missing.gains(axis.name, {**chosen, **point})
        return [axis.values[at] for at in np.argsort(-np.array(gains), kind="stable")]

    return order


def _unconstrained(axes: Sequence[Axis]) -> list[dict[str, Value]]:
    """Rows that hold every pair of values, as if every value were allowed everywhere."""
    narrow = {
        str(at): list(range(len(axis.values)))
        for at, axis in enumerate(axes)
        if len(axis.values) <= WIDE
    }
    wide = sorted(
        (at for at, axis in enumerate(axes) if len(axis.values) > WIDE),
        key=lambda at: -len(axes[at].values),
    )
    if len(wide) == 1:
        return list(_shifted(axes, wide[0]))
    made: list[Mapping[str, int]] = make(narrow, strength=2)
    rows = []
    for numbers in _latin([len(axes[at].values) for at in wide], len(made)):
        row = {at: made[numbers[-1]][str(at)] for at in range(len(axes)) if str(at) in narrow}
        row |= dict(zip(wide, numbers, strict=False))
        rows.append({axis.name: axis.values[row[at]] for at, axis in enumerate(axes)})
    return rows


def _shifted(axes: Sequence[Axis], wide: int) -> Iterator[dict[str, Value]]:
    """Rows in which each value of the axis number ``wide`` meets every value of all other axes.

    For each of its values the others run through theirs in step, from places of their own. The
    places are a fixed sequence without pattern, which leaves next to no pair of the others out.
    """
    places = np.random.Philox(key=len(axes)).random_raw(len(axes[wide].values) * len(axes))
    steps = max(len(axis.values) for at, axis in enumerate(axes) if at != wide)
    for number, step in product(range(len(axes[wide].values)), range(steps)):
        start = places[number * len(axes) : (number + 1) * len(axes)].tolist()
        yield {
            axis.name: axis.values[number if at == wide else (start[at] + step) % len(axis.values)]
            for at, axis in enumerate(axes)
        }


def _latin(sizes: Sequence[int], last: int) -> Iterator[tuple[int, ...]]:
    """Tuples of one number below each of ``sizes`` (descending) and one below ``last``.

    There is no size, or two or more.

    The first two sizes span a full product of rows ``i, j``; the number for each later one is
    ``(i + step * j) mod size``, which for every ``i`` and for nearly every ``j`` takes all values.
    """
    if not sizes:
        for k in range(last):
            yield (k,)
        return
    for i, j in product(range(sizes[0]), range(sizes[1])):
        later = [(i + step * j) % size for step, size in enumerate(sizes[2:], start=1)]
        yield (i, j, *later, (i + len(sizes) * j) % last)


def _settled(axes: Sequence[Axis], wanted: Point, turn: int) -> dict[str, Value]:
    """``wanted`` with each value that is not allowed replaced, ``turn`` choosing by what."""
    point: dict[str, Value] = {}
    for axis in axes:
        value = wanted[axis.name]
        if not axis.allowed(point, value):
            choices = axis.choices(point)
            value = choices[turn % len(choices)]
        point[axis.name] = value
    return point
