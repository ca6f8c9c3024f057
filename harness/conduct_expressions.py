"""Expressions, in this process: check them, and make what fails as simple as can be.

A block checks its expressions and says which of them failed; these run again as cases of their own,
and only then is it told what fails, and what it comes down to.
"""

from collections.abc import Callable, Sequence

import msgspec

from generators.algebra import ExpressionCase
from generators.expression_cases import ANALYZED, Block, Member
from harness.algebra import Fault, check
from harness.clock import Clock
from harness.outcome import Outcome, Verdict

_MOST_TRIES = 400
"""Expressions that one is tried to be reduced to."""

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
    return Outcome(Verdict.PASS, checked=len(members), parts=parts, seconds=clock.seconds)


def _alone(case: Member, progress: Progress, clock: Clock) -> Outcome:
    (faults,) = _checked((case,), progress, clock)
    if not faults:
        return Outcome(Verdict.PASS, seconds=clock.seconds)
    fault = faults[0]
    smallest = _smallest(case, fault, progress, clock)
    return Outcome(
        fault.verdict,
        _STAGE[case.position],
        fault.check,
        fault.message,
        seconds=clock.seconds,
        cause=cause(smallest),
        smallest=smallest,
    )


def _smallest(case: Member, fault: Fault, progress: Progress, clock: Clock) -> Member:
    """What ``case`` comes down to where it keeps failing the same check."""
    tried = {case.identifier}
    candidates = case.smaller
    while (candidate := next(candidates, None)) is not None and len(tried) < _MOST_TRIES:
        if candidate.identifier in tried:
            continue
        tried.add(candidate.identifier)
        (faults,) = _checked((candidate,), progress, clock)
        if any(one.alike(fault) for one in faults):
            case, candidates = candidate, candidate.smaller
    return case


def _checked(members: Sequence[Member], progress: Progress, clock: Clock) -> list[Faults]:
    """The faults of each of ``members``, which stand in one position."""
    position = members[0].position
    progress(_STAGE[position])
    with clock("checks"):
        return [check(one.subject) for one in members]
