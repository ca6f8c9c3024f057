"""Candidates of a reduction, tried in workers and by a command."""

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from relaxcheck.harness.outcomes.outcome import Computed, Outcome, Reference, Verdict
from relaxcheck.harness.triage.reduction.trying import (
    INTERESTING,
    ByCommand,
    InWorkers,
    outcome_of,
)
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.protocol import Ask
from tests.harness.triage.reduction.chains import chain

FAILED = Outcome(Verdict.WRONG_VALUE, "compare", "toy")


class Dying:
    """As a pool of one worker that dies of whatever it runs, and only then is asked to vet it."""

    size = 1

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    def submit(self, *jobs: Job, first: bool = False) -> None:
        self.jobs += jobs

    def wait(self, timeout: float) -> Iterator[tuple[Job, Outcome]]:
        job = self.jobs.pop(0)
        known = Reference(values={"y": Computed("float32", ((1,),))})
        if job.ask is Ask.VET:
            yield job, Outcome(Verdict.PASS, reference=known)
        else:
            yield job, Outcome(Verdict.PROCESS_DEATH, "codegen", None, "worker ended with SIGSEGV")


def test_reference_results_from_before_a_worker_died_are_computed_again() -> None:
    outcome = outcome_of(InWorkers(Dying()), chain(1))  # type: ignore[arg-type]
    assert outcome.verdict is Verdict.PROCESS_DEATH
    assert outcome.reference is not None
    assert list(outcome.reference.values) == ["y"]


class Vetting:
    """As a pool of one worker that answers each case with the next of ``outcomes``."""

    size = 1

    def __init__(self, *outcomes: Outcome) -> None:
        self.outcomes = list(outcomes)
        self.jobs: list[Job] = []

    @property
    def running(self) -> int:
        return len(self.jobs)

    def submit(self, *jobs: Job, first: bool = False) -> None:
        self.jobs += jobs

    def wait(self, timeout: float) -> Iterator[tuple[Job, Outcome]]:
        while self.jobs:
            yield self.jobs.pop(0), self.outcomes.pop(0)


ACCEPTED = Outcome(Verdict.PASS, reference=Reference())


def asked(command: str, *outcomes: Outcome) -> list[Outcome]:
    """The outcomes of as many cases as ``outcomes``, by ``command``."""
    with ByCommand(command, Vetting(*outcomes), 30) as trier:  # type: ignore[arg-type]
        return [outcome_of(trier, chain(at)) for at in range(1, len(outcomes) + 1)]


def test_a_command_may_take_its_file_away() -> None:
    (outcome,) = asked("rm", ACCEPTED)
    assert outcome.verdict is INTERESTING.verdict


def test_processes_of_a_command_end_with_it(tmp_path: Path) -> None:
    left = tmp_path / "pid"
    asked(f"sleep 60 & echo $! > {left}; test -f {{}}", ACCEPTED)
    stat = Path(f"/proc/{int(left.read_text())}/stat")
    with suppress(FileNotFoundError, ProcessLookupError):
        deadline = time.monotonic() + 5
        # Ended, if perhaps not yet reaped by whoever inherited it.
        while (state := stat.read_text().rpartition(")")[2].split()[0]) != "Z":
            assert time.monotonic() < deadline, state


def test_a_command_is_not_asked_about_what_could_not_be_vetted() -> None:
    late = Outcome(Verdict.HARNESS_ERROR, "oracle", None, "no answer within 60 s")
    assert asked("true", ACCEPTED, late)[1] == late


def test_the_result_runs_again_and_nothing_is_left_over() -> None:
    class Ahead(Vetting):
        def drain(self) -> Iterator[tuple[Job, Outcome]]:
            yield from self.wait(0)

    pool = Ahead(FAILED, INTERESTING)
    trier = InWorkers(pool)  # type: ignore[arg-type]
    pool.submit(Job(chain(3)))
    assert trier.again(chain(2)) == INTERESTING
    assert not pool.jobs


def test_a_command_without_room_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("relaxcheck.harness.triage.reduction.trying.write", full)
    with pytest.raises(OSError, match="No space left"):
        asked("true", ACCEPTED)
