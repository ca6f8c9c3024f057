"""Causes of wrong KV caches: blame tells them apart, since what is wrong is a symptom of many."""

from collections import deque
from collections.abc import Iterator
from pathlib import Path

import pytest

from relaxcheck.generators.kvcache.case import KvCase
from relaxcheck.generators.kvcache.family import family
from relaxcheck.generators.kvcache.operations import Add, Forward, Pop, Remove
from relaxcheck.generators.kvcache.settings import NORMAL, Limits, Model
from relaxcheck.harness.journal.journal import DRAWN, Journal
from relaxcheck.harness.known.corpus import entries
from relaxcheck.harness.known.expected_failures import KnownFinding
from relaxcheck.harness.known.known import Expectations
from relaxcheck.harness.known.tally import ExpectationTally
from relaxcheck.harness.kvcache.execute import execute
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.triage.investigation import Investigations
from relaxcheck.harness.workers.jobs import Job
from tests.harness.campaign.instant_pool import Instant
from tests.measure.quality.kvcache.control import GROUP, ROPE, DenseCache

FAMILY = family()
_GROUPS = Model(heads=4, kv_heads=2)
GROUPED = KvCase(operations=(Add(0), Forward((0,), (2,))), model=_GROUPS)
ROTATED = KvCase(
    operations=(Add(0), Forward((0,), (3,)), Forward((0,), (1,))), limits=Limits(rope=NORMAL)
)
LONGER = KvCase(
    operations=(Add(1), Add(3), Forward((1,), (5,)), Pop(1, 2), Remove(3), Forward((1,), (2,))),
    model=_GROUPS,
    seed=2,
)
"""Fails as ``GROUPED`` does, and for the same cause."""


def answer(case: KvCase) -> Outcome:
    """The outcome of ``case`` with a cache of two faults, both of attention."""

    def make(model: Model, limits: Limits, fixes: bool) -> DenseCache:
        return DenseCache(model, limits, fixes, ROPE if limits.rope == NORMAL else GROUP)

    return execute(case, make=make)


class Dense(Instant):
    """A pool that runs each case with that cache."""

    def __init__(self) -> None:
        super().__init__(answer)  # type: ignore[arg-type]

    def drain(self) -> Iterator[tuple[Job, Outcome]]:
        while self.jobs:
            yield from self.wait(0)


@pytest.mark.parametrize("cases", [(GROUPED, ROTATED, LONGER), (LONGER, ROTATED, GROUPED)])
def test_two_faults_of_attention_are_two_findings(
    tmp_path: Path, cases: tuple[KvCase, ...]
) -> None:
    findings: dict[str, Finding] = {}
    jobs: deque[Job] = deque()
    with Journal(tmp_path) as journal:
        investigations = Investigations((FAMILY,), journal, findings, jobs.append)
        for case in cases:
            journal.start(case, DRAWN)
            investigations.look_into(case, answer(case))
        while jobs:
            job = jobs.popleft()
            investigations.advance(job, answer(job.case))  # type: ignore[arg-type]
    assert {finding.signature for finding in findings.values()} == {
        next(iter(findings.values())).signature
    }
    assert sorted(finding.count for finding in findings.values()) == [1, 2]
    assert all(finding.stage == "compare attention" for finding in findings.values())


def test_a_known_fault_of_attention_covers_no_other() -> None:
    found = Expectations(Dense(), {FAMILY.name: FAMILY}, (), ExpectationTally()).cause(  # type: ignore[arg-type]
        GROUPED, answer(GROUPED)
    )
    entry = KnownFinding(
        name="groups",
        operator=found.operator,
        when={axis: (value,) for axis, value in found.blame.items()},
        releases=("0.27",),
        verdict=found.verdict,
        issue=None,
        expires="2127-01-01",
        stage=found.stage,
        case=found.case,
    )
    known = Expectations(Dense(), {FAMILY.name: FAMILY}, (entry,), ExpectationTally())  # type: ignore[arg-type]
    assert known.name(LONGER, answer(LONGER)) == "groups"
    assert known.name(ROTATED, answer(ROTATED)) is None


def test_entries_of_the_corpus_have_fingerprints_of_their_own() -> None:
    own = [entry for entry in entries() if isinstance(entry.case, KvCase)]
    for entry in own:
        others = [other.expected.fingerprint for other in own if other is not entry]
        alike = {entry.expected.fingerprint, *entry.expected.alike.values()}
        assert not alike.intersection(others), entry.name
        assert entry.expected.fingerprint in alike - {""}
