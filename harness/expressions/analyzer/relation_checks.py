"""The checks of how expressions relate: orders, linear forms, ranges that make a claim hold."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from relaxcheck.generators.expressions import language as expressions
from relaxcheck.generators.expressions.grid_values import evaluate
from relaxcheck.generators.expressions.language import (
    BOOL,
    COMPARISONS,
    Expression,
    Variable,
    apply,
)
from relaxcheck.harness.expressions.analyzer.answers import at, fault
from relaxcheck.harness.expressions.analyzer.observed import Observed
from relaxcheck.harness.expressions.analyzer.session import Handle, Session
from relaxcheck.harness.expressions.fault import Fault

_HOLDS: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "never": lambda left, right: np.zeros(np.broadcast(left, right).shape, bool),
}


def _beside(seen: Observed) -> Expression | None:
    """The expression to compare with: the other one, or a variable of the same dtype."""
    case = seen.case
    if case.other is not None:
        return case.other
    for each in case.variables:
        if each.dtype == case.expression.dtype:
            return expressions.variable(each)
    return None


def order(session: Session, seen: Observed, handle: Handle) -> Iterator[Fault]:
    """try_compare says how two expressions relate, and so they do at all points."""
    other = _beside(seen)
    if other is None or other.dtype == BOOL:
        return
    comparison = session.order(handle, session.emit(other))
    if comparison is None:
        return
    values = evaluate(other, seen.points)
    wrong = np.logical_not(_HOLDS[comparison](seen.values.values, values.values))
    if values.invalid is not None:
        wrong = wrong & np.logical_not(values.invalid)
    point = seen.where(wrong)
    if point is not None:
        yield fault("try_compare", f"says that it is {comparison} {other}", seen, point)


def linear(session: Session, seen: Observed, handle: Handle) -> Iterator[Fault]:
    """detect_linear_equation gives factors without the variables, which make up the expression."""
    case = seen.case
    declared = [each for each in case.variables if each.dtype == case.expression.dtype]
    if case.expression.dtype == BOOL or not declared or len(declared) != len(case.variables):
        return
    # With all variables at once the factors are constants; with one they are of the others.
    for every in seen.variants(2):
        yield from _linear_in(declared if every else declared[:1], session, seen, handle)


def _linear_in(
    chosen: Sequence[Variable], session: Session, seen: Observed, handle: Handle
) -> Iterator[Fault]:
    names = [each.name for each in chosen]
    parts = session.linear(handle, names)
    if not parts:
        return
    text = " + ".join([f"({part})*{name}" for part, name in zip(parts, names, strict=False)])
    text = f"says {text} + {parts[-1]}"
    if any(expressions.names(part) & set(names) for part in parts):
        yield fault("detect_linear_equation", f"{text}: not without {names}", seen, None)
        return
    if any(part.dtype != seen.case.expression.dtype for part in parts):
        return
    products = [
        apply("*", part, expressions.variable(each))
        for part, each in zip(parts, chosen, strict=False)
    ]
    whole = reduce(lambda total, two: apply("+", total, two), products, parts[-1])
    values = evaluate(whole, seen.points)
    wrong = np.not_equal(values.values, seen.values.values)
    if values.invalid is not None:
        wrong = wrong & np.logical_not(values.invalid)
    point = seen.where(wrong)
    if point is not None:
        now = at(values.values, point)
        yield fault("detect_linear_equation", f"{text}, which is {now}", seen, point)


def deduced(session: Session, seen: Observed, handle: Handle) -> Iterator[Fault]:
    """deduce_bound gives a range of a variable in which the comparison holds."""
    case = seen.case
    if case.expression.operator not in COMPARISONS or not case.variables:
        return
    name = case.variables[0].name
    if name not in expressions.names(case.expression):
        return
    ends = session.deduced(handle, name)
    if ends is None or ends == (None, None):
        return
    inside: Any = np.ones(seen.points.size, bool)
    column = seen.points.columns[name]
    for end, within in zip(ends, (np.greater_equal, np.less_equal), strict=True):
        if end is None:
            continue
        values = evaluate(end, seen.points)
        inside = inside & within(column, values.values)
        if values.invalid is not None:
            inside = inside & np.logical_not(values.invalid)
    point = seen.where(inside & np.logical_not(seen.values.values))
    if point is not None:
        low, high = ends
        above = "" if low is None else f" from {low}"
        below = "" if high is None else f" up to {high}"
        text = f"says that it holds for each {name}{above}{below}"
        yield fault("deduce_bound", text, seen, point)
