"""Plans of kernels for an expression, with the results expected of them; without TVM."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any
from zlib import crc32

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from relaxcheck.generators.expressions.cases import INDEX
from relaxcheck.generators.expressions.grid_values import evaluate, everywhere
from relaxcheck.generators.expressions.grids import Grid, grid
from relaxcheck.generators.expressions.language import BOOL, LIMITS, Expression, Variable
from relaxcheck.generators.expressions.subject import Problem

Array = NDArray[Any]

LENGTHS = ("int32", "int64")
"""The dtypes that the extent of a loop may have where it is symbolic."""

_POINTS = 512
"""A kernel has no more points: ranges are cut to windows."""
_WIDEST = 16
"""Values of a variable that a window has at most."""
_LARGEST_TABLE = 4096
UNTOUCHED = -(2**62) - 1
"""The value of elements that are not written."""
CALLS = 24
"""The number of calls of a function of shapes."""
SYMBOLIC = 8
"""The largest number of iterations of a loop whose extent is symbolic."""
_LARGEST_TENSOR = 4096
_OTHER_SIZES = 2
"""With so many sizes that are not its own a function is called that is given a tensor."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A loop nest over ``variables``, the last one innermost, that writes one element a point.

    It writes the expression; or, where ``bounds`` are given, what a table holds at
    ``expression - low`` and, where it is signed, what it holds at ``high - expression``.
    ``symbolic``: the last loop, which begins at 0, has n iterations, where n is the length of an
    argument; there is room for ``SYMBOLIC``. ``guarded``: an argument says at which points the
    expression has a value, and only there it is computed.
    """

    expression: Expression
    variables: tuple[Variable, ...]
    bounds: tuple[int, int] | None = None
    symbolic: bool = False
    guarded: bool = False

    @property
    def extents(self) -> tuple[int, ...]:
        """The number of values of each variable that there is room for."""
        counts = [variable.high - variable.low + 1 for variable in self.variables]
        return (*counts[:-1], SYMBOLIC) if self.symbolic else tuple(counts)

    @property
    def points(self) -> int:
        """The number of points that there is room for."""
        return prod(self.extents)

    @property
    def written(self) -> int:
        """The number of elements that there is room for."""
        return self.points * (2 if self.backwards else 1)

    @property
    def backwards(self) -> bool:
        """True if it also counts from the end of the table; unsigned dtypes cannot always."""
        return self.bounds is not None and not self.expression.dtype.startswith("u")


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan for ``subject``; ``wanted`` is its value at each of ``points``.

    ``valid`` says where it has one, as a vector. ``kernel`` is there in a kernel's position.
    """

    subject: Problem
    points: Grid
    wanted: Array
    valid: Array
    kernel: Kernel | None = None


def kernel_plan(subject: Problem, position: str) -> Plan | None:
    """The plan for ``subject``; None if the position has no room for it, or it has no value.

    There is no room either where the index into the table would overflow, or is beyond int64: what
    a kernel has besides the expression must not be at fault.
    """
    variables = tuple(
        replace(variable, high=min(variable.high, LIMITS[variable.dtype][1] - 1))
        for variable in windows(subject.variables, str(subject.expression))
    )
    if any(variable.low > variable.high for variable in variables):
        return None
    symbolic = position == INDEX and _has_room(subject.variables)
    if symbolic:
        variables = (*variables[:-1], replace(variables[-1], low=0, high=SYMBOLIC - 1))
    points = grid(variables)
    wanted, valid = _values(subject, points)
    if not valid.any():
        return None
    guarded = not valid.all()
    if position != INDEX:
        kernel = Kernel(subject.expression, variables, guarded=guarded)
        return Plan(subject, points, wanted, valid, kernel)
    if subject.expression.dtype == BOOL:
        return None
    bounds = int(wanted[valid].min()), int(wanted[valid].max())
    if bounds[0] < 0 and subject.expression.dtype == "uint64":
        return None
    if bounds[1] - bounds[0] >= min(_LARGEST_TABLE, LIMITS[subject.expression.dtype][1] + 1):
        return None
    kernel = Kernel(subject.expression, variables, bounds, symbolic, guarded)
    return Plan(subject, points, wanted, valid, kernel)


def windows(variables: Sequence[Variable], text: str) -> tuple[Variable, ...]:
    """``variables`` with no more values than a kernel has points for.

    Of a wide range the lower or upper end, or what is around zero: ``text``, that of the
    expression, decides.
    """
    if not variables:
        return ()
    widest = min(_WIDEST, int(_POINTS ** (1 / len(variables)) + 1e-9))
    choice = crc32(text.encode())
    return tuple(
        _window(variable, widest, choice >> number) for number, variable in enumerate(variables)
    )


def _window(variable: Variable, widest: int, choice: int) -> Variable:
    low, high = variable.low, variable.high
    if high - low < widest:
        return variable
    starts = [low, high - widest + 1]
    if low <= 0 <= high:
        starts += [min(max(low, -(widest // 2)), high - widest + 1)] * 2
    start = starts[choice % len(starts)]
    return replace(variable, low=start, high=start + widest - 1)


def _has_room(variables: Sequence[Variable]) -> bool:
    """True if the last variable can be that of a loop of up to ``SYMBOLIC`` iterations."""
    if not variables:
        return False
    last = variables[-1]
    return last.low <= 0 and last.high >= SYMBOLIC - 1 and last.dtype in LENGTHS


def _values(subject: Problem, points: Grid) -> tuple[Array, Array]:
    """The value at each of ``points``, as int64, and where there is one."""
    values = evaluate(subject.expression, points)
    valid = np.ones(points.size, np.bool_)
    if values.invalid is not None:
        valid = ~np.broadcast_to(np.asarray(values.invalid), (points.size,)).astype(np.bool_)
    wide = everywhere(values, points)
    if wide.dtype == object:
        # Of uint64: the bits are the same.
        wide = np.array([(int(bits) + 2**63) % 2**64 - 2**63 for bits in wide], np.int64)
    return wide.astype(np.int64), valid


def shape_plan(subject: Problem, position: str) -> Plan | None:
    """``subject`` as the size of a tensor; None where it is of another dtype than sizes.

    Its variables are sizes too, and never negative.
    """
    if subject.expression.dtype != "int64" or not subject.variables:
        return None
    if any(variable.dtype != "int64" or variable.high < 0 for variable in subject.variables):
        return None
    sizes = [replace(variable, low=max(variable.low, 0)) for variable in subject.variables]
    points = grid(windows(sizes, str(subject.expression)))
    wanted, valid = _values(subject, points)
    return Plan(subject, points, wanted, valid) if valid.any() else None


def spread(points: Array) -> Array:
    """No more of ``points`` than there are ``CALLS``, from all over them."""
    places = np.linspace(0, len(points) - 1, min(CALLS, len(points))).round().astype(int)
    chosen: Array = points[places]
    return chosen


def tensor_plan(subject: Problem, position: str) -> Plan | None:
    """``subject`` as the size of a tensor; None where no tensor can have it at any point."""
    plan = shape_plan(subject, position)
    return plan if plan is not None and tensor_points(plan).size else None


def tensor_points(plan: Plan) -> Array:
    """The points at which a tensor can have the size: one at which it is empty first, if any."""
    possible = plan.valid & (plan.wanted >= 0) & (plan.wanted <= _LARGEST_TENSOR)
    empty = np.flatnonzero(possible & (plan.wanted == 0))
    chosen: Array = np.concatenate([empty[:1], spread(np.flatnonzero(possible))])[:CALLS]
    return chosen


def negative_points(plan: Plan) -> Array:
    """Points at which the size is negative."""
    return spread(np.flatnonzero(plan.valid & (plan.wanted < 0)))


def other_sizes(plan: Plan) -> list[tuple[int, int]]:
    """Some (point, size) of another size than there: 1 more, 1 less; 0 where it is negative."""
    points = tensor_points(plan)[:: max(1, len(tensor_points(plan)) - 1)][:_OTHER_SIZES]
    sizes = []
    for turn, point in enumerate(map(int, points)):
        right = int(plan.wanted[point])
        sizes.append((point, right - 1 if turn % 2 and right else right + 1))
    return [*sizes, *((int(point), 0) for point in negative_points(plan)[:1])]
