"""Running recorded cases again, and comparing the outcomes with the records."""

import enum
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from relaxcheck.generators.core.case import AnyCase, with_fixes
from relaxcheck.harness.known.expected_failures import Known
from relaxcheck.harness.known.known import Expectations
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.fingerprint import same_signature, signature_of
from relaxcheck.harness.wording import plural
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.pool import Pool
from relaxcheck.harness.workers.protocol import Ask


class Again(enum.StrEnum):
    """The result of running a case again, compared with its record."""

    STILL_FAILS = "STILL FAILS"
    """It fails as recorded."""
    FAILS = "FAILS"
    """It fails, and has no record."""
    CHANGED = "CHANGED"
    """It is neither right nor as recorded."""
    FIXED = "FIXED"
    """It failed, and is right now."""
    PASSES = "PASSES"
    """It is right, and no failure is recorded."""
    BUILT = "BUILT"
    """Its code is generated and checked; it does not run here, where a failure may be recorded."""
    UNDECIDED = "UNDECIDED"
    """It is neither right nor wrong, as recorded or without a record."""


_OF_RUNS = frozenset(
    {
        Verdict.WRONG_SHAPE,
        Verdict.WRONG_DTYPE,
        Verdict.WRONG_VALUE,
        Verdict.ACCEPTS_INVALID,
        Verdict.PROCESS_DEATH,
    }
)
"""Failures that may need a run: code that is only built does not show that they are gone."""


@dataclass(frozen=True, slots=True)
class Item:
    """A case to run again; ``called`` is the user's name for it.

    ``recorded`` is its recorded verdict, if there is one; ``same`` compares an outcome with the
    record. ``known`` is the declared failure that it is the case of, if it is of one. ``vetted``:
    nobody ran it before, so the reference is asked first if it is as valid as it says.
    """

    called: str
    case: AnyCase
    recorded: Verdict | None = None
    same: Callable[[Outcome], bool] = lambda _: False
    known: Known | None = None
    vetted: bool = False


@dataclass(frozen=True, slots=True)
class Replayed:
    """The result of an item. ``expected`` names the declaration that expects it, if any."""

    item: Item
    outcome: Outcome
    again: Again
    expected: str | None = None

    @property
    def new(self) -> bool:
        """True if it was neither recorded nor declared."""
        if self.expected is not None:
            return False
        expired = self.item.known is not None and self.again is Again.STILL_FAILS
        return self.again in (Again.CHANGED, Again.FAILS) or expired


def recorded_item(called: str, case: AnyCase, outcome: Outcome | None) -> Item:
    """The item of a case with the ``outcome`` that a campaign recorded, if any."""
    if outcome is None:
        return Item(called, case)
    if not outcome.verdict.is_failure:
        return Item(called, case, outcome.verdict, lambda now: now.verdict is outcome.verdict)
    signature = signature_of(case, outcome)
    return Item(called, case, outcome.verdict, lambda now: same_signature(case, now, signature))


def declared_item(called: str, case: AnyCase, verdict: Verdict | None) -> Item:
    """The item of a case with a declared ``verdict``, if any."""
    return Item(called, case, verdict, lambda now: now.verdict is verdict)


def known_item(known: Known, *, fixes: bool) -> Item:
    """The item of the case of a declared failure."""
    case = with_fixes(known.case, fixes)
    return Item(known.name, case, known.verdict, known.expects, known)


def replayed(pool: Pool, items: Sequence[Item], expectations: Expectations) -> Iterator[Replayed]:
    """Run ``items`` on ``pool``, each in a fresh process; yield the results as they end.

    Possibly new failures come last: to find out if a declaration expects them takes more runs.
    """
    asks = (Ask.VETTED if item.vetted else Ask.RUN for item in items)
    pool.submit(
        *(Job(each.case, each, fresh=True, ask=ask) for each, ask in zip(items, asks, strict=True))
    )
    doubtful = []
    for job, outcome in pool.drain():
        item = job.tag
        assert isinstance(item, Item)
        ended = Replayed(item, outcome, again(item, outcome))
        if ended.again is Again.STILL_FAILS and item.known is not None:
            yield replace(ended, expected=expectations.tally.failed(item.known))
        elif ended.new and outcome.verdict.is_failure:
            doubtful.append(ended)
        else:
            yield ended
    for ended in doubtful:
        yield replace(ended, expected=expectations.name(ended.item.case, ended.outcome))


def again(item: Item, outcome: Outcome) -> Again:
    """``outcome`` of ``item``, compared with its record."""
    recorded = item.recorded
    fails = recorded is not None and recorded.is_failure
    if outcome.verdict is Verdict.BUILT and (recorded in _OF_RUNS or not fails):
        return Again.BUILT
    if outcome.verdict.is_right:
        return Again.FIXED if fails else Again.PASSES
    if recorded is None or item.same(outcome):
        if not outcome.verdict.is_failure:
            return Again.UNDECIDED
        return Again.FAILS if recorded is None else Again.STILL_FAILS
    return Again.CHANGED


def counted(all_replayed: Sequence[Replayed]) -> str:
    """The number of each result, in one line."""
    counts = Counter(item.again for item in all_replayed)
    each = ", ".join(f"{counts[again]} {again}" for again in Again if counts[again])
    return f"{plural(len(all_replayed), 'case')}: {each or 'none ran'}"
