"""Compiled expressions against interpreted ones, at every point where they have a value."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxcheck.generators.expressions.cases import (
    DEFINED,
    EXTENT,
    INDEX,
    NEGATIVE,
    PARAMETER,
    SHAPE,
    UNDEFINED,
    VALUE,
)
from relaxcheck.generators.expressions.subject import Problem
from relaxcheck.harness.expressions import kernels, sized
from relaxcheck.harness.expressions.fault import RAISES, Asked, Fault
from relaxcheck.harness.expressions.kernel_plans import (
    CALLS,
    SYMBOLIC,
    UNTOUCHED,
    Kernel,
    Plan,
    kernel_plan,
    shape_plan,
    spread,
    tensor_plan,
)
from relaxcheck.harness.expressions.kernels import How
from relaxcheck.harness.outcomes.blame import is_of_tvm

Array = NDArray[Any]
Faults = tuple[Fault, ...]

_GROUP = 16
"""Kernels that share a function. See ``relaxcheck.harness.expressions.kernels``."""
_SHOWN = re.compile(r"(PrimExpr) .*( in function| is not computed)")
"""An expression in a message, and the words around it."""
_DIVISION = "divide by zero"
"""TVM's message about a divisor that it finds to be zero."""


def compiled_faults(
    subjects: Sequence[Problem],
    position: str,
    how: How,
    points: str = DEFINED,
) -> list[Faults | None]:
    """Faults of each of ``subjects``, compiled together in ``position``.

    None where the position has no room for one: what is of another dtype than a shape's, or indexes
    too large a table. At ``points`` where they have no value, whatever comes of it is right, an
    exception of TVM's too, but that the process ends; where they are negative, extents have to be
    refused.

    Raises:
        Exception: whatever is raised here and not within TVM.
    """
    if points == UNDEFINED:
        return [_survived(subject, position, how) for subject in subjects]
    if points == NEGATIVE:
        return [_attempted_alone(subject, how) for subject in subjects]
    all_faults: list[Faults | None] = [None] * len(subjects)
    plan, run = _WAYS[position]
    planned = [(at, plan(subject, position)) for at, subject in enumerate(subjects)]
    there = [(at, ready) for at, ready in planned if ready is not None]
    for (at, _), faults in zip(
        there, _attempted([ready for _, ready in there], run, how)[0], strict=True
    ):
        all_faults[at] = faults
    return all_faults


Run = Callable[[Sequence[Plan], How], list[Faults]]


def _attempted_alone(subject: Problem, how: How) -> Faults | None:
    try:
        return sized.negative_extent(subject, how)
    except Exception as error:
        if not is_of_tvm(error):
            raise
        return (_raising(subject, error),)


def _attempted(plans: Sequence[Plan], run: Run, how: How) -> tuple[list[Faults], bool]:
    """The faults of each of ``plans``, and whether anything raised.

    Halves are run alone where together they raise. Where neither raises then, the first of
    ``plans`` that is right stands for all: it runs alone next, and that it passes there is told.
    """
    if not plans:
        return [], False
    try:
        return run(plans, how), False
    except Exception as error:
        if not (isinstance(error, sized.Refused) or is_of_tvm(error)):
            raise
        together = error
    if len(plans) == 1:
        if isinstance(together, sized.Refused):
            return [(together.fault,)], True
        return [_raised(plans[0], together)], True
    middle = len(plans) // 2
    left, left_raised = _attempted(plans[:middle], run, how)
    right, right_raised = _attempted(plans[middle:], run, how)
    all_faults = [*left, *right]
    if not (left_raised or right_raised):
        at = next((at for at, faults in enumerate(all_faults) if not faults), 0)
        all_faults[at] = (*all_faults[at], _raising(plans[at].subject, together))
    return all_faults, True


def _kernels(plans: Sequence[Plan], how: How) -> list[Faults]:
    groups = [plans[at : at + _GROUP] for at in range(0, len(plans), _GROUP)]
    made = [[_kernel_of(plan) for plan in group] for group in groups]
    library = kernels.kernels_built(made, how)
    faults: list[Faults] = []
    for number, group in enumerate(groups):
        faults += _called(library[f"f{number}"], group)
    return faults


def _kernel_of(plan: Plan) -> Kernel:
    assert plan.kernel is not None
    return plan.kernel


def _called(function: Any, plans: Sequence[Plan]) -> list[Faults]:
    """Faults of each of ``plans``, whose kernels are in ``function``."""
    own = [_kernel_of(member) for member in plans]
    longest = max(
        (kernel.bounds[1] - kernel.bounds[0] + 1 if kernel.bounds else 1) for kernel in own
    )
    table = kernels.table(longest)
    guard = np.concatenate([member.valid for member in plans]).astype(np.int8)
    lengths = range(SYMBOLIC + 1) if any(kernel.symbolic for kernel in own) else (0,)
    faults: list[Faults] = [()] * len(plans)
    for n in lengths:
        iterations = np.zeros(n, np.int8)
        room = np.full(sum(kernel.written for kernel in own), UNTOUCHED, np.int64)
        written = kernels.call(function, table, [guard, iterations, iterations, room])
        begin = 0
        for at, (plan, kernel) in enumerate(zip(plans, own, strict=True)):
            part = written[begin : begin + kernel.written]
            begin += kernel.written
            if not faults[at]:
                faults[at] = tuple(_compared(plan, kernel, part, n))
    return faults


def _compared(plan: Plan, kernel: Kernel, written: Array, n: int) -> Iterator[Fault]:
    """The first point at which a kernel wrote something else than it should."""
    ran = plan.valid if kernel.guarded else np.ones(kernel.points, np.bool_)
    if kernel.symbolic:
        ran = ran & (np.arange(kernel.points) % SYMBOLIC < n)
    iterations = n if kernel.symbolic else None
    if kernel.bounds is None:
        yield from _first_wrong(plan, written, ran, Asked(VALUE, iterations=iterations))
        return
    low, high = kernel.bounds
    # A place in the table says which value of the expression was its index.
    forwards, backwards = written[: kernel.points], written[kernel.points :]
    there = forwards != UNTOUCHED
    values = np.where(there, forwards + low, UNTOUCHED)
    yield from _first_wrong(plan, values, ran, Asked(INDEX, iterations=iterations))
    if not kernel.backwards:
        return
    there = backwards != UNTOUCHED
    values = np.where(there, high - backwards, UNTOUCHED)
    yield from _first_wrong(plan, values, ran, Asked(f"{INDEX}-reversed", iterations=iterations))


def _first_wrong(plan: Plan, values: Array, ran: Array, asked: Asked) -> Iterator[Fault]:
    wrong = values != np.where(ran, plan.wanted, UNTOUCHED)
    if wrong.any():
        at = int(np.argmax(wrong))
        right = int(plan.wanted[at]) if ran[at] else None
        yield _wrong(plan, asked, at, int(values[at]), right)


def _shapes(plans: Sequence[Plan], how: How) -> list[Faults]:
    main = kernels.shapes_built(kernels.named(plans), how)
    chosen = [spread(np.flatnonzero(plan.valid)) for plan in plans]
    faults: list[Faults] = [()] * len(plans)
    for call in range(CALLS):
        at = [int(own[call % len(own)]) for own in chosen]
        made = main(sized.variable_values(plans, at))
        for number, (plan, point) in enumerate(zip(plans, at, strict=True)):
            if made[number] != plan.wanted[point] and not faults[number]:
                right = int(plan.wanted[point])
                faults[number] = (_wrong(plan, Asked(SHAPE), point, made[number], right),)
    return faults


_WAYS: Mapping[str, tuple[Callable[[Problem, str], Plan | None], Run]] = {
    VALUE: (kernel_plan, _kernels),
    INDEX: (kernel_plan, _kernels),
    SHAPE: (shape_plan, _shapes),
    PARAMETER: (tensor_plan, sized.parameters),
    EXTENT: (tensor_plan, sized.extents),
}
"""By position: what is planned of one expression, and how plans are run together."""

_SIZED: Mapping[str, Callable[[Plan, How], kernels.OfNumbers]] = {
    SHAPE: lambda plan, how: kernels.shapes_built(kernels.named([plan]), how),
    PARAMETER: sized.undefined_parameter,
    EXTENT: sized.undefined_extent,
}
"""By position: what is called where an expression has no value."""


def _survived(subject: Problem, position: str, how: How) -> Faults | None:
    """Nothing wrong, once ``subject`` was a size where it has no value; None where it has one."""
    plan = shape_plan(subject, position)
    if plan is None or plan.valid.all():
        return None
    undefined = spread(np.flatnonzero(~plan.valid))
    with _suppressed():
        main = _SIZED[position](plan, how)
        for point in undefined:
            with _suppressed():
                main(sized.variable_values([plan], [int(point)]))
    return ()


@contextmanager
def _suppressed() -> Iterator[None]:
    """Catch an exception of TVM: it counts as a result."""
    try:
        yield
    except Exception as error:
        if not is_of_tvm(error):
            raise


def _wrong(plan: Plan, asked: Asked, at: int, got: int, right: int | None) -> Fault:
    binding = plan.points.binding(at)
    is_right = "not to be computed" if right is None else f"{right}"
    result = "not computed" if got == UNTOUCHED else f"{got}"
    text = ", ".join(f"{name} = {value}" for name, value in binding.items())
    if text and asked.iterations is not None:
        text += f" and n = {asked.iterations}"
    where = f"at {text}" if text else "without variables"
    message = f"{plan.subject.expression} {where} is {result}, and should be {is_right}"
    return Fault(asked, message, str(plan.subject.expression), binding)


def _raised(plan: Plan, error: Exception) -> Faults:
    """The fault that compiling or running raised ``error``.

    Nothing where a divisor is zero somewhere and the error says so: that is as good as a result.
    """
    fault = _raising(plan.subject, error)
    if _DIVISION in fault.message.lower() and not plan.valid.all():
        return ()
    return (fault,)


def _raising(subject: Problem, error: Exception) -> Fault:
    # The message identifies the fault, without the expression that TVM shows in it.
    text = _SHOWN.sub(r"\1 …\2", f"{type(error).__name__}: {error}")
    return Fault(Asked(RAISES), text, str(subject.expression), {})
