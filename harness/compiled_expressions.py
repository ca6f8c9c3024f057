"""Compiled expressions against interpreted ones, at every point where they have a value."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from generators.algebra_case import ExpressionCase
from generators.expression_cases import INDEX, SHAPE, VALUE
from generators.expressions import BOOL, Variable
from generators.grid_values import evaluate, everywhere
from generators.grids import Grid, grid
from harness import kernels
from harness.algebra.fault import Fault
from harness.kernels import SYMBOLIC, Kernel

Array = NDArray[Any]
Faults = tuple[Fault, ...]

RAISES = "raises"
"""The check of what raises."""

_POINTS = 512
"""A kernel has no more points: ranges are cut to windows."""
_WIDEST = 16
"""Values of a variable that a window has at most."""
_LARGEST_TABLE = 4096
_CALLS = 24
"""How often a function of shapes is called."""
_GROUP = 16
"""Kernels that share a function. See ``harness.kernels``."""
_DIVISION = "divide by zero"
"""What TVM says of a divisor that it finds to be zero."""
_UNTOUCHED = -(2**62) - 1
"""What stands where nothing is written."""


def compiled_faults(
    subjects: Sequence[ExpressionCase], position: str, opt_level: int
) -> list[Faults | None]:
    """What is wrong with each of ``subjects``, compiled together in ``position``.

    None where the position has no room for one: what is of another dtype than a shape's, or indexes
    too large a table.
    """
    found: list[Faults | None] = [None] * len(subjects)
    run = _shapes if position == SHAPE else _kernels
    plan = _shape_plan if position == SHAPE else _kernel_plan
    planned = [(at, plan(one, position)) for at, one in enumerate(subjects)]
    there = [(at, one) for at, one in planned if one is not None]
    for (at, _), faults in zip(
        there, _attempted([one for _, one in there], run, opt_level), strict=True
    ):
        found[at] = faults
    return found


@dataclass(frozen=True, slots=True)
class _Plan:
    """What to compile of ``subject``; ``wanted`` is its value at each of ``points``.

    ``valid`` says where it has one, as a vector. ``kernel`` is there in a kernel's position.
    """

    subject: ExpressionCase
    points: Grid
    wanted: Array
    valid: Array
    kernel: Kernel | None = None


Run = Callable[[Sequence[_Plan], int], list[Faults]]


def _attempted(plans: Sequence[_Plan], run: Run, opt_level: int) -> list[Faults]:
    """The faults of each of ``plans``; halves are run alone where together they raise."""
    if not plans:
        return []
    try:
        return run(plans, opt_level)
    except Exception as error:
        if len(plans) == 1:
            return [_raised(plans[0], error)]
    middle = len(plans) // 2
    return [
        *_attempted(plans[:middle], run, opt_level),
        *_attempted(plans[middle:], run, opt_level),
    ]


def _kernel_plan(subject: ExpressionCase, position: str) -> _Plan | None:
    variables = windows(subject.variables, str(subject.expression))
    symbolic = position == INDEX and _has_room(subject.variables)
    if symbolic:
        variables = (*variables[:-1], replace(variables[-1], low=0, high=SYMBOLIC - 1))
    points = grid(variables)
    wanted, valid = _values(subject, points)
    guarded = not valid.all()
    if position != INDEX:
        kernel = Kernel(subject.expression, variables, guarded=guarded)
        return _Plan(subject, points, wanted, valid, kernel)
    if subject.expression.dtype == BOOL or not valid.any():
        return None
    bounds = int(wanted[valid].min()), int(wanted[valid].max())
    if bounds[1] - bounds[0] >= _LARGEST_TABLE:
        return None
    kernel = Kernel(subject.expression, variables, bounds, symbolic, guarded)
    return _Plan(subject, points, wanted, valid, kernel)


def windows(variables: Sequence[Variable], text: str) -> tuple[Variable, ...]:
    """``variables`` with no more values than a kernel has points for.

    Of a wide range the lower or upper end, or what is around zero: ``text``, that of the
    expression, decides.
    """
    if not variables:
        return ()
    widest = min(_WIDEST, int(_POINTS ** (1 / len(variables)) + 1e-9))
    choice = crc32(text.encode())
    return tuple(_window(one, widest, choice >> number) for number, one in enumerate(variables))


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
    """Whether the last variable can be that of a loop of up to ``SYMBOLIC`` iterations."""
    if not variables:
        return False
    last = variables[-1]
    return last.low <= 0 and last.high >= SYMBOLIC - 1 and last.dtype in kernels.LENGTHS


def _values(subject: ExpressionCase, points: Grid) -> tuple[Array, Array]:
    """The value at each of ``points``, as int64, and where there is one."""
    found = evaluate(subject.expression, points)
    valid = np.ones(points.size, np.bool_)
    if found.invalid is not None:
        valid = ~np.broadcast_to(np.asarray(found.invalid), (points.size,)).astype(np.bool_)
    wide = everywhere(found, points)
    if wide.dtype == object:
        # Of uint64: the bits are the same.
        wide = np.array([(int(one) + 2**63) % 2**64 - 2**63 for one in wide], np.int64)
    return wide.astype(np.int64), valid


def _kernels(plans: Sequence[_Plan], opt_level: int) -> list[Faults]:
    groups = [plans[at : at + _GROUP] for at in range(0, len(plans), _GROUP)]
    made = [[_kernel_of(one) for one in group] for group in groups]
    library = kernels.kernels_built(made, opt_level)
    found: list[Faults] = []
    for number, group in enumerate(groups):
        found += _called(library[f"f{number}"], group)
    return found


def _kernel_of(plan: _Plan) -> Kernel:
    assert plan.kernel is not None
    return plan.kernel


def _called(function: Any, plans: Sequence[_Plan]) -> list[Faults]:
    """What is wrong with each of ``plans``, whose kernels are in ``function``."""
    own = [_kernel_of(one) for one in plans]
    longest = max((one.bounds[1] - one.bounds[0] + 1 if one.bounds else 1) for one in own)
    # What stands at a place tells the place.
    table = np.arange(longest, dtype=np.int64)
    guard = np.concatenate([one.valid for one in plans]).astype(np.int8)
    lengths = range(SYMBOLIC + 1) if any(one.symbolic for one in own) else (0,)
    found: list[Faults] = [()] * len(plans)
    for n in lengths:
        iterations = np.zeros(n, np.int8)
        room = np.full(sum(one.written for one in own), _UNTOUCHED, np.int64)
        written = kernels.call(function, [table, guard, iterations, iterations, room])
        begin = 0
        for at, (plan, kernel) in enumerate(zip(plans, own, strict=True)):
            part = written[begin : begin + kernel.written]
            begin += kernel.written
            if not found[at]:
                found[at] = tuple(_compared(plan, kernel, part, n))
    return found


def _compared(plan: _Plan, kernel: Kernel, written: Array, n: int) -> Iterator[Fault]:
    """The first point at which a kernel wrote something else than it should."""
    ran = plan.valid if kernel.guarded else np.ones(kernel.points, np.bool_)
    if kernel.symbolic:
        ran = ran & (np.arange(kernel.points) % SYMBOLIC < n)
    suffix = f" and n = {n}" * kernel.symbolic
    if kernel.bounds is None:
        yield from _first_wrong(plan, written, ran, VALUE, suffix)
        return
    low, high = kernel.bounds
    # A place in the table says which value of the expression was its index.
    forwards, backwards = np.split(written, 2)
    there = forwards != _UNTOUCHED
    yield from _first_wrong(plan, np.where(there, forwards + low, _UNTOUCHED), ran, INDEX, suffix)
    there = backwards != _UNTOUCHED
    values = np.where(there, high - backwards, _UNTOUCHED)
    yield from _first_wrong(plan, values, ran, f"{INDEX}-reversed", suffix)


def _first_wrong(
    plan: _Plan, values: Array, ran: Array, check: str, suffix: str
) -> Iterator[Fault]:
    wrong = values != np.where(ran, plan.wanted, _UNTOUCHED)
    if wrong.any():
        at = int(np.argmax(wrong))
        right = int(plan.wanted[at]) if ran[at] else None
        yield _wrong(plan, check, at, int(values[at]), right, suffix)


def _shape_plan(subject: ExpressionCase, position: str) -> _Plan | None:
    """Sizes of tensors: what is of another dtype, or never negative, has no place there."""
    if subject.expression.dtype != "int64" or not subject.variables:
        return None
    if any(one.dtype != "int64" or one.high < 0 for one in subject.variables):
        return None
    sizes = [replace(one, low=max(one.low, 0)) for one in subject.variables]
    points = grid(windows(sizes, str(subject.expression)))
    wanted, valid = _values(subject, points)
    return _Plan(subject, points, wanted, valid) if valid.any() else None


def _shapes(plans: Sequence[_Plan], opt_level: int) -> list[Faults]:
    names = [tuple(one.name for one in plan.subject.variables) for plan in plans]
    expressions = [plan.subject.expression for plan in plans]
    module = kernels.shape_module(list(zip(expressions, names, strict=True)))
    main = kernels.shapes_built(module, opt_level)
    chosen = [_spread(np.flatnonzero(plan.valid)) for plan in plans]
    found: list[Faults] = [()] * len(plans)
    for call in range(_CALLS):
        at = [int(own[call % len(own)]) for own in chosen]
        given = [
            plan.points.binding(point)[name]
            for plan, point, own in zip(plans, at, names, strict=True)
            for name in own
        ]
        made = kernels.shape_of(main, given)
        for number, (plan, point) in enumerate(zip(plans, at, strict=True)):
            if made[number] != plan.wanted[point] and not found[number]:
                right = int(plan.wanted[point])
                found[number] = (_wrong(plan, SHAPE, point, made[number], right),)
    return found


def _spread(points: Array) -> Array:
    """No more of ``points`` than there are calls, from all over them."""
    places = np.linspace(0, len(points) - 1, min(_CALLS, len(points))).round().astype(int)
    chosen: Array = points[places]
    return chosen


def _wrong(
    plan: _Plan, check: str, at: int, got: int, right: int | None, suffix: str = ""
) -> Fault:
    binding = plan.points.binding(at)
    is_right = "not to be computed" if right is None else f"{right}"
    said = "not computed" if got == _UNTOUCHED else f"{got}"
    text = ", ".join(f"{name} = {value}" for name, value in binding.items())
    where = f"at {text}{suffix}" if text else "without variables"
    message = f"{plan.subject.expression} {where} is {said}, and should be {is_right}"
    return Fault(check, message, str(plan.subject.expression), binding)


def _raised(plan: _Plan, error: Exception) -> Faults:
    """What it says that compiling or running raised ``error``.

    Nothing where a divisor is zero somewhere and the error says so: that is as good as a result.
    """
    message = f"{type(error).__name__}: {error}"
    if _DIVISION in message.lower() and not plan.valid.all():
        return ()
    return (Fault(RAISES, message, str(plan.subject.expression), {}),)
