"""Rewrites checked for all values of the variables, by Z3 rather than by trying each.

It takes milliseconds where brute force takes microseconds, and knows nothing of overflow: for what
is right at all small values. Z3 is not needed by anything else here, and is imported when asked.
"""

from collections.abc import Iterator

import msgspec

from generators.algebra_case import ExpressionCase
from generators.expressions import BOOL, LIMITS, Expression, Variable, apply
from generators.scalar_values import NoValue, value_at
from harness.algebra.session import REWRITES, Session, Subject
from harness.fault import Fault

WIDE = 2**20
"""Ranges reach so far beyond what they were drawn with."""

MILLISECONDS = 200


def widened(case: ExpressionCase) -> ExpressionCase:
    """``case`` with ranges that are open to one side, or to both where they were about zero."""
    return msgspec.structs.replace(case, variables=tuple(map(_wider, case.variables)))


def _wider(each: Variable) -> Variable:
    low, high = LIMITS[each.dtype]
    below = each.low - WIDE if each.low < 0 else each.low
    return msgspec.structs.replace(each, low=max(low, below), high=min(high, each.high + WIDE))


def check(case: ExpressionCase, subject: Subject | None = None) -> tuple[Fault, ...]:
    """The rewrites of ``case``, its ranges widened, that differ from it at some values.

    Each fault has such values, at which both sides were computed one by one: what Z3 says is not
    taken for granted.

    Raises:
        oracles.algebra_solver.NotModelled: an operator has no meaning on unbounded integers.
    """
    return tuple(_faults(widened(case), subject or Session))


def _faults(case: ExpressionCase, subject: Subject) -> Iterator[Fault]:
    session = subject(case.variables, case.told)
    handle = session.emit(case.expression)
    with session.assuming([session.emit(each) for each in case.constraints]):
        rewritten = [(how, session.read(session.rewritten(how, handle))) for how in REWRITES]
    known = {case.expression}
    for how, new in rewritten:
        if new in known or new.dtype != case.expression.dtype:
            continue
        known.add(new)
        witness = _difference(case, new)
        if witness is not None:
            was, now = value_at(case.expression, witness), value_at(new, witness)
            message = f"gives {new}, which is {now}, not {was}"
            yield Fault(f"{how}-unbounded", message, str(case.expression), witness)


def _difference(case: ExpressionCase, new: Expression) -> dict[str, int] | None:
    """Values at which both have one, and not the same; None where none are found."""
    from oracles.algebra_solver import search

    old = case.expression
    if old.dtype == BOOL:
        both = apply("and", old, new)
        neither = apply("and", apply("not", old), apply("not", new))
        same = apply("or", both, neither)
    else:
        same = apply("==", old, new)
    found = search(same, case.variables, case.constraints, MILLISECONDS)
    if found.holds is not False:
        return None
    witness = dict(found.witness)
    try:
        differ = value_at(old, witness) != value_at(new, witness)
        assumed = all(value_at(each, witness) for each in case.constraints)
    except NoValue:
        return None
    return witness if differ and assumed else None
