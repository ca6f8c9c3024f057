"""Checks that the analyzer forgets: conditions after their scope, ranges that others override."""

from collections.abc import Callable, Iterator

import msgspec

from relaxcheck.generators.expressions.language import LIMITS, Variable
from relaxcheck.harness.expressions.analyzer.observed import Observed
from relaxcheck.harness.expressions.analyzer.session import REWRITES, Handle, Session, Subject
from relaxcheck.harness.expressions.fault import RESTORED, Asked, Fault

Checks = Callable[[Session, Observed, Handle], Iterator[Fault]]


def restored(session: Session, seen: Observed, run: Checks) -> Iterator[Fault]:
    """``run`` with the conditions of the case assumed; all answers afterwards are as before."""
    case = seen.case
    handle = session.emit(case.expression)
    before = _answers(session, handle)
    with session.assuming([session.emit(each) for each in case.constraints]):
        yield from run(session, seen, handle)
    after = _answers(session, handle)
    for function, old in before.items():
        if after[function] != old:
            message = f"{function} gives {after[function]} after the conditions, {old} before"
            yield Fault(Asked(RESTORED), message, str(case.expression), {})
            return


def _answers(session: Session, handle: Handle) -> dict[str, object]:
    answers: dict[str, object] = {
        how: session.read(session.rewritten(how, handle)) for how in REWRITES
    }
    answers["const_int_bound"] = session.bounds(handle)
    answers["modular_set"] = session.modular(handle)
    return answers


def rebound(subject: Subject, seen: Observed, run: Checks, *, single: bool) -> Iterator[Fault]:
    """``run`` on an analyzer that was told other ranges first, and then these, as an override.

    ``single``: the first ranges are of one value, which TVM puts in the variable's place.
    """
    case = seen.case
    first = tuple(_elsewhere(each, single, number) for number, each in enumerate(case.variables))
    session = subject(first, "range")
    session.rebind(case.variables)
    for fault in run(session, seen, session.emit(case.expression)):
        ranges = ", ".join(f"{each.name} in [{each.low}, {each.high}]" for each in first)
        message = f"{fault.message}, told {ranges} first"
        after = "value" if single else "range"
        asked = msgspec.structs.replace(fault.asked, after=after, first=first)
        yield Fault(asked, message, fault.expression, fault.witness)


def _elsewhere(declared: Variable, single: bool, number: int) -> Variable:
    """``declared`` with a range that has no value of its own, as far as its dtype has others."""
    low, high = LIMITS[declared.dtype]
    away = declared.high + 3 if number % 2 == 0 else declared.low - 7
    if not low <= away <= high - 1:
        away = declared.high + 3
    if not away <= high - 1:
        away = declared.low
    return msgspec.structs.replace(declared, low=away, high=away + (0 if single else 1))
