"""Execute cases about expressions, in this process: check them, and reduce the failing ones.

A batch checks its expressions and says which of them failed. These run again as cases of their own,
and only then their causes are looked for.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from msgspec import UNSET
from msgspec.structs import replace

from relaxcheck.fixes.sym_api.root import has_relax
from relaxcheck.generators.expressions.cases import ANALYZED, ExpressionBatch, ExpressionCase
from relaxcheck.generators.expressions.causes import cause
from relaxcheck.harness.expressions.analyzer import check
from relaxcheck.harness.expressions.analyzer.dependence import related, repeats, sampled
from relaxcheck.harness.expressions.fault import ALSO, RESTORED, Fault
from relaxcheck.harness.kind import Progress
from relaxcheck.harness.outcomes.clock import Clock
from relaxcheck.harness.outcomes.errors import same_elsewhere
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict

_MOST_TRIES = 400
"""Expressions that one is tried to be reduced to."""

_TOGETHER = 16
"""Of these so many are compiled at a time, for the price of a few."""

_ANY = "any"
"""The cause of what the analyzer was to forget: it fails whatever the expression is."""

_ANALYSIS, _KERNELS = "analysis", "compiled"
"""The stages in which TVM's analyzer is asked, and in which what was compiled is run."""

Faults = tuple[Fault, ...]


def execute(case: ExpressionBatch | ExpressionCase, progress: Progress) -> Outcome:
    """The outcome of ``case``, with the fixes on or off as it says.

    ``progress`` gets the name of each stage as it begins.
    """
    if has_relax():
        # What it imports has Relax, as have the kernels below.
        from relaxcheck.harness.workers.switching import switch_fixes

        switch_fixes(case.fixes, progress)
    elif case.position != ANALYZED or case.fixes:
        needed = "with the fixes" if case.fixes else f"in position {case.position}"
        return Outcome(Verdict.NO_ORACLE, message=f"{needed} it takes Relax, and there is none")
    return execute_expressions(case, progress)


def execute_expressions(case: ExpressionBatch | ExpressionCase, progress: Progress) -> Outcome:
    """The outcome of ``case``; the fixes stay as they are."""
    clock = Clock()
    if isinstance(case, ExpressionCase):
        return _alone(case, progress, clock)
    progress("oracle")
    with clock("drawing"):
        members = case.members
    all_faults = _checked(members, progress, clock)
    parts = tuple(member for member, faults in zip(members, all_faults, strict=True) if faults)
    checked = sum(faults is not None for faults in all_faults)
    return Outcome(Verdict.PASS, checked=checked, parts=parts, seconds=clock.seconds)


def _is_about(case: ExpressionCase, fault: Fault) -> bool:
    """True if ``case`` is about no fault, or about this one, however a release words it."""
    return case.about is UNSET or same_elsewhere(case.about, fault.key)


def _alone(case: ExpressionCase, progress: Progress, clock: Clock) -> Outcome:
    (faults,) = _checked((case,), progress, clock, fully=case.about is not UNSET)
    if faults is None:
        message = f"there is nothing to check of it in position {case.position}"
        return Outcome(Verdict.NO_ORACLE, message=message, seconds=clock.seconds)
    own = [candidate for candidate in faults if _is_about(case, candidate)]
    if not own:
        return Outcome(Verdict.PASS, seconds=clock.seconds)
    fault = own[0]
    first = _cause(case, fault, progress, clock)
    # They are made smaller when they run, with as much time again.
    parts = tuple(replace(case, about=other.key) for other in _further(own, first))
    if fault.raises:
        # The message is the cause: nothing has to be found out.
        return Outcome(
            Verdict.OPAQUE_CRASH,
            _stage(case),
            case.position,
            fault.message,
            seconds=clock.seconds,
            parts=parts,
            details=fault.details,
        )
    others = [other.check for other in faults if other.key != fault.key and first.explains(other)]
    # Before the message, whose last line is its headline.
    also = (f"{ALSO}{', '.join(others)}",) if others else ()
    return Outcome(
        Verdict.WRONG_VALUE,
        _stage(case),
        first.named.check,
        "\n".join((*also, first.named.message)),
        seconds=clock.seconds,
        cause=first.cause,
        smallest=first.smallest,
        parts=parts,
        details=first.named.details,
    )


@dataclass(frozen=True, slots=True)
class _Cause:
    """The cause of ``fault``; the check of ``named`` and ``cause`` identify it.

    ``smallest`` is the smallest expression that keeps the fault, if it was made smaller, and
    ``there`` are all faults of that.
    """

    fault: Fault
    named: Fault
    cause: str = ""
    smallest: ExpressionCase | None = None
    there: Faults = ()

    def explains(self, fault: Fault) -> bool:
        """True if ``fault``, another fault of the same expression, has the same cause.

        It has if their questions rest on each other, and ``fault`` is a fault of the smallest
        expression too or only repeats another check.
        """
        if not _alike(fault, self.fault):
            return False
        if self.fault.asked.after:
            return bool(fault.asked.after)
        return repeats(fault.asked) or _has(self.there, fault.key)


def _cause(case: ExpressionCase, fault: Fault, progress: Progress, clock: Clock) -> _Cause:
    """The cause of ``fault`` of ``case``. An exception is a cause by its message."""
    if fault.raises:
        return _Cause(fault, fault)
    if fault.asked.question == RESTORED or fault.asked.after:
        # Any expression shows it: a smaller one would add nothing.
        return _Cause(fault, fault, _ANY)
    smallest = _smallest(case, fault, progress, clock)
    there = _checked((smallest,), progress, clock, fully=True)[0] or ()
    named = _named(smallest, fault, there, progress, clock)
    return _Cause(fault, named, cause(smallest.subject.expression), smallest, there)


def _further(faults: Sequence[Fault], first: _Cause) -> Iterator[Fault]:
    """The ``faults`` of one expression that may have other causes than ``first``.

    Faults that only repeat another are left out; of ranges that the analyzer knew before, one is
    enough.
    """
    plain = [fault for fault in faults if not repeats(fault.asked)]
    further: list[Fault] = []
    for fault in faults:
        if fault.key == first.fault.key or first.explains(fault):
            continue
        if repeats(fault.asked) and any(_alike(fault, other) for other in plain):
            continue
        if fault.asked.after and any(
            other.asked.after and _alike(fault, other) for other in further
        ):
            continue
        further.append(fault)
        yield fault


def _alike(fault: Fault, other: Fault) -> bool:
    return not fault.raises and related(fault.asked.question, other.asked.question)


def _named(
    smallest: ExpressionCase, fault: Fault, there: Faults, progress: Progress, clock: Clock
) -> Fault:
    """The fault that names a cause: the first that ``smallest`` is smallest for as well.

    So the name is the same whichever of its faults the drawn expression had. ``there`` are all
    faults of ``smallest``.
    """
    for candidate in there:
        if candidate.key == fault.key:
            break
        if (
            _alike(candidate, fault)
            and not repeats(candidate.asked)
            and _simpler(smallest, candidate, {smallest.identifier}, progress, clock) is None
        ):
            return candidate
    return fault


def _smallest(
    case: ExpressionCase, fault: Fault, progress: Progress, clock: Clock
) -> ExpressionCase:
    """The smallest case that ``case`` is reduced to while it keeps ``fault``.

    It is about that fault alone if another of its faults would come first.
    """
    case = replace(case, about=UNSET)
    tried = {case.identifier}
    while (smaller := _simpler(case, fault, tried, progress, clock)) is not None:
        case = smaller
    (faults,) = _checked((case,), progress, clock)
    return case if faults and faults[0].key == fault.key else replace(case, about=fault.key)


def _simpler(
    case: ExpressionCase, fault: Fault, tried: set[str], progress: Progress, clock: Clock
) -> ExpressionCase | None:
    """The first case that is simpler by a step and keeps ``fault``, of those not in ``tried``.

    None also when enough were tried. Adds the cases that it tries to ``tried``.
    """
    left = (smaller for smaller in case.smaller if smaller.identifier not in tried)
    size = 1 if case.position == ANALYZED else _TOGETHER
    while len(tried) < _MOST_TRIES:
        some = tuple(islice(left, size))
        if not some:
            break
        tried |= {candidate.identifier for candidate in some}
        all_faults = _checked(some, progress, clock, fully=sampled(fault.asked))
        checked = zip(some, all_faults, strict=True)
        for candidate, faults in checked:
            if _has(faults, fault.key):
                return candidate
    return None


def _has(faults: Faults | None, key: str) -> bool:
    return any(fault.key == key for fault in faults or ())


def _checked(
    members: Sequence[ExpressionCase], progress: Progress, clock: Clock, *, fully: bool = False
) -> list[Faults | None]:
    """The faults of each of ``members``, which stand in one position; None: nothing to check.

    ``fully``: make all checks, also those that are sampled (``harness.expressions.analyzer``).
    """
    first = members[0]
    progress(_stage(first))
    subjects = [member.subject for member in members]
    with clock("tvm"):
        if first.position == ANALYZED:
            return [check(subject, fully=fully) for subject in subjects]
        from relaxcheck.harness.expressions.compiled import compiled_faults
        from relaxcheck.harness.expressions.kernels import How

        by_level: dict[int, list[int]] = {}
        for number, member in enumerate(members):
            by_level.setdefault(member.opt_level, []).append(number)
        all_faults: list[Faults | None] = [None] * len(members)
        for level, numbers in by_level.items():
            some = compiled_faults(
                [subjects[at] for at in numbers],
                first.position,
                How(level, first.fixes),
                first.points,
            )
            for at, faults in zip(numbers, some, strict=True):
                all_faults[at] = faults
        return all_faults


def _stage(case: ExpressionCase) -> str:
    return _ANALYSIS if case.position == ANALYZED else _KERNELS
