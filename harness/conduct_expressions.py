"""Expressions, in this process: check them, and make what fails as simple as can be.

A block checks its expressions and says which of them failed; these run again as cases of their own,
and only then is it told what fails, and what it comes down to.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from msgspec import UNSET
from msgspec.structs import replace

from generators.causes import cause
from generators.expression_cases import ANALYZED, Block, Member
from harness.algebra import check
from harness.algebra.dependence import related, seldom
from harness.algebra.fault import RAISES, Fault
from harness.clock import Clock
from harness.compiled_expressions import compiled_faults
from harness.kernels import How
from harness.outcome import Outcome, Verdict

_MOST_TRIES = 400
"""Expressions that one is tried to be reduced to."""

_TOGETHER = 16
"""Of these so many are compiled at a time, for the price of a few."""

_OF_STATE = re.compile("restored|.+-after-.+")
"""Checks of what the analyzer was to forget: they fail whatever the expression is."""

_ANY = "any"

_ANALYSIS, _KERNELS = "analysis", "compiled"
"""The stages in which TVM's analyzer is asked, and in which what was compiled is run."""

Progress = Callable[[str], None]
Faults = tuple[Fault, ...]


def conduct_expressions(case: Block | Member, progress: Progress) -> Outcome:
    """The outcome of ``case``; ``progress`` is told every stage that begins."""
    clock = Clock()
    if isinstance(case, Member):
        return _alone(case, progress, clock)
    progress("oracle")
    with clock("drawing"):
        members = case.members
    found = _checked(members, progress, clock)
    parts = tuple(one for one, faults in zip(members, found, strict=True) if faults)
    checked = sum(faults is not None for faults in found)
    return Outcome(Verdict.PASS, checked=checked, parts=parts, seconds=clock.seconds)


def _alone(case: Member, progress: Progress, clock: Clock) -> Outcome:
    (faults,) = _checked((case,), progress, clock)
    if faults is None:
        said = f"there is nothing to check of it in position {case.position}"
        return Outcome(Verdict.NO_ORACLE, message=said, seconds=clock.seconds)
    own = [one for one in faults if case.about in (UNSET, one.key)]
    if not own:
        return Outcome(Verdict.PASS, seconds=clock.seconds)
    first, *causes = _causes(case, own, progress, clock)
    parts = tuple(replace(case, about=one.fault.key) for one in causes)
    fault = first.fault
    if fault.check == RAISES:
        # What it says is the cause: nothing has to be found out.
        return Outcome(
            Verdict.OPAQUE_CRASH,
            _stage(case),
            case.position,
            fault.message,
            seconds=clock.seconds,
            parts=parts,
        )
    others = dict.fromkeys(one.check for one in faults if one.check != fault.check)
    # Before the message: its last line is what it is told by.
    also = (f"it also fails {', '.join(others)}",) if others else ()
    return Outcome(
        Verdict.WRONG_VALUE,
        _stage(case),
        first.check,
        "\n".join((*also, first.message or fault.message)),
        seconds=clock.seconds,
        cause=first.cause,
        smallest=first.smallest,
        parts=parts,
    )


@dataclass(frozen=True, slots=True)
class _Cause:
    """What is behind ``fault``; ``check`` and ``cause`` are what it is told from others by.

    ``smallest`` is what the expression comes down to with it, where it was made smaller;
    ``message`` what is said then of ``check``, where that is another than the fault's.
    """

    fault: Fault
    check: str
    cause: str = ""
    smallest: Member | None = None
    message: str = ""


def _causes(
    case: Member, faults: Sequence[Fault], progress: Progress, clock: Clock
) -> Iterator[_Cause]:
    """What is behind ``faults``, of which there is one at least; no cause twice.

    An exception is a cause by what it says. A check that also fails of the smallest expression for
    another, and rests on that or the other way round, fails for the same cause.
    """
    left, told = list(faults), set[tuple[str, str]]()
    plain = [one.check for one in faults if not seldom(one.check)]
    while left:
        fault = left.pop(0)
        if fault.check == RAISES:
            yield _Cause(fault, fault.check)
            continue
        if seldom(fault.check) and any(related(fault.check, one) for one in plain):
            continue
        if _OF_STATE.fullmatch(fault.check):
            # Whatever the expression is: to make it smaller would tell nothing more.
            yield _Cause(fault, fault.check, _ANY)
            left = [one for one in left if not _alike(one, fault)]
            continue
        smallest = _smallest(case, fault.key, progress, clock)
        there = _checked((smallest,), progress, clock, fully=True)[0] or ()
        left = [one for one in left if not (_has(there, one.key) and _alike(one, fault))]
        called = _called(smallest, fault, there, progress, clock)
        found = cause(smallest.subject.expression)
        if (called.check, found) not in told:
            told.add((called.check, found))
            message = "" if called is fault else called.message
            yield _Cause(fault, called.check, found, smallest, message)


def _alike(one: Fault, other: Fault) -> bool:
    return one.check != RAISES and related(one.check, other.check)


def _called(
    smallest: Member, fault: Fault, there: Faults, progress: Progress, clock: Clock
) -> Fault:
    """The fault that a cause is called by: the first that ``smallest`` is smallest for as well.

    So it is called the same whichever of them the expression had that was drawn. ``there`` are all
    that ``smallest`` has.
    """
    for one in there:
        if one.key == fault.key:
            break
        if (
            _alike(one, fault)
            and not seldom(one.check)
            and _simpler(smallest, one.key, {smallest.identifier}, progress, clock) is None
        ):
            return one
    return fault


def _smallest(case: Member, key: str, progress: Progress, clock: Clock) -> Member:
    """What ``case`` comes down to where it keeps the fault ``key``.

    It is about that fault alone where another would be told first.
    """
    case = replace(case, about=UNSET)
    tried = {case.identifier}
    while (found := _simpler(case, key, tried, progress, clock)) is not None:
        case = found
    (faults,) = _checked((case,), progress, clock)
    return case if faults and faults[0].key == key else replace(case, about=key)


def _simpler(
    case: Member, key: str, tried: set[str], progress: Progress, clock: Clock
) -> Member | None:
    """The first that is simpler by a step and keeps the fault ``key``, of those not in ``tried``.

    None also where enough were tried; those that were are put there.
    """
    left = (one for one in case.smaller if one.identifier not in tried)
    size = 1 if case.position == ANALYZED else _TOGETHER
    while len(tried) < _MOST_TRIES:
        some = tuple(islice(left, size))
        if not some:
            break
        tried |= {one.identifier for one in some}
        checked = zip(some, _checked(some, progress, clock), strict=True)
        for one, faults in checked:
            if _has(faults, key):
                return one
    return None


def _has(faults: Faults | None, key: str) -> bool:
    return any(one.key == key for one in faults or ())


def _checked(
    members: Sequence[Member], progress: Progress, clock: Clock, *, fully: bool = False
) -> list[Faults | None]:
    """The faults of each of ``members``, which stand in one position.

    None where there is nothing to check. ``fully``: of all checks, see ``harness.algebra.check``.
    """
    first = members[0]
    progress(_stage(first))
    subjects = [one.subject for one in members]
    with clock("tvm"):
        if first.position == ANALYZED:
            return [check(one, fully=fully) for one in subjects]
        by_level: dict[int, list[int]] = {}
        for number, one in enumerate(members):
            by_level.setdefault(one.opt_level, []).append(number)
        found: list[Faults | None] = [None] * len(members)
        for level, numbers in by_level.items():
            some = compiled_faults(
                [subjects[at] for at in numbers],
                first.position,
                How(level, first.fixes),
                first.points,
            )
            for at, faults in zip(numbers, some, strict=True):
                found[at] = faults
        return found


def _stage(case: Member) -> str:
    return _ANALYSIS if case.position == ANALYZED else _KERNELS
