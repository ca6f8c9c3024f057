"""Workers of several releases as one pool: who is asked, and what becomes of one that is gone."""

import os
from collections.abc import Iterator

import pytest

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.program import Case, Input, Program
from relaxcheck.generators.families import family
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.events import Event, EventType, summary_of
from relaxcheck.harness.outcomes.differential import by_release
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.pool import Pool
from relaxcheck.harness.workers.pools import Pools
from relaxcheck.harness.workers.starting import PoolError


class Worker:
    """As a pool that answers one job each time it is asked, until it breaks."""

    appetite = 4
    busy = ("idle",)
    fixes = ()

    def __init__(self, name: str, answers: int = 1000):
        self.environment = {"apache-tvm": f"{name}.0"}
        self.verdict = Verdict.PASS if name == "0.25" else Verdict.SILENT_BAIL
        self.answers = answers
        self.jobs: list[Job] = []
        self.events: list[Event] = []
        self._ready = os.eventfd(1)

    def fileno(self) -> int:
        return self._ready

    def submit(self, *jobs: Job, first: bool = False) -> None:
        self.jobs = [*jobs, *self.jobs] if first else [*self.jobs, *jobs]

    def wait(self, timeout: float) -> Iterator[tuple[Job, Outcome]]:
        if not self.answers:
            self.events.append(Event(EventType.RESTARTED, "no message"))
            raise PoolError("ImportError: [it]")
        if self.jobs:
            self.answers -= 1
            yield self.jobs.pop(0), Outcome(self.verdict)

    def take_events(self) -> list[Event]:
        events, self.events = self.events, []
        return events


def case(seed: int) -> Case:
    return Case("toy", Program((Input("x", (1,), "float32"),), (), ("x",)), seed=seed)


def answered(pools: Pools) -> dict[int, Outcome]:
    """The outcome of each job, by its seed."""
    ended: dict[int, Outcome] = {}
    for _ in range(100):
        for job, outcome in pools.wait(0.01):
            assert job.tag == "whose"
            assert job.case.seed not in ended
            ended[job.case.seed] = outcome
        if not (pools.running or pools.waiting):
            return ended
    raise AssertionError("it did not end")


def pools_of(*workers: Worker) -> Pools:
    names = ("0.25", "0.26", "0.27")
    return Pools(dict(zip(names, workers, strict=False)))  # type: ignore[arg-type]


def jobs(*seeds: int, releases: tuple[str, ...] = ()) -> list[Job]:
    return [Job(case(seed), "whose", releases=releases) for seed in seeds]


def test_a_job_has_one_outcome_when_every_release_has_answered() -> None:
    old, new = Worker("0.25"), Worker("0.26")
    pools = pools_of(old, new)
    pools.submit(*jobs(1, 2))
    assert (pools.running, pools.busy) == (2, ("0.25 idle", "0.26 idle"))
    new.jobs, held = [], new.jobs
    assert not list(pools.wait(0.01))
    new.jobs = held
    outcomes = answered(pools)
    assert set(outcomes) == {1, 2}
    assert outcomes[1].release == "0.26"
    assert {name: outcome.verdict for name, outcome in by_release(outcomes[1]).items()} == {
        "0.25": Verdict.PASS,
        "0.26": Verdict.SILENT_BAIL,
    }
    assert pools.environment == {"apache-tvm": "0.26.0", "apache-tvm on 0.25": "0.25.0"}


def test_a_job_runs_on_the_releases_that_it_names_and_first_where_it_is_to() -> None:
    workers = Worker("0.25"), Worker("0.26"), Worker("0.27")
    pools = pools_of(*workers)
    pools.submit(*jobs(1))
    pools.submit(*jobs(2, 3, releases=("0.25", "0.26")), first=True)
    pools.submit(*jobs(4, releases=("0.27",)))
    seeds = [[job.case.seed for job in worker.jobs] for worker in workers]
    assert seeds == [[2, 3, 1], [2, 3, 1], [1, 4]]
    outcomes = answered(pools)
    assert {seed: tuple(by_release(outcome)) for seed, outcome in outcomes.items()} == {
        1: ("0.25", "0.26", "0.27"),
        2: ("0.25", "0.26"),
        3: ("0.25", "0.26"),
        4: ("0.27",),
    }


def test_a_release_that_is_gone_is_an_event_and_the_others_go_on() -> None:
    pools = pools_of(Worker("0.25", answers=1), Worker("0.26"))
    pools.submit(*jobs(1, 2))
    pools.submit(*jobs(3, releases=("0.25",)))
    outcomes = answered(pools)
    assert [tuple(by_release(outcomes[seed])) for seed in (1, 2)] == [("0.25", "0.26"), ("0.26",)]
    # Nobody is left to say anything about this one: a fault of ours, no word about TVM.
    assert outcomes[3].verdict is Verdict.HARNESS_ERROR
    assert outcomes[3].message == "no workers are left of TVM 0.25"
    restarted, gone = pools.take_events()
    assert restarted == Event(EventType.RESTARTED, "TVM 0.25: no message")
    assert gone == Event(EventType.GONE, "TVM 0.25 is left out from here on: ImportError: [it]")
    assert pools.mute == {}
    assert summary_of([gone], 0) == [f"The campaign: {gone.text}."]
    pools.submit(*jobs(4), *jobs(5, releases=("0.25",)))
    outcomes = answered(pools)
    assert tuple(by_release(outcomes[4])) == ("0.26",)
    assert outcomes[5].verdict is Verdict.HARNESS_ERROR


def test_a_release_that_never_answered_is_known_as_such() -> None:
    pools = pools_of(Worker("0.25", answers=0), Worker("0.26"))
    pools.submit(*jobs(1))
    assert tuple(by_release(answered(pools)[1])) == ("0.26",)
    assert pools.mute == {"0.25": "ImportError: [it]"}


def test_workers_that_do_not_start_again_take_no_case_with_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    zygote = "tests.harness.toy_zygote"
    with Pool(1, zygote=zygote) as old, Pool(1, zygote=zygote) as new:
        pools = Pools({"0.25": old, "0.26": new})
        monkeypatch.setattr(old, "_module", "no_such_zygote")
        old._zygote._process.kill()
        member = family("conv1d_transpose", tuple(PIPELINES))
        well = member.build(complete(member.axes, {}), 1)
        pools.submit(Job(well, "whose"))
        while not (ended := list(pools.wait(0.1))):
            assert pools.running
        pools.submit(Job(well, "whose"))
        while not (later := list(pools.wait(0.1))):
            assert pools.running
        events = pools.take_events()
    for _, outcome in (*ended, *later):
        assert (outcome.release, outcome.verdict) == ("0.26", Verdict.PASS)
    assert EventType.GONE in {event.type for event in events}
    assert "No module named no_such_zygote" in events[-1].text


def test_when_no_release_is_left_it_is_over() -> None:
    pools = pools_of(Worker("0.25", answers=0), Worker("0.26", answers=0))
    pools.submit(*jobs(1))
    with pytest.raises(PoolError, match="ImportError"):
        answered(pools)
