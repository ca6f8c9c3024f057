"""Few points in which every value of every axis occurs, most of them at once."""

from collections.abc import Callable, Sequence

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.coverage.covering import complete_with, default_first


def every_value(axes: Sequence[Axis]) -> tuple[Point, ...]:
    """Valid points in which every value of every axis occurs.

    A value without a valid point is left out.
    """
    return _each_once(axes, lambda axis, value: value)


def every_cell(axes: Sequence[Axis]) -> tuple[Point, ...]:
    """As ``every_value``, with a value of every cell of every axis."""
    return _each_once(axes, lambda axis, value: axis.cell(value))


def _each_once(axes: Sequence[Axis], of: Callable[[Axis, Value], Value]) -> tuple[Point, ...]:
    """Valid points in which all that ``of`` makes of the values of an axis occurs."""
    missing = {axis.name: {repr(of(axis, value)) for value in axis.values} for axis in axes}
    by_name = {axis.name: axis for axis in axes}

    def is_missing(axis: Axis, value: Value) -> bool:
        return repr(of(axis, value)) in missing[axis.name]

    def missing_first(axis: Axis, point: Point) -> Sequence[Value]:
        return sorted(default_first(axis, point), key=lambda value: not is_missing(axis, value))

    rows = []
    for axis in axes:
        for value in axis.values:
            if is_missing(axis, value):
                row = complete_with(axes, {axis.name: value}, missing_first)
                if row is not None:
                    rows.append(row)
                    for taken, own in row.items():
                        missing[taken].discard(repr(of(by_name[taken], own)))
    return tuple(rows)
