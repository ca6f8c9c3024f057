"""Workers that see each write out of bounds."""

from collections.abc import Iterator

import pytest

from relaxcheck.harness.outcomes.errors import OVERWRITTEN, WRITTEN
from relaxcheck.harness.outcomes.outcome import Ending, Outcome, Verdict
from relaxcheck.harness.outcomes.plain import does
from relaxcheck.harness.releases.releases import own
from relaxcheck.harness.triage.bisection.running import bisected
from relaxcheck.harness.workers.jobs import Job, Limits
from relaxcheck.harness.workers.protocol import BundledFix
from relaxcheck.harness.workers.rooms import BY_CHANCE, Rooms, by_chance, watched
from tests.harness.triage.reduction.chains import chain

DIED = Outcome(
    Verdict.PROCESS_DEATH,
    "run",
    None,
    "worker ended with SIGABRT in run: free(): invalid size",
    ending=Ending("SIGABRT"),
)
PROOF = Outcome(Verdict.OPAQUE_CRASH, "run", None, f"OutOfBounds: f {OVERWRITTEN}: it changed …")
UNABLE = Outcome(Verdict.HARNESS_ERROR, "run", None, "NotDirect: a tuple")


class Answers:
    """A pool that answers direct runs with ``direct``, and others with ``DIED``."""

    def __init__(self, direct: Outcome):
        self.limits, self.release, self.size = Limits(), own(), 1
        self.environment: dict[str, str] = {}
        self.fixes: tuple[BundledFix, ...] = ()
        self.direct = direct
        self.jobs: list[Job] = []

    def submit(self, *jobs: Job, first: bool = False) -> None:
        self.jobs += jobs

    def wait(self, timeout: float) -> Iterator[tuple[Job, Outcome]]:
        while self.jobs:
            job = self.jobs.pop()
            yield job, self.direct if job.tracing and job.tracing.direct else DIED

    def drain(self) -> Iterator[tuple[Job, Outcome]]:
        return self.wait(0)


@pytest.mark.parametrize(
    ("direct", "verdict", "proven"),
    [
        (PROOF, Verdict.PROCESS_DEATH, True),
        (Outcome(Verdict.PASS), Verdict.PASS, False),
        (UNABLE, Verdict.NO_ORACLE, False),
        (DIED, Verdict.NO_ORACLE, False),
    ],
)
def test_a_room_replaces_chance(direct: Outcome, verdict: Verdict, proven: bool) -> None:
    rooms = Rooms(Answers(direct), DIED)
    job = Job(chain(1))
    rooms.submit(job)
    ((answered, outcome),) = rooms.drain()
    assert answered is job
    assert (outcome.verdict, WRITTEN in outcome.details) == (verdict, proven)


def test_a_case_is_watched_only_if_rooms_show_its_fault() -> None:
    for direct, shown in ((PROOF, True), (Outcome(Verdict.PASS), False), (UNABLE, False)):
        pool = Answers(direct)
        assert isinstance(watched(pool, chain(1), DIED), Rooms) is shown
    pool = Answers(PROOF)
    assert watched(pool, chain(1), Outcome(Verdict.WRONG_VALUE)) is pool
    assert watched(pool, chain(1), None) is pool


def test_no_pass_is_blamed_by_chance() -> None:
    result = bisected(Answers(Outcome(Verdict.PASS)), chain(1))
    assert (result.culprit, result.why) == (None, BY_CHANCE)


def test_a_corrupted_heap_has_words_of_its_own() -> None:
    assert by_chance(DIED)
    assert does(DIED) == "corrupts the heap when it runs"
    rooms = Rooms(Answers(PROOF), DIED)
    rooms.submit(Job(chain(1)))
    ((_, outcome),) = rooms.drain()
    assert not by_chance(outcome)
    assert does(outcome) == "writes out of bounds when it runs"
