"""A pool of workers for tests of campaigns: it answers at once, by a function."""

from collections import deque
from collections.abc import Callable, Iterator

from relaxcheck.generators.core.program import Case
from relaxcheck.harness.events import Event
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.workers.jobs import Job


class Instant:
    """As a pool of one worker that answers by a function; ``late`` holds all first answers back."""

    appetite = 2
    environment = {"apache-tvm": "0.27"}  # noqa: RUF012
    busy = ("idle",)
    fixes = ()

    def __init__(self, answer: Callable[[Case], Outcome], late: int = 0):
        self.answer, self.late = answer, late
        self.jobs: deque[Job] = deque()

    @property
    def running(self) -> int:
        return 0

    @property
    def waiting(self) -> int:
        return len(self.jobs)

    def submit(self, *jobs: Job, first: bool = False) -> None:
        (self.jobs.extendleft if first else self.jobs.extend)(jobs)

    def wait(self, timeout: float) -> Iterator[tuple[Job, Outcome]]:
        if self.jobs:
            job = self.jobs.popleft()
            yield job, self.answer(job.case)

    def take_events(self) -> list[Event]:
        return []
