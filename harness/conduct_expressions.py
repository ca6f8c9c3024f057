"""Expressions, in this process: check them, and make what fails as simple as can be.

A block checks its expressions and says which of them failed; these run again as cases of their own,
and only then is it told what fails, and what it comes down to.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from generators.causes import cause
from generators.expression_cases import ANALYZED, Block, Member
from harness.algebra import check
from harness.algebra.dependence import related, sampled, seldom
from harness.clock import Clock
from harness.compiled_expressions import compiled_faults
from harness.fault import RAISES, RESTORED, Fault, is_anew
from harness.kernels import How
from harness.outcome import Outcome, Verdict

_MOST_TRIES = 400
"""Expressions that one is tried to be reduced to."""

_TOGETHER = 16
"""Of these so many are compiled at a time, for the price of a few."""

_ANY = "any"
"""The cause of what the analyzer was to forget: it fails whatever the expression is."""

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
    (faults,) = _checked((case,), progress, clock, fully=_only_fully(case.about))
    if faults is None:
        said = f"there is nothing to check of it in position {case.position}"
        return Outcome(Verdict.NO_ORACLE, message=said, seconds=clock.seconds)
    own = [one for one in faults if case.about in (UNSET, one.key)]
    if not own:
        return Outcome(Verdict.PASS, seconds=clock.seconds)
    fault = own[0]
    first = _cause(case, fault, progress, clock)
    # They are made smaller when they run, with as much time again.
    parts = tuple(replace(case, about=one.key) for one in _further(own, first))
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
    others = [one.check for one in faults if one.key != fault.key and first.explains(one)]
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

    ``smallest`` is what the expression comes down to with it, where it was made smaller, and
    ``there`` are all faults of that; ``message`` is what is said then of ``check``, where that is
    another than the fault's.
    """

    fault: Fault
    check: str
    cause: str = ""
    smallest: Member | None = None
    there: Faults = ()
    message: str = ""

    def explains(self, one: Fault) -> bool:
        """Whether ``one``, another fault of the same expression, is there for the same cause.

        It is where its check and the fault's rest on each other and it is a fault of the smallest
        expression too, or is of a check that only repeats others.
        """
        if not _alike(one, self.fault):
            return False
        if is_anew(self.fault.check):
            return is_anew(one.check)
        return seldom(one.check) or _has(self.there, one.key)


def _cause(case: Member, fault: Fault, progress: Progress, clock: Clock) -> _Cause:
    """What is behind ``fault`` of ``case``. An exception is a cause by what it says."""
    if fault.check == RAISES:
        return _Cause(fault, fault.check)
    if fault.check == RESTORED or is_anew(fault.check):
        # Whatever the expression is: to make it smaller would tell nothing more.
        return _Cause(fault, fault.check, _ANY)
    smallest = _smallest(case, fault.key, progress, clock)
    there = _checked((smallest,), progress, clock, fully=True)[0] or ()
    called = _called(smallest, fault, there, progress, clock)
    message = "" if called is fault else called.message
    return _Cause(fault, called.check, cause(smallest.subject.expression), smallest, there, message)


def _further(faults: Sequence[Fault], first: _Cause) -> Iterator[Fault]:
    """Those of ``faults``, of one expression, that may be there for other causes than ``first``.

    None that only repeats another, and of what ranges that were told first leave behind one.
    """
    plain = [one for one in faults if not seldom(one.check)]
    told: list[Fault] = []
    for one in faults:
        if one.key == first.fault.key or first.explains(one):
            continue
        if seldom(one.check) and any(_alike(one, other) for other in plain):
            continue
        if is_anew(one.check) and any(
            is_anew(other.check) and _alike(one, other) for other in told
        ):
            continue
        told.append(one)
        yield one


def _only_fully(key: str | UnsetType) -> bool:
    """Whether the fault ``key`` may only be met where all checks are made."""
    return key is not UNSET and sampled(key)


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
        found = _checked(some, progress, clock, fully=_only_fully(key))
        checked = zip(some, found, strict=True)
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
