"""Whatever a worker does, its case gets the verdict that says so and the others get theirs."""

import os
import signal
import time
from collections.abc import Iterator

import pytest

from relaxcheck.generators.core.program import Case, Input, Program
from relaxcheck.harness.events import EventType
from relaxcheck.harness.outcomes.outcome import INSTALLING, Outcome, Verdict
from relaxcheck.harness.workers import zygote
from relaxcheck.harness.workers.jobs import Job, Limits
from relaxcheck.harness.workers.pool import Pool
from relaxcheck.harness.workers.starting import PoolError

ZYGOTE = "tests.harness.workers.hostile_zygote"
LIMITS = Limits(seconds=3, memory=1 << 30)


def behave(family: str, seed: int = 0) -> Case:
    return Case(family, Program((Input("x", (1,), "float32"),), (), ("x",)), seed=seed)


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(2, LIMITS, ZYGOTE) as started:
        yield started


def outcome_of(pool: Pool, family: str) -> Outcome:
    pool.submit(Job(behave(family)))
    ((_, outcome),) = pool.drain()
    return outcome


@pytest.mark.parametrize(
    ("family", "verdict", "fragment"),
    [
        ("segfault", Verdict.PROCESS_DEATH, "SIGSEGV in LambdaLift"),
        ("abort", Verdict.PROCESS_DEATH, "SIGABRT in LambdaLift: terminate called"),
        ("exit", Verdict.PROCESS_DEATH, "exit code 3"),
        ("kill", Verdict.PROCESS_DEATH, "SIGKILL in LambdaLift"),
        ("hang", Verdict.TIMEOUT, "still in LambdaLift after 3 s"),
        ("sleep", Verdict.TIMEOUT, "still in LambdaLift after 3 s"),
        ("allocate", Verdict.OUT_OF_MEMORY, "MemoryError"),
        ("raise", Verdict.HARNESS_ERROR, "a fault of the harness"),
        ("babble", Verdict.PASS, ""),
        ("well", Verdict.PASS, ""),
    ],
)
def test_each_misbehaviour_gets_its_verdict(
    pool: Pool, family: str, verdict: Verdict, fragment: str
) -> None:
    outcome = outcome_of(pool, family)
    assert outcome.verdict is verdict
    assert fragment in outcome.message
    assert outcome_of(pool, "well").verdict is Verdict.PASS


def test_a_kind_is_warmed_once_in_the_parent_of_all_workers() -> None:
    with Pool(1, LIMITS, ZYGOTE) as pool:
        pool.submit(*(Job(behave("warmed", seed), fresh=True) for seed in range(2)))
        messages = [outcome.message for _, outcome in pool.drain()]
    (first, own), (second, other) = (message.split() for message in messages)
    # A list of one process, which is neither worker.
    assert first == second
    assert own != other
    assert first not in (f"[{own}]", f"[{other}]")


def test_only_the_kinds_of_the_cases_are_warmed(monkeypatch: pytest.MonkeyPatch) -> None:
    warmed: list[str] = []

    class Counting:
        def __init__(self, name: str) -> None:
            self.name = name

        def warm(self) -> None:
            warmed.append(self.name)

    every = tuple(map(Counting, ("first", "second", "third")))
    monkeypatch.setattr(zygote.kinds, "every", lambda: every)
    monkeypatch.setattr(zygote, "_check_alone", lambda: None)
    zygote._warm(())
    zygote._warm({"third", "first"})
    assert warmed == ["first", "third"]


def test_a_case_that_is_only_slow_is_not_confirmed_as_one_that_hangs() -> None:
    with Pool(1, Limits(seconds=0.3, fresh_seconds=30), ZYGOTE) as pool:
        pool.submit(Job(behave("slow")))
        ((_, drawn),) = pool.drain()
        pool.submit(Job(behave("slow"), fresh=True))
        ((_, again),) = pool.drain()
    assert drawn.verdict is Verdict.TIMEOUT
    assert again.verdict is Verdict.PASS


def test_a_fresh_case_that_hangs_says_its_own_deadline() -> None:
    with Pool(1, Limits(seconds=30, fresh_seconds=0.4), ZYGOTE) as pool:
        pool.submit(Job(behave("hang"), fresh=True))
        ((_, outcome),) = pool.drain()
    assert outcome.message == "still in LambdaLift after 0.4 s"
    assert outcome.ending is not None
    assert outcome.ending.seconds == 0.4


def test_a_stage_that_cases_share_has_three_times_as_long() -> None:
    # Two seconds are far too long for it, even on a busy machine, and so is one for a case alone.
    with Pool(1, Limits(seconds=0.2, together=2), ZYGOTE) as pool:
        pool.submit(Job(behave("link-slow")), Job(behave("link-slow", 1)))
        outcomes = [outcome for _, outcome in pool.drain()]
    assert [outcome.verdict for outcome in outcomes] == [Verdict.TIMEOUT] * 2
    with Pool(1, Limits(seconds=0.5, together=2), ZYGOTE) as pool:
        pool.submit(Job(behave("link-slow")), Job(behave("well")))
        outcomes = [outcome for _, outcome in pool.drain()]
    assert [outcome.verdict for outcome in outcomes] == [Verdict.PASS] * 2


def test_the_time_that_the_fixes_take_is_no_case_s() -> None:
    with Pool(1, Limits(seconds=0.4, installing_seconds=30, together=2), ZYGOTE) as pool:
        pool.submit(Job(behave(f"{INSTALLING}-slow")), Job(behave("well")))
        outcomes = [outcome for _, outcome in pool.drain()]
        # It begins when they are on.
        pool.submit(Job(behave(f"{INSTALLING}-late", 1)))
        ((_, late),) = pool.drain()
    assert [outcome.verdict for outcome in outcomes] == [Verdict.PASS] * 2
    assert (late.verdict, late.message) == (Verdict.TIMEOUT, "still in LambdaLift after 0.4 s")


def test_fixes_that_hang_are_a_fault_of_ours() -> None:
    with Pool(1, Limits(seconds=30, installing_seconds=0.4), ZYGOTE) as pool:
        outcome = outcome_of(pool, f"{INSTALLING}-sleep")
    assert outcome.verdict is Verdict.HARNESS_ERROR
    assert outcome.message == "still in install-fixes after 0.4 s"


def test_growth_past_the_limit_ends_a_worker() -> None:
    # Time enough for a busy machine: it is not the clock that is to end it.
    with Pool(1, Limits(seconds=60, memory=1 << 28), ZYGOTE) as pool:
        assert outcome_of(pool, "grow").verdict is Verdict.OUT_OF_MEMORY


def test_a_death_takes_no_other_case_with_it(pool: Pool) -> None:
    wanted = {
        "well": Verdict.PASS,
        "segfault": Verdict.PROCESS_DEATH,
        "raise": Verdict.HARNESS_ERROR,
    }
    families = [list(wanted)[number % 3] for number in range(60)]
    pool.submit(*(Job(behave(family, number)) for number, family in enumerate(families)))
    outcomes = {job.case.seed: (job.case.family, out.verdict) for job, out in pool.drain()}
    assert outcomes == {number: (family, wanted[family]) for number, family in enumerate(families)}


@pytest.mark.parametrize("where", ["", "link-", "run-"])
@pytest.mark.parametrize(
    ("how", "verdict"),
    [
        ("abort", Verdict.PROCESS_DEATH),
        ("hang", Verdict.TIMEOUT),
        ("raise", Verdict.HARNESS_ERROR),
        ("exit", Verdict.PROCESS_DEATH),
    ],
)
def test_among_cases_that_run_together_only_the_one_at_fault_gets_the_verdict(
    where: str, how: str, verdict: Verdict
) -> None:
    families = ["well", "well", where + how, "well", "well"]
    with Pool(1, Limits(seconds=1), ZYGOTE) as pool:
        pool.submit(*(Job(behave(family, number)) for number, family in enumerate(families)))
        ended = list(pool.drain())
    outcomes = {job.case.seed: outcome for job, outcome in ended}
    assert len(ended) == len(outcomes) == len(families)
    stage = where.removesuffix("-") or "LambdaLift"
    at_fault = outcomes.pop(2)
    assert (at_fault.verdict, at_fault.stage) == (verdict, stage)
    assert {outcome.verdict for outcome in outcomes.values()} == {Verdict.PASS}


def test_cases_run_together_only_where_they_may() -> None:
    with Pool(1, Limits(seconds=3, together=3), ZYGOTE) as pool:
        jobs = [Job(behave("well", number), alone=number == 3) for number in range(8)]
        pool.submit(*jobs)
        sent = [[task.job.case.seed for task in pool._workers[0].unanswered]]
        for _ in pool.drain():
            now = [task.job.case.seed for task in pool._workers[0].unanswered]
            if now and now[-1] != sent[-1][-1]:
                sent.append(now)
    assert sent == [[0, 1, 2], [4, 5, 6], [3], [7]] or sent == [[0, 1, 2], [3], [4, 5, 6], [7]]


def test_the_last_cases_are_shared_out_among_the_workers() -> None:
    with Pool(2, Limits(seconds=3, together=4), ZYGOTE) as pool:
        pool.submit(*(Job(behave("sleep", number)) for number in range(6)))
        sent = [[task.job.case.seed for task in worker.unanswered] for worker in pool._workers]
        assert sent == [[0, 1, 2], [3, 4]]
        pool.submit(*(Job(behave("well", number)) for number in range(6, 15)))
        # Where there are enough for all, each has as many as it may have.
        assert len(pool._next()) == 4


def test_a_corrupted_heap_is_blamed_on_the_case_that_dies_of_it_alone() -> None:
    with Pool(1, LIMITS, ZYGOTE) as pool:
        assert outcome_of(pool, "spoil").verdict is Verdict.PASS
        innocent = outcome_of(pool, "spoilt")
        assert outcome_of(pool, "well").verdict is Verdict.PASS
        culprit = outcome_of(pool, "oracle-corrupted")
        compiler = outcome_of(pool, "codegen-corrupted")
        events = [event.type for event in pool.take_events()]
    assert innocent.verdict is Verdict.PASS
    assert (culprit.verdict, culprit.stage) == (Verdict.PROCESS_DEATH, "run")
    # The compiler may write there as well.
    assert (compiler.verdict, compiler.stage) == (Verdict.PROCESS_DEATH, "codegen")
    assert events == [*[EventType.CORRUPTED] * 2, *[EventType.DIED] * 2]


def test_a_fault_of_python_s_is_blamed_on_what_ran_before() -> None:
    with Pool(1, LIMITS, ZYGOTE) as pool:
        assert outcome_of(pool, "spoil").verdict is Verdict.PASS
        innocent = outcome_of(pool, "read-unreadable")
        culprit = outcome_of(pool, "compare-segfault")
        ours = outcome_of(pool, "oracle-segfault")
        events = [event.type for event in pool.take_events()]
    assert innocent.verdict is Verdict.PASS
    assert (culprit.verdict, culprit.stage) == (Verdict.PROCESS_DEATH, "run")
    assert (ours.verdict, ours.stage) == (Verdict.HARNESS_ERROR, "oracle")
    assert events == [EventType.CORRUPTED, EventType.DIED, EventType.DIED]


def test_a_worker_killed_from_outside_is_reported_and_replaced() -> None:
    with Pool(1, LIMITS, ZYGOTE) as pool:
        pool.submit(Job(behave("sleep")))
        outcomes = []
        # The first time somebody may have been short of memory; not the second.
        for _ in range(2):
            assert not outcomes
            time.sleep(0.5)
            (victim,) = pool.pids
            os.kill(victim, signal.SIGKILL)
            outcomes += list(pool.wait(2))
        ((_, outcome),) = outcomes
        assert outcome.verdict is Verdict.PROCESS_DEATH
        assert "SIGKILL" in outcome.message
        assert [event.type for event in pool.take_events()] == [EventType.KILLED, EventType.DIED]
        assert outcome_of(pool, "well").verdict is Verdict.PASS


def test_output_of_an_earlier_case_is_not_a_dead_workers_last_word() -> None:
    with Pool(1, LIMITS, ZYGOTE) as pool:
        assert outcome_of(pool, "babble").verdict is Verdict.PASS
        after = outcome_of(pool, "abort").message
        alone = outcome_of(pool, "abort").message
    assert after == alone


@pytest.mark.parametrize("family", ["oracle-segfault", "oracle-hang", "oracle-allocate"])
def test_a_death_in_an_oracle_is_a_fault_of_ours(pool: Pool, family: str) -> None:
    assert outcome_of(pool, family).verdict is Verdict.HARNESS_ERROR


def test_an_answer_that_comes_with_the_kill_takes_no_other_case_along() -> None:
    with Pool(1, LIMITS, ZYGOTE) as pool:
        pool.submit(Job(behave("well", 1)))
        time.sleep(0.5)
        # As if the deadline had passed while the answer was on its way.
        for worker in pool._workers:
            worker.kill_reason = Verdict.TIMEOUT
            os.kill(worker.process.pid, signal.SIGKILL)
        pool.submit(Job(behave("well", 2)))
        assert {outcome.verdict for _, outcome in pool.drain()} == {Verdict.PASS}


def test_pools_leave_no_file_descriptor_open() -> None:
    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))

    counts = []
    for _ in range(3):
        with Pool(2, LIMITS, ZYGOTE) as pool:
            for seed in range(4):
                pool.submit(Job(behave("well", seed)))
            list(pool.drain())
        counts.append(descriptors())
    assert counts[0] == counts[-1]


def test_a_fresh_job_runs_in_a_process_of_its_own() -> None:
    with Pool(1, LIMITS, ZYGOTE) as pool:
        seen = []
        for fresh in (False, False, True, False):
            pool.submit(Job(behave("well"), fresh=fresh))
            seen.extend(pool.pids)
            list(pool.drain())
    assert seen[0] == seen[1]
    assert len({seen[1], seen[2], seen[3]}) == 3


def test_a_worker_is_recycled_after_its_number_of_cases() -> None:
    with Pool(1, Limits(seconds=3, cases=2), ZYGOTE) as pool:
        pids = []
        for _ in range(5):
            pool.submit(Job(behave("well")))
            pids.extend(pool.pids)
            list(pool.drain())
    assert [pids[0] == pids[1], pids[1] == pids[2], pids[2] == pids[3]] == [True, False, True]


def test_a_worker_that_keeps_memory_is_recycled() -> None:
    with Pool(1, Limits(seconds=30, kept=96 << 20), ZYGOTE) as pool:
        pids = []
        for _ in range(3):
            pool.submit(Job(behave("keep")))
            pids.extend(pool.pids)
            list(pool.drain())
    assert [pids[0] == pids[1], pids[1] == pids[2]] == [True, False]


def test_nothing_is_left_running_when_the_pool_closes() -> None:
    with Pool(2, LIMITS, ZYGOTE) as pool:
        pool.submit(Job(behave("hang")))
        pool.submit(Job(behave("sleep")))
        pids = pool.pids
    end = time.monotonic() + 5
    while any(os.path.exists(f"/proc/{pid}") for pid in pids) and time.monotonic() < end:
        time.sleep(0.05)
    assert not [pid for pid in pids if os.path.exists(f"/proc/{pid}")]


def test_workers_that_cannot_be_started_again_are_one_clear_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def run() -> None:
        with Pool(1, LIMITS, "tests.harness.toy_zygote") as pool:
            monkeypatch.setattr(pool, "_module", "no_such_zygote")
            pool._zygote._process.kill()
            pool.submit(Job(behave("well")))
            list(pool.drain())

    with pytest.raises(PoolError, match="No module named no_such_zygote"):
        run()


def test_a_zygote_that_does_not_start_is_one_clear_line() -> None:
    with pytest.raises(PoolError, match="No module named no_such_zygote") as error:
        Pool(1, zygote="no_such_zygote")
    assert "\n" not in str(error.value)
