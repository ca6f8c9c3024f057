"""Cases for the analyzer, checked: all that it answers about an expression, against brute force."""

from collections import deque
from collections.abc import Callable, Generator, Iterator
from functools import partial

from generators import expressions
from generators.algebra_case import ExpressionCase
from generators.expressions import BITS, DIVISIONS, SHIFTS, Expression
from harness.algebra import checks, state
from harness.algebra.observed import Observed, observed
from harness.algebra.session import (
    Handle,
    Session,
    Subject,
    assuming_unless_raised,
    forget,
    shared_session,
)
from harness.blame import is_of_tvm
from harness.fault import RAISES, Fault

__all__ = ["Fault", "check"]


def check(
    case: ExpressionCase, subject: Subject | None = None, *, fully: bool = False
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
    found: dict[str, Fault] = {}
    for fault in _faults(seen, subject):
        found.setdefault(fault.key, fault)
    return tuple(found.values())


def _faults(seen: Observed, subject: Subject | None) -> Iterator[Fault]:
    case = seen.case
    left = deque(checks.CHECKS.values())
    raised = yield from _caught(seen, partial(_asked, seen, subject, left))
    # Once at least: where something raised before any condition was assumed, none was begun.
    before = len(left) + 1
    while raised and left and len(left) < before:
        before = len(left)
        # What raised is out of the way: the others are asked anew.
        raised = yield from _caught(seen, partial(_asked_anew, seen, subject, left))
    if seen.one_in(8) and case.told == "range" and not case.constraints:
        for single in seen.variants(64):
            rebound = partial(state.rebound, subject or Session, seen, _each, single=single)
            yield from _caught(seen, rebound)
    if seen.one_in(128):
        yield from _caught(seen, partial(_strongly, seen, subject))


def _caught(seen: Observed, asked: Callable[[], Iterator[Fault]]) -> Generator[Fault, None, bool]:
    """The faults that ``asked`` tells, and that of what it raises; whether it raised."""
    case = seen.case
    try:
        yield from asked()
    except Exception as error:
        forget(case.variables, case.told)
        if not is_of_tvm(error):
            raise
        if not _is_refused(case, str(error)):
            text = next((line for line in reversed(str(error).splitlines()) if line), "")
            yield Fault(RAISES, f"{type(error).__name__}: {text}", str(case.expression), {})
        return True
    return False


def _asked(seen: Observed, subject: Subject | None, left: deque[checks.Check]) -> Iterator[Fault]:
    """The checks that are ``left``, each taken from there as it begins."""
    case = seen.case
    run = partial(_of_those, left)
    if case.constraints:
        # What is assumed is to be gone afterwards; where it is not, others must not see it.
        session = (subject or Session)(case.variables, case.told)
        yield from state.restored(session, seen, run)
    else:
        session = (subject or shared_session)(case.variables, case.told)
        yield from run(session, seen, session.emit(case.expression))


def _asked_anew(
    seen: Observed, subject: Subject | None, left: deque[checks.Check]
) -> Iterator[Fault]:
    """As ``_asked``, by one who was asked nothing before and is not asked again."""
    case = seen.case
    session = (subject or Session)(case.variables, case.told)
    with assuming_unless_raised(session, [session.emit(each) for each in case.constraints]):
        yield from _of_those(left, session, seen, session.emit(case.expression))


def _strongly(seen: Observed, subject: Subject | None) -> Iterator[Fault]:
    case = seen.case
    # It would make all later answers slower.
    session = (subject or Session)(case.variables, case.told)
    with assuming_unless_raised(session, [session.emit(each) for each in case.constraints]):
        yield from checks.strong_claims(session, seen, session.emit(case.expression))


def _of_those(
    left: deque[checks.Check], session: Session, seen: Observed, handle: Handle
) -> Iterator[Fault]:
    while left:
        yield from left.popleft()(session, seen, handle)


def _each(session: Session, seen: Observed, handle: Handle) -> Iterator[Fault]:
    for one in checks.CHECKS.values():
        yield from one(session, seen, handle)


_REFUSALS = ((DIVISIONS, "divide by zero"), (SHIFTS, "shift amount"))
"""What TVM says, in small letters, of an operator whose constant leaves it without a value."""


def _is_refused(case: ExpressionCase, message: str) -> bool:
    """Whether ``message`` says of something in ``case`` that it never has a value, and it has not.

    TVM may find that out.
    """
    trees = (case.expression, *case.constraints, *([case.other] if case.other else ()))
    without = [one for tree in trees for one in expressions.nodes(tree) if _has_no_value(one)]
    return any(
        said in message.lower() and any(one.operator in operators for one in without)
        for operators, said in _REFUSALS
    )


def _has_no_value(node: Expression) -> bool:
    """Whether it divides by the constant zero, or shifts by a constant that no shift may have."""
    if node.operator not in (*DIVISIONS, *SHIFTS) or node.operands[1].operator != "const":
        return False
    value = int(node.operands[1].leaf)
    return value == 0 if node.operator in DIVISIONS else not 0 <= value < BITS[node.dtype]
