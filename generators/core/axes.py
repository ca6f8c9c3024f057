"""Axes: what can vary in a family, declared as data.

The same declaration draws a case, names its coverage cell, spans the exhaustive grid and the
covering array, and says what a failure is blamed on. A *point* gives every axis one of its values;
a family builds exactly one case from a point and a seed, and the case keeps the point as ``at``.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import takewhile
from typing import Protocol, TypeGuard

from hypothesis import strategies as st
from msgspec import UNSET

from relaxcheck.extensions.naming import is_own
from relaxcheck.generators.core.case import AnyCase, Value
from relaxcheck.generators.core.program import USUAL_REGIMES, WHOLE_RANGE, Case

_ALIKE = 0.7
"""The least similarity, from 0 to 1, of names of families that are suggested."""

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
    are the values that leave loops the fewest iterations, the best one first. ``familiar`` are the
    values that people use, in the order in which reduction prefers them to all others, smaller
    sizes included. ``words`` say in a title what ``{}``, the value, is, for an axis that is no
    attribute of an operator.
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
    familiar: tuple[Value, ...] = ()
    words: str = ""

    def __post_init__(self) -> None:
        if self.default not in self.values:
            raise ValueError(f"axis {self.name}: the default {self.default!r} is not a value")
        if len(set(map(repr, self.values))) != len(self.values):
            raise ValueError(f"axis {self.name}: a value occurs twice")
        if strange := [value for value in self.familiar if not self.has(value)]:
            raise ValueError(f"axis {self.name}: {strange[0]!r} is not a value")

    def has(self, value: Value) -> bool:
        """Return True if ``value`` is one of the values; ``True`` is not 1."""
        return any(value == known and type(value) is type(known) for known in self.values)

    def weight(self, value: Value) -> int:
        """The weight of ``value`` in a draw, as a multiple of the rarest value's."""
        return self.default_weight if value == self.default else self.weights.get(value, 1)

    def choices(self, point: Point) -> tuple[Value, ...]:
        """The values allowed after the values that ``point`` gives to earlier axes."""
        return tuple(value for value in self.values if self.allowed(point, value))


class UnknownFamily(KeyError):
    """No family is called ``name``; the message says ``why``, or has the closest of ``known``."""

    def __init__(self, name: str, known: Collection[str], why: str = ""):
        if why:
            super().__init__(f"no family {name!r}: {why}")
            return
        *others, last = get_close_matches(name, known, 3, _ALIKE) or ("",)
        close = f"did you mean {', '.join(others)}{' or ' * bool(others)}{last}? " if last else ""
        super().__init__(f"no family {name!r}; {close}relaxcheck families lists all")

    def __str__(self) -> str:
        return str(self.args[0])


class Family(Protocol):
    """A family of cases: its axes, and the case at each point of them."""

    @property
    def name(self) -> str:
        """The name in the field ``family`` of its cases."""

    @property
    def axes(self) -> tuple[Axis, ...]:
        """All axes, those that others depend on first."""

    def build(self, point: Point, seed: int) -> AnyCase:
        """The one case at ``point``, its input values drawn from ``seed``."""

    @property
    def invalid(self) -> tuple[st.SearchStrategy[AnyCase], ...]:
        """For each way to make a program invalid, such cases, with what an error must name."""


class Structured:
    """Base of families whose seed decides the structure of a program, besides its values.

    Their pairs of cells say little of how many programs they have: a campaign gives them a share.
    """

    __slots__ = ()


class ProgramFamily(Family, Protocol):
    """A family whose cases are programs."""

    def build(self, point: Point, seed: int) -> Case:
        """The one case at ``point``, its input values drawn from ``seed``."""


PIPELINE = "pipeline"
"""The axis of the pass pipelines."""
OPERATIONS, SCALING = "operations", "scaling"
"""The blame on a sequence of operations, and that on the formula of a rotary embedding."""
BY_VALUE = frozenset({PIPELINE, OPERATIONS, SCALING})
"""Names in a blame of which each value is a cause; of others many values lead to one."""
RUN = (PIPELINE, "exec_mode", "opt_level", "regime")
"""The axes that every family of Relax programs shares: fields of a case, not part of its ``at``."""

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
def cases(draw: st.DrawFn, family: Family) -> AnyCase:
    """The valid cases of ``family``."""
    point = draw(points(family.axes))
    return family.build(point, draw(SEEDS))


def point_of(family: Family, case: AnyCase) -> Point:
    """The point of ``family`` that ``case`` was built at.

    Where an axis is younger than the case, the case is at its default. Its pipeline may be one that
    the family was not made with, or that it does not draw.

    Raises:
        ValueError: it is a case of another family, or was changed since it was built.
    """
    at = case.at
    if case.family != family.name or at is UNSET:
        raise ValueError(f"not a point of {family.name}")
    for name in at.keys() - {axis.name for axis in family.axes}:
        raise ValueError(f"not a point of {family.name}: it has no axis {name!r}")
    point: dict[str, Value] = {}
    for axis in family.axes:
        own = getattr(case, axis.name, axis.default) if axis.name in RUN else axis.default
        point[axis.name] = value = at.get(axis.name, own)
        is_value = axis.name == PIPELINE or axis.has(value)
        if not is_value or not axis.allowed(point, value):
            raise ValueError(f"not a point of {family.name}: {axis.name} is {value!r}")
    return point


def without_run(point: Point) -> dict[str, Value]:
    """``point`` without the axes that say how a program is compiled and fed: a case's ``at``."""
    return {name: value for name, value in point.items() if name not in RUN}


def is_valid(axes: Sequence[Axis], point: Point) -> bool:
    """Return True if every value of ``point`` is allowed after the earlier ones.

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

    The default first, then familiar values, then the first few of those listed before the present
    one. Other axes whose value the change forbids move to their default or first allowed value.
    """
    value = point[axis.name]
    if value == axis.default:
        return
    ordered = dict.fromkeys((*axis.familiar, *axis.values))
    before = tuple(takewhile(lambda each: each != value, ordered))[:_SIMPLER]
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


def enlarged(axes: Sequence[Axis], wanted: Point, names: Collection[str]) -> Point | None:
    """``wanted`` made valid by larger sizes of the axes ``names`` alone, or None where none do.

    A value that is not allowed takes the nearest of the earlier axes ``names`` that helps, and its
    smallest size that does.
    """
    point = dict(wanted)
    for at, axis in enumerate(axes):
        if not axis.allowed(point, point[axis.name]):
            tried = _larger(axes[: at + 1], point, names)
            larger = next((each for each in tried if is_valid(axes[: at + 1], each)), None)
            if larger is None:
                return None
            point = larger
    return point


def _larger(
    axes: Sequence[Axis], point: dict[str, Value], names: Collection[str]
) -> Iterator[dict[str, Value]]:
    """``point`` with one of the axes ``names`` at a larger size, the last axis first."""
    for axis in reversed(axes):
        own = point[axis.name]
        if axis.name in names and is_size(own):
            for size in sorted(value for value in axis.values if is_size(value) and value > own):
                yield {**point, axis.name: size}


def is_size(value: Value) -> TypeGuard[int]:
    """Return True if ``value`` is a number above 0."""
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def meant_for(usual: Sequence[str], pipelines: Sequence[str]) -> tuple[str, ...]:
    """Those of ``pipelines`` that are ``usual``, in the order of these, or a user's own."""
    return (
        *(name for name in usual if name in pipelines),
        *(name for name in pipelines if is_own(name)),
    )


def run_axes(pipelines: Sequence[str], *, whole_range: bool = False) -> tuple[Axis, ...]:
    """The axes ``RUN``: how a program is compiled and fed.

    ``whole_range``: inputs may be drawn over the whole range of their dtype, too.
    """
    regimes = (*USUAL_REGIMES, *([WHOLE_RANGE] if whole_range else []), "special")
    return (
        Axis(PIPELINE, tuple(pipelines), pipelines[0]),
        Axis("exec_mode", ("bytecode", "compiled"), "bytecode"),
        Axis("opt_level", (0, 3), 0, default_weight=19, steered=False),
        # Exact results leave a fault no room at all: more than a third, steering or not.
        Axis(
            "regime",
            regimes,
            "normal",
            default_weight=4,
            weights={"exact": 4},
        ),
    )
