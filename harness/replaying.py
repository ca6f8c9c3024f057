"""Running recorded cases again: what there is to run, and what came of it by what was recorded."""

import enum
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import msgspec

from generators.cases import AnyCase
from harness.fingerprint import kind_of, same_kind
from harness.gaps import Known
from harness.jobs import Job
from harness.known import Expectations
from harness.outcome import Outcome, Verdict
from harness.pool import Pool

_RIGHT = (Verdict.PASS, Verdict.REJECTED)


class Again(enum.StrEnum):
    """What a case does when it runs again, by what was recorded of it."""

    FAILS = "FAILS"
    """As recorded; or nothing is recorded of it."""
    CHANGED = "CHANGED"
    """It is not right, and not as recorded."""
    FIXED = "FIXED"
    """It failed, and is right now."""
    PASSES = "PASSES"
    """It is right, and no failure is recorded of it."""
    UNDECIDED = "UNDECIDED"
    """It is neither right nor wrong, as recorded, or nothing is recorded."""


@dataclass(frozen=True, slots=True)
class Item:
    """A case to run again, and what a person calls it.

    ``recorded`` is its verdict, None where there is none; ``same`` says whether an outcome is as
    recorded. ``known`` is what is declared of it.
    """

    called: str
    case: AnyCase
    recorded: Verdict | None = None
    same: Callable[[Outcome], bool] = lambda _: False
    known: Known | None = None


@dataclass(frozen=True, slots=True)
class Replayed:
    """What came of an item. ``expected`` names what is declared that expects it, if anything."""

    item: Item
    outcome: Outcome
    again: Again
    expected: str | None = None

    @property
    def new(self) -> bool:
        """Whether it is something that was neither recorded nor declared."""
        if self.expected is not None:
            return False
        unrecorded = self.again is Again.FAILS and self.item.recorded is None
        expired = self.item.known is not None and self.again is Again.FAILS
        return self.again is Again.CHANGED or unrecorded or expired


def recorded_item(called: str, case: AnyCase, outcome: Outcome | None) -> Item:
    """The item of a case of which a campaign recorded ``outcome``, if any."""
    if outcome is None:
        return Item(called, case)
    if not outcome.verdict.is_failure:
        return Item(called, case, outcome.verdict, lambda now: now.verdict is outcome.verdict)
    kind = kind_of(case, outcome)
    return Item(called, case, outcome.verdict, lambda now: same_kind(case, now, kind))


def declared_item(called: str, case: AnyCase, verdict: Verdict | None) -> Item:
    """The item of a case of which ``verdict`` is declared, if anything."""
    return Item(called, case, verdict, lambda now: now.verdict is verdict)


def known_item(known: Known, *, fixes: bool) -> Item:
    """The item of the case of what is declared as ``known``."""
    case = msgspec.structs.replace(known.case, fixes=fixes)
    return Item(known.name, case, known.verdict, known.expects, known)


def replayed(pool: Pool, items: Sequence[Item], expectations: Expectations) -> Iterator[Replayed]:
    """Run ``items`` on ``pool``, each in a fresh process; what came of each, as it ends.

    What would be new comes last: to find out whether something declared expects it takes runs.
    """
    pool.submit(*(Job(item.case, item, fresh=True) for item in items))
    doubtful = []
    for job, outcome in pool.drain():
        item = job.tag
        assert isinstance(item, Item)
        one = Replayed(item, outcome, again(item, outcome))
        if one.again is Again.FAILS and item.known is not None:
            yield replace(one, expected=expectations.met.failed(item.known))
        elif one.new and outcome.verdict.is_failure:
            doubtful.append(one)
        else:
            yield one
    for one in doubtful:
        yield replace(one, expected=expectations.name(one.item.case, one.outcome))


def again(item: Item, outcome: Outcome) -> Again:
    """What ``outcome`` of ``item`` is by what was recorded."""
    recorded = item.recorded
    if outcome.verdict in _RIGHT:
        return Again.FIXED if recorded is not None and recorded.is_failure else Again.PASSES
    if recorded is None or item.same(outcome):
        return Again.FAILS if outcome.verdict.is_failure else Again.UNDECIDED
    return Again.CHANGED


def counted(all_replayed: Sequence[Replayed]) -> str:
    """How many of each, in a line."""
    counts = Counter(one.again for one in all_replayed)
    each = ", ".join(f"{counts[what]} {what}" for what in Again if counts[what])
    cases = "1 case" if len(all_replayed) == 1 else f"{len(all_replayed)} cases"
    return f"{cases}: {each or 'none ran'}"
