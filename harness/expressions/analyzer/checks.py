"""The checks: what the analyzer answers about one expression, against all of its values.

Each is ``check(session, observed, handle)``, which yields a fault for each answer that is wrong at
some point; ``handle`` is the expression as the session has it.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from relaxcheck.generators.expressions.grid_values import evaluate
from relaxcheck.generators.expressions.language import BOOL, LIMITS, Expression, apply, constant
from relaxcheck.harness.expressions.analyzer import index_checks, relation_checks
from relaxcheck.harness.expressions.analyzer.answers import fault, same
from relaxcheck.harness.expressions.analyzer.observed import Observed
from relaxcheck.harness.expressions.analyzer.session import REWRITES, Handle, Session
from relaxcheck.harness.expressions.fault import Fault

Check = Callable[[Session, Observed, Handle], Iterator[Fault]]


def rewrites(session: Session, seen: Observed, handle: Handle) -> Iterator[Fault]:
    """simplify, rewrite_simplify and canonical_simplify keep the value."""
    known = {seen.case.expression}
    for how in REWRITES:
        new = session.rewritten(how, handle)
        if new is handle:
            continue
        result = session.read(new)
        if result not in known:
            known.add(result)
            yield from same(how, seen, result)


def folding(session: Session, seen: Observed, handle: Handle) -> Iterator[Fault]:
    """An expression built with functions that fold constants has the same value.

    Asked of one expression in four: there are few functions, and no state.
    """
    if not seen.one_in(4):
        return
    result = session.read(session.fold(seen.case.expression))
    if result != seen.case.expression:
        yield from same("fold", seen, result)


def bounds(session: Session, seen: Observed, handle: Handle) -> Iterator[Fault]:
    """const_int_bound contains every value."""
    if seen.wraps:
        return
    low, high = session.bounds(handle)
    for end, outside in ((low, "min_value"), (high, "max_value")):
        if end is None:
            continue
        beyond = seen.low < end if outside == "min_value" else seen.high > end
        if beyond:
            compare = np.less if outside == "min_value" else np.greater
            point = seen.where(compare(seen.values.values, end))
            yield fault("const_int_bound", f"{outside} is {end}", seen, point)


def modular(session: Session, seen: Observed, handle: Handle) -> Iterator[Fault]:
    """Every value is a multiple of modular_set's coefficient plus its base."""
    if seen.wraps:
        return
    coefficient, base = session.modular(handle)
    if coefficient == 1:
        return
    values = seen.inside.astype(object) if abs(base) > 2**31 else seen.inside
    rest = values - base
    wrong = rest != 0 if coefficient == 0 else rest % coefficient != 0
    if np.any(wrong):
        value = int(seen.inside[int(np.argmax(wrong))])
        point = seen.where(np.equal(seen.values.values, value))
        yield fault("modular_set", f"says {coefficient}*k + {base}", seen, point)


def interval(session: Session, seen: Observed, handle: Handle) -> Iterator[Fault]:
    """int_set covers every value, whichever variables are relaxed."""
    if seen.wraps:
        return
    declared = tuple(each.name for each in seen.case.variables)
    for relaxed in (declared, declared[:1]) if len(declared) > 1 else (declared,):
        for end, compare in zip(session.covering(handle, relaxed), _BEYOND, strict=True):
            if end is None or _is_right(end, compare, seen):
                continue
            values = evaluate(end, seen.points)
            wrong = compare(seen.values.values, values.values)
            if values.invalid is not None:
                wrong = wrong & np.logical_not(values.invalid)
            point = seen.where(wrong)
            if point is not None:
                names = ", ".join(relaxed)
                yield fault("int_set", f"over {names} has the end {end}", seen, point)


def _is_right(end: Expression, compare: Callable[..., Any], seen: Observed) -> bool:
    """True if ``end`` is a constant that bounds every value."""
    if end.operator != "const":
        return False
    return int(end.leaf) <= seen.low if compare is np.less else int(end.leaf) >= seen.high


_BEYOND: tuple[Callable[..., Any], Callable[..., Any]] = (np.less, np.greater)


def claims(session: Session, seen: Observed, handle: Handle) -> Iterator[Fault]:
    """can_prove proves nothing that is false at some point.

    Only a false claim is made: that the expression is beyond its smallest or its largest value, or
    is not a value that it has; of a condition, that it holds, or does not.
    """
    yield from _claimed(session, seen, handle, strong=False)


def strong_claims(session: Session, seen: Observed, handle: Handle) -> Iterator[Fault]:
    """can_prove at its strongest proves nothing that is false at some point."""
    yield from _claimed(session, seen, handle, strong=True)


def _claimed(session: Session, seen: Observed, handle: Handle, strong: bool) -> Iterator[Fault]:
    if seen.wraps:
        return
    operator, value, against = _false_claim(seen)
    expression = seen.case.expression
    if operator == "is":
        asked, claim = handle, expression
    elif operator == "not":
        claim = apply("not", expression)
        asked = session.emit(claim)
    else:
        limit = constant(against, expression.dtype)
        claim = apply(operator, expression, limit)
        asked = session.compared(operator, handle, session.emit(limit))
    if session.proves(asked, strong):
        point = seen.where(np.equal(seen.values.values, value))
        yield fault("can_prove-strong" if strong else "can_prove", f"proves {claim}", seen, point)


def _false_claim(seen: Observed) -> tuple[str, int, int]:
    """(operator, value, against): false where the expression is ``value``.

    Which one is told by the values, so that each is made of some expressions.
    """
    expression = seen.case.expression
    if expression.dtype == BOOL:
        return ("is", 0, 0) if seen.low == 0 else ("not", 1, 0)
    smallest, largest = LIMITS[expression.dtype]
    which = (seen.low + seen.high + seen.inside.size) % 3
    if which == 0 and seen.low < largest:
        return ">=", seen.low, seen.low + 1
    if which == 1 and seen.high > smallest:
        return "<", seen.high, seen.high
    middle = int(seen.inside[seen.inside.size // 2])
    return "!=", middle, middle


def equality(session: Session, seen: Observed, handle: Handle) -> Iterator[Fault]:
    """can_prove_equal and can_prove do not prove two expressions equal that differ at a point."""
    other = seen.case.other
    if other is None or other == seen.case.expression:
        return
    values = evaluate(other, seen.points)
    differs = np.not_equal(values.values, seen.values.values)
    if values.invalid is not None:
        differs = differs & np.logical_not(values.invalid)
    point = seen.where(differs)
    if point is None:
        return
    beside = session.emit(other)
    if other.dtype != BOOL and session.proves_equal(handle, beside):
        yield fault("can_prove_equal", f"proves it equal to {other}", seen, point)
    if other.dtype != BOOL:
        claim = session.compared("==", handle, beside)
        if session.proves(claim, strong=False):
            yield fault("can_prove", f"proves it == {other}", seen, point)


CHECKS: dict[str, Check] = {
    "rewrites": rewrites,
    "folding": folding,
    "bounds": bounds,
    "modular": modular,
    "interval": interval,
    "claims": claims,
    "equality": equality,
    "order": relation_checks.order,
    "linear": relation_checks.linear,
    "deduced": relation_checks.deduced,
    "iterators": index_checks.iterators,
}
