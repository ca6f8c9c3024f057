"""Axes that many operators have, and how their values are read."""

from collections.abc import Sequence

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value as Choice
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.operand import RANK, Fits, at_least
from relaxcheck.generators.core.points import Given, integer, text
from relaxcheck.generators.core.program import Attribute

INTEGERS = ("int32", "int8", "uint8", "int64")
"""The integer dtypes that records draw."""


def axis_choice(name: str = "axis", default: int = -1) -> Axis:
    """One axis of the operand, counted from the front or from the end."""
    return Axis(
        name,
        (-1, 0, 1, 2, 3, 4, -2, -3, -4, -5),
        default,
        Given((RANK,), lambda rank, value: -rank <= value < rank),
    )


def axes_choice(name: str = "axis") -> Axis:
    """Several axes of the operand, or None for all; read by ``numbers``."""
    values = ("-1", "0", None, "1", "0, 1", "0, -1", "-2, -1", "1, 2", "0, 2", "0, 1, 2")
    return Axis(name, values, "-1", Given((RANK,), _distinct))


def _distinct(rank: int, value: str | None) -> bool:
    if value is None:
        return True
    axes = [int(part) for part in value.split(", ")]
    inside = all(-rank <= axis < rank for axis in axes)
    return inside and len({axis % rank for axis in axes}) == len(axes)


def numbers(point: Point, name: str) -> tuple[int, ...] | None:
    """The integers at axis ``name``: "0, -1" is (0, -1), and None stays None."""
    if point[name] is None:
        return None
    return tuple(int(part) for part in text(point, name).split(", "))


def counted(axes: Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """``axes`` counted from the front, ascending; all of them where None."""
    return tuple(range(rank)) if axes is None else tuple(sorted(axis % rank for axis in axes))


def decimal(point: Point, name: str) -> dict[str, Attribute]:
    """The attribute ``name`` with the number written at its axis; none where that is None."""
    if point[name] is None:
        return {}
    number = float(text(point, name))
    return {name: int(number) if number.is_integer() else number}


EXTENTS = (2, 1, 5, "first", "last", "symbol")
"""Sizes of an axis that an operand brings along: numbers, the first or last dimension of the
operand at hand, or a symbol that this one lacks."""


def extent_choice(name: str, values: tuple[Choice, ...] = EXTENTS) -> Axis:
    """The size of a new axis; read by ``extent``."""
    return Axis(
        name,
        values,
        values[0],
        # The only dimension is the first one.
        Given((RANK,), lambda rank, value: rank > (value == "last")),
    )


def extent(draft: Draft, value: Value, point: Point, name: str) -> Dim:
    """The dimension at the axis ``name``, one of ``EXTENTS``."""
    match point[name]:
        case "first":
            return value.shape[0]
        case "last":
            return value.shape[-1]
        case "symbol":
            return draft.symbol_beside(value)
    return integer(point, name)


def replaced(shape: Sequence[Dim], axis: int, *dims: Dim) -> tuple[Dim, ...]:
    """``shape`` with ``dims`` in place of ``axis``, which counts from the front."""
    return (*shape[:axis], *dims, *shape[axis + 1 :])


def nonempty_axis(name: str = "axis", *, all_axes: bool = False) -> Axis:
    """As ``axis_choice``, but the axis has an element; also None, for all, where ``all_axes``."""

    def holds(shape: Sequence[Dim], axis: int | None) -> bool:
        if axis is None:
            return all(at_least(dim, 1) for dim in shape)
        return -len(shape) <= axis < len(shape) and at_least(shape[axis], 1)

    values: tuple[Choice, ...] = (-1, 0, 1, 2, 3, -2, -3, -4)
    return Axis(name, (*values, None) if all_axes else values, -1, Fits(holds))


def has_no_zero(shape: Sequence[Dim]) -> bool:
    """Return True if no static dimension is 0."""
    return all(at_least(dim, 1) for dim in shape)
