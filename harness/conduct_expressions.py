"""Expressions, in this process: check them, and make what fails as simple as can be.

A block checks its expressions and says which of them failed; these run again as cases of their own,
and only then is it told what fails, and what it comes down to.
"""

import re
from collections.abc import Callable, Sequence
from itertools import islice

from generators.causes import cause
from generators.expression_cases import ANALYZED, Block, Member
from harness.algebra import check
from harness.algebra.fault import Fault
from harness.clock import Clock
from harness.compiled_expressions import RAISES, compiled_faults
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
    if not faults:
        return Outcome(Verdict.PASS, seconds=clock.seconds)
    fault = faults[0]
    if fault.check == RAISES:
        # What it says is the cause: nothing has to be found out.
        return Outcome(
            Verdict.OPAQUE_CRASH,
            _stage(case),
            case.position,
            fault.message,
            seconds=clock.seconds,
        )
    smallest = _smallest(case, fault, progress, clock)
    others = dict.fromkeys(one.check for one in faults if one.check != fault.check)
    # Before the message: its last line is what it is told by.
    also = (f"it also fails {', '.join(others)}",) if others else ()
    of_state = _OF_STATE.fullmatch(fault.check)
    return Outcome(
        Verdict.WRONG_VALUE,
        _stage(case),
        fault.check,
        "\n".join((*also, fault.message)),
        seconds=clock.seconds,
        cause=_ANY if of_state else cause(smallest.subject.expression),
        smallest=smallest,
    )


def _smallest(case: Member, fault: Fault, progress: Progress, clock: Clock) -> Member:
    """What ``case`` comes down to where it keeps failing the same check."""
    tried = {case.identifier}
    size = 1 if case.position == ANALYZED else _TOGETHER
    while True:
        left = (one for one in case.smaller if one.identifier not in tried)
        found = None
        while found is None and len(tried) < _MOST_TRIES:
            some = tuple(islice(left, size))
            if not some:
                break
            tried |= {one.identifier for one in some}
            checked = zip(some, _checked(some, progress, clock), strict=True)
            found = next((one for one, faults in checked if _has(faults, fault)), None)
        if found is None:
            return case
        case = found


def _has(faults: Faults | None, wanted: Fault) -> bool:
    return any(one.check == wanted.check for one in faults or ())


def _checked(members: Sequence[Member], progress: Progress, clock: Clock) -> list[Faults | None]:
    """The faults of each of ``members``, which stand in one position.

    None where there is nothing to check.
    """
    first = members[0]
    progress(_stage(first))
    subjects = [one.subject for one in members]
    with clock("tvm"):
        if first.position == ANALYZED:
            return [check(one) for one in subjects]
        by_level: dict[int, list[int]] = {}
        for number, one in enumerate(members):
            by_level.setdefault(one.opt_level, []).append(number)
        found: list[Faults | None] = [None] * len(members)
        for level, numbers in by_level.items():
            some = compiled_faults(
                [subjects[at] for at in numbers],
                first.position,
                level,
                undefined=first.undefined,
            )
            for at, faults in zip(numbers, some, strict=True):
                found[at] = faults
        return found


def _stage(case: Member) -> str:
    return _ANALYSIS if case.position == ANALYZED else _KERNELS
