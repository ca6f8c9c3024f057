"""A pytest plugin: cases run in the process of the tests, which a mutation run has forked.

Workers have a TVM of their own, which knows nothing of a mutant. Here ``pool`` runs a case where it
is; what dies or hangs takes this process with it, and whoever forked it sees that.
"""

from collections.abc import Iterator

import hypothesis
import pytest

from relaxcheck import fixes
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.programs.execute import execute
from relaxcheck.harness.releases.environment import versions
from relaxcheck.harness.workers.jobs import Job


class InProcess:
    """A pool, as far as the conformance suite needs it, that runs jobs in this process."""

    def __init__(self) -> None:
        self.environment = versions()
        self._waiting: list[Job] = []

    def submit(self, job: Job) -> None:
        self._waiting.append(job)

    def drain(self) -> Iterator[tuple[Job, Outcome]]:
        while self._waiting:
            job = self._waiting.pop(0)
            outcome = execute(job.case)
            # The tests of the fixes begin with none on.
            fixes.uninstall()
            yield job, outcome


@pytest.fixture(scope="session")
def pool() -> InProcess:
    return InProcess()


def pytest_collection_finish() -> None:
    """From here on only the conformance suite makes properties, of whole programs."""
    hypothesis.settings.load_profile("mutation-programs")
