"""Cases for the analyzer, checked: all that it answers about an expression, against brute force."""

from collections import deque
from collections.abc import Callable, Generator, Iterator
from functools import partial

from relaxcheck.generators.expressions import language as expressions
from relaxcheck.generators.expressions.language import BITS, DIVISIONS, SHIFTS, Expression
from relaxcheck.generators.expressions.subject import Problem
from relaxcheck.harness.expressions.analyzer import checks, state
from relaxcheck.harness.expressions.analyzer.observed import Observed, observed
from relaxcheck.harness.expressions.analyzer.session import (
    Handle,
    Session,
    Subject,
    assuming_unless_raised,
    forget,
    shared_session,
)
from relaxcheck.harness.expressions.fault import RAISES, Asked, Fault
from relaxcheck.harness.outcomes.blame import called, is_of_tvm

__all__ = ["Fault", "check"]


def check(
    case: Problem, subject: Subject | None = None, *, fully: bool = False
) -> tuple[Fault, ...] | None:
    """All faults in what ``subject``, or else TVM, answers about ``case``; of each kind the first.

    None where there is no point at which ``case`` claims anything: then nothing is asked. ``fully``
    makes every check, also those that are made of some cases alone.

    An exception of TVM's is a fault too, but where ``case`` divides by the constant zero, or shifts
    by one that no shift may have, and TVM says so: to refuse that is right. The checks after one
    that raises are made all the same, but where other ranges were told first.

    Raises:
        NotRead: TVM answers with what cannot be read.
        Exception: whatever else is raised here and not within TVM.
    """
    seen = observed(case, fully=fully)
    if seen is None:
        return None
    faults: dict[str, Fault] = {}
    for fault in _faults(seen, subject):
        faults.setdefault(fault.key, fault)
    return tuple(faults.values())


def _faults(seen: Observed, subject: Subject | None) -> Iterator[Fault]:
    case = seen.case
    left = deque(checks.CHECKS.values())
    raised = yield from _caught(seen, partial(_asked, seen, subject, left))
    # Once at least: where something raised before any condition was assumed, none was begun.
    before = len(left) + 1
    while raised and left and len(left) < before:
        before = len(left)
        # The others are asked again without the one that raised.
        raised = yield from _caught(seen, partial(_asked_anew, seen, subject, left))
    if seen.one_in(8) and case.means == "range" and not case.constraints:
        for single in seen.variants(64):
            rebound = partial(state.rebound, subject or Session, seen, _each, single=single)
            yield from _caught(seen, rebound)
    if seen.one_in(128):
        yield from _caught(seen, partial(_strongly, seen, subject))


def _caught(seen: Observed, asked: Callable[[], Iterator[Fault]]) -> Generator[Fault, None, bool]:
    """The faults that ``asked`` yields and that of its exception; True if it raised."""
    case = seen.case
    try:
        yield from asked()
    except Exception as error:
        forget(case.variables, case.means)
        if not is_of_tvm(error):
            raise
        if not _is_refused(case, str(error)):
            text = next((line for line in reversed(str(error).splitlines()) if line), "")
            asked_for = Asked(RAISES, call=called(error))
            yield Fault(asked_for, f"{type(error).__name__}: {text}", str(case.expression), {})
        return True
    return False


def _asked(seen: Observed, subject: Subject | None, left: deque[checks.Check]) -> Iterator[Fault]:
    """The checks that are ``left``, each taken from there as it begins."""
    case = seen.case
    run = partial(_of_those, left)
    if case.constraints:
        # Assumptions must end afterwards; where they do not, no other expression may see them.
        session = (subject or Session)(case.variables, case.means)
        yield from state.restored(session, seen, run)
    else:
        session = (subject or shared_session)(case.variables, case.means)
        yield from run(session, seen, session.emit(case.expression))


def _asked_anew(
    seen: Observed, subject: Subject | None, left: deque[checks.Check]
) -> Iterator[Fault]:
    """As ``_asked``, by one who was asked nothing before and is not asked again."""
    case = seen.case
    session = (subject or Session)(case.variables, case.means)
    with assuming_unless_raised(session, [session.emit(each) for each in case.constraints]):
        yield from _of_those(left, session, seen, session.emit(case.expression))


def _strongly(seen: Observed, subject: Subject | None) -> Iterator[Fault]:
    case = seen.case
    # It would make all later answers slower.
    session = (subject or Session)(case.variables, case.means)
    with assuming_unless_raised(session, [session.emit(each) for each in case.constraints]):
        yield from checks.strong_claims(session, seen, session.emit(case.expression))


def _of_those(
    left: deque[checks.Check], session: Session, seen: Observed, handle: Handle
) -> Iterator[Fault]:
    while left:
        yield from left.popleft()(session, seen, handle)


def _each(session: Session, seen: Observed, handle: Handle) -> Iterator[Fault]:
    for check in checks.CHECKS.values():
        yield from check(session, seen, handle)


_REFUSALS = ((DIVISIONS, "divide by zero"), (SHIFTS, "shift amount"))
"""TVM's messages, lower case, about an operator whose constant leaves it without a value."""


def _is_refused(case: Problem, message: str) -> bool:
    """True if ``message`` refuses a part of ``case`` that indeed never has a value.

    TVM may find that out.
    """
    trees = (case.expression, *case.constraints, *([case.other] if case.other else ()))
    without = [node for tree in trees for node in expressions.nodes(tree) if _has_no_value(node)]
    return any(
        phrase in message.lower() and any(node.operator in operators for node in without)
        for operators, phrase in _REFUSALS
    )


def _has_no_value(node: Expression) -> bool:
    """True if it divides by the constant zero, or shifts by an invalid constant."""
    if node.operator not in (*DIVISIONS, *SHIFTS) or node.operands[1].operator != "const":
        return False
    value = int(node.operands[1].leaf)
    return value == 0 if node.operator in DIVISIONS else not 0 <= value < BITS[node.dtype]
