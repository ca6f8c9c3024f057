"""The analyzer's answers, checked by Z3 for all values of the variables.

It takes milliseconds where brute force takes microseconds, and knows nothing of overflow: for what
is right at all small values. Z3 is not needed by anything else here, and is imported when asked.
"""

from collections.abc import Iterator

import msgspec

from relaxcheck.generators.expressions.language import (
    BOOL,
    LIMITS,
    Expression,
    Variable,
    apply,
    constant,
)
from relaxcheck.generators.expressions.scalar_values import NoValue, value_at
from relaxcheck.generators.expressions.subject import Problem
from relaxcheck.harness.expressions.analyzer.session import REWRITES, Handle, Session, Subject
from relaxcheck.harness.expressions.fault import Asked, Fault

WIDE = 2**20
"""Ranges reach so far beyond what they were drawn with."""

MILLISECONDS = 200


def widened(case: Problem) -> Problem:
    """``case`` with ranges that are open to one side, or to both where they were about zero."""
    return msgspec.structs.replace(case, variables=tuple(map(_wider, case.variables)))


def _wider(each: Variable) -> Variable:
    low, high = LIMITS[each.dtype]
    below = each.low - WIDE if each.low < 0 else each.low
    return msgspec.structs.replace(each, low=max(low, below), high=min(high, each.high + WIDE))


def check(case: Problem, subject: Subject | None = None) -> tuple[Fault, ...]:
    """Faults of ``case`` at some values, its ranges widened.

    Rewrites, constant bounds, the modular set, and what is proved: a condition, or that it equals
    what it is compared with. Each fault has such values, at which both sides were computed one by
    one: what Z3 says is not taken for granted.

    Raises:
        relaxcheck.oracles.expressions.solver.NotModelled: an operator has no meaning on unbounded
        integers.
    """
    return tuple(_faults(widened(case), subject or Session))


def _faults(case: Problem, subject: Subject) -> Iterator[Fault]:
    session = subject(case.variables, case.means)
    handle = session.emit(case.expression)
    with session.assuming([session.emit(each) for each in case.constraints]):
        rewritten = [(how, session.read(session.rewritten(how, handle))) for how in REWRITES]
        claimed = list(_claims(session, handle, case))
    known = {case.expression}
    for how, new in rewritten:
        if new in known or new.dtype != case.expression.dtype:
            continue
        known.add(new)
        witness = _against(case, _same(case.expression, new))
        if witness is not None:
            was, now = value_at(case.expression, witness), value_at(new, witness)
            yield _fault(how, f"gives {new}, which is {now}, not {was}", case, witness)
    for check, claim in claimed:
        witness = _against(case, claim)
        if witness is not None:
            value = value_at(case.expression, witness)
            yield _fault(check, f"says {claim}, and it is {value}", case, witness)


def _fault(check: str, message: str, case: Problem, witness: dict[str, int]) -> Fault:
    return Fault(Asked(f"{check}-unbounded"), message, str(case.expression), witness)


def _claims(session: Session, handle: Handle, case: Problem) -> Iterator[tuple[str, Expression]]:
    """The check, and what the analyzer says, as a condition."""
    expression, dtype = case.expression, case.expression.dtype
    if dtype == BOOL:
        if session.proves(handle, strong=False):
            yield "can_prove", expression
        return
    smallest, largest = LIMITS[dtype]
    low, high = session.bounds(handle)
    if low is not None and smallest < low <= largest:
        yield "const_int_bound", apply(">=", expression, constant(low, dtype))
    if high is not None and smallest <= high < largest:
        yield "const_int_bound", apply("<=", expression, constant(high, dtype))
    coefficient, base = session.modular(handle)
    if coefficient == 0 and smallest <= base <= largest:
        yield "modular_set", apply("==", expression, constant(base, dtype))
    if 1 < coefficient <= largest:
        rest = apply("%", expression, constant(coefficient, dtype))
        yield "modular_set", apply("==", rest, constant(base % coefficient, dtype))
    if case.other is not None and session.proves_equal(handle, session.emit(case.other)):
        yield "can_prove_equal", apply("==", expression, case.other)


def _same(old: Expression, new: Expression) -> Expression:
    if old.dtype != BOOL:
        return apply("==", old, new)
    both = apply("and", old, new)
    neither = apply("and", apply("not", old), apply("not", new))
    return apply("or", both, neither)


def _against(case: Problem, claim: Expression) -> dict[str, int] | None:
    """Values that meet what is assumed, at which ``claim`` is false; None where none are found."""
    from relaxcheck.oracles.expressions.solver import search

    counterexample = search(claim, case.variables, case.constraints, MILLISECONDS)
    if counterexample.holds is not False:
        return None
    witness = dict(counterexample.witness)
    try:
        holds = value_at(claim, witness)
        assumed = all(value_at(each, witness) for each in case.constraints)
    except NoValue:
        return None
    return witness if assumed and not holds else None
