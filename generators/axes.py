"""Axes: what can vary in a family, declared as data.

The same declaration draws a case, names its coverage cell, spans the exhaustive grid and the
covering array, and says what a failure is blamed on. A *point* gives every axis one of its values;
a family builds exactly one case from a point and reads the point back from the case.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from hypothesis import strategies as st

if TYPE_CHECKING:
    from generators.cases import AnyCase
    from generators.program import Case

Value = bool | int | str | None
Point = Mapping[str, Value]


_SIMPLER = 6


def _always(point: Point, value: Value) -> bool:
    return True


def itself(value: Value) -> Value:
    """The cell of ``value`` where each value is a cell of its own."""
    return value


@dataclass(frozen=True, slots=True)
class Axis:
    """One thing that varies.

    ``allowed(point, value)`` says whether ``value`` makes a valid program together with the values
    that ``point`` gives to the *earlier* axes of the family; for every reachable point some value
    is allowed. Values are in order of interest: the first is the simplest. The default is drawn
    ``default_weight`` times as often as a value of weight 1: where most values lead to one known
    fault, cases that get past it are wanted too; ``weights`` are those of other values, where not
    1. ``cell(value)`` is the coverage cell that ``value`` lies in: itself, unless there are too
    many values for each to meet every value of every other axis. Where not ``steered``, an axis is
    drawn by weight whatever was drawn before: one value of it costs more than the others. ``least``
    are the values that leave loops the fewest iterations, the best one first.
    """

    name: str
    values: tuple[Value, ...]
    default: Value
    allowed: Callable[[Point, Value], bool] = field(default=_always, repr=False)
    default_weight: int = 1
    weights: Mapping[Value, int] = field(default_factory=dict, hash=False)
    cell: Callable[[Value], Value] = field(default=itself, repr=False)
    steered: bool = True
    least: tuple[Value, ...] = ()

    def __post_init__(self) -> None:
        if self.default not in self.values:
            raise ValueError(f"axis {self.name}: the default {self.default!r} is not a value")
        if len(set(map(repr, self.values))) != len(self.values):
            raise ValueError(f"axis {self.name}: a value occurs twice")

    def has(self, value: Value) -> bool:
        """Whether ``value`` is one of the values; ``True`` is not 1."""
        return any(value == one and type(value) is type(one) for one in self.values)

    def weight(self, value: Value) -> int:
        """How often ``value`` is drawn, as a multiple of the rarest."""
        return self.default_weight if value == self.default else self.weights.get(value, 1)

    def choices(self, point: Point) -> tuple[Value, ...]:
        """The values allowed after the values that ``point`` gives to earlier axes."""
        return tuple(value for value in self.values if self.allowed(point, value))


class Family(Protocol):
    """What the engine needs of a family of cases."""

    @property
    def name(self) -> str:
        """What a case's ``family`` says."""

    @property
    def axes(self) -> tuple[Axis, ...]:
        """All axes, those that others depend on first."""

    def build(self, point: Point, seed: int) -> "AnyCase":
        """The one case at ``point``, its input values drawn from ``seed``."""

    def point(self, case: "AnyCase") -> Point:
        """The point of ``case``: ``build(point(case), case.seed)`` equals ``case``, fixes aside.

        Raises:
            ValueError: the case does not lie on the axes' grid of points.
        """

    @property
    def invalid(self) -> tuple[st.SearchStrategy["AnyCase"], ...]:
        """For each way to make a program invalid, such cases, with what an error must name."""


class ProgramFamily(Family, Protocol):
    """A family whose cases are programs."""

    def build(self, point: Point, seed: int) -> "Case":
        """The one case at ``point``, its input values drawn from ``seed``."""


SEEDS = st.integers(0, 2**32 - 1)


@st.composite
def points(draw: st.DrawFn, axes: Sequence[Axis]) -> Point:
    """Points that are valid by construction: each axis in order, from the values still allowed."""
    point: dict[str, Value] = {}
    for axis in axes:
        choices = axis.choices(point)
        more = [value for value in choices for _ in range(axis.weight(value) - 1)]
        point[axis.name] = draw(st.sampled_from((*choices, *more)), label=axis.name)
    return point


@st.composite
def cases(draw: st.DrawFn, family: Family) -> "AnyCase":
    """The valid cases of ``family``."""
    point = draw(points(family.axes))
    return family.build(point, draw(SEEDS))


def is_valid(axes: Sequence[Axis], point: Point) -> bool:
    """Whether every value of ``point`` is allowed after the earlier ones.

    ``point`` may be partial: axes it does not name are passed over (a covering-array library
    builds its rows value by value).
    """
    return all(axis.allowed(point, point[axis.name]) for axis in axes if axis.name in point)


def complete(axes: Sequence[Axis], chosen: Point) -> Point:
    """``chosen`` with every other axis at its default, or the first allowed value.

    Raises:
        ValueError: a chosen value is not allowed at the point that results.
    """
    point: dict[str, Value] = {}
    for axis in axes:
        choices = axis.choices(point)
        if axis.name in chosen:
            if chosen[axis.name] not in choices:
                raise ValueError(f"axis {axis.name}: {chosen[axis.name]!r} is not allowed here")
            point[axis.name] = chosen[axis.name]
        else:
            point[axis.name] = axis.default if axis.default in choices else choices[0]
    return point


def non_default(axes: Sequence[Axis], point: Point) -> tuple[str, ...]:
    """The names of the axes whose value in ``point`` is not the default, in the axes' order."""
    return tuple(axis.name for axis in axes if point[axis.name] != axis.default)


def simpler(axes: Sequence[Axis], point: Point, axis: Axis) -> Iterator[Point]:
    """Valid points that are simpler than ``point`` along ``axis``, the simplest first.

    The default first, then the first few of the values listed before the present one. Other axes
    whose value the change forbids move to their default or first allowed value.
    """
    value = point[axis.name]
    if value == axis.default:
        return
    before = axis.values[: axis.values.index(value)][:_SIMPLER]
    for candidate in dict.fromkeys((axis.default, *before)):
        changed = settle(axes, {**point, axis.name: candidate}, (axis.name,))
        if changed is not None:
            yield changed


def with_defaults(axes: Sequence[Axis], point: Point, names: Sequence[str]) -> Point | None:
    """``point`` with the axes ``names`` at their defaults, or None where that is not valid."""
    defaults = {axis.name: axis.default for axis in axes if axis.name in names}
    return settle(axes, {**point, **defaults}, names)


def settle(axes: Sequence[Axis], wanted: Point, fixed: Sequence[str]) -> Point | None:
    """``wanted`` made valid without touching the axes ``fixed``, or None where that cannot be."""
    point: dict[str, Value] = {}
    for axis in axes:
        choices = axis.choices(point)
        value = wanted[axis.name]
        if value not in choices:
            if axis.name in fixed:
                return None
            value = axis.default if axis.default in choices else choices[0]
        point[axis.name] = value
    return point


def run_axes(pipelines: Sequence[str]) -> tuple[Axis, ...]:
    """The axes that every family of Relax programs shares: how a program is compiled and fed."""
    return (
        Axis("pipeline", tuple(pipelines), pipelines[0]),
        Axis("exec_mode", ("bytecode", "compiled"), "bytecode"),
        Axis("opt_level", (0, 3), 0, default_weight=9, steered=False),
        # Exact results leave a fault no room at all: more than a third, steering or not.
        Axis(
            "regime",
            ("normal", "exact", "boundary", "special"),
            "normal",
            default_weight=4,
            weights={"exact": 4},
        ),
    )
