"""Whatever a worker does, its case gets the right verdict, others theirs; nothing is left."""

import os
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from typer.testing import Result

from relaxcheck.generators.core.program import Case, Input, Program
from relaxcheck.harness.events import EventType
from relaxcheck.harness.journal.journal import DRAWN, Journal, Mode
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.workers.jobs import Job, Limits
from relaxcheck.harness.workers.pool import Pool
from tests.faults.campaigns import FAMILY, Campaigns, check_whole, until
from tests.faults.zygote import STAGE, chosen
from tests.harness.toy_zygote import judged

CASES = 14


Run = Callable[[Path, str, float], Result]


@pytest.fixture
def run(campaigns: Campaigns, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a campaign in a folder whose workers misbehave, with a deadline for each case."""

    def ended(folder: Path, how: str, seconds: float) -> Result:
        return campaigns.within(
            monkeypatch,
            *("fuzz", FAMILY, "--cases", CASES, "--minutes", 2, "--seed", 11, "--workers", 2),
            *("--case-seconds", seconds, "--out", folder),
            MISBEHAVE=how,
            MEMORY_LIMIT="60",
        )

    return ended


@pytest.mark.parametrize(
    ("how", "seconds", "verdict", "message", "event_type"),
    [
        ("hang", 0.5, Verdict.TIMEOUT, f"still in {STAGE} after 0.5 s", EventType.TIMED_OUT),
        ("hoard", 30, Verdict.OUT_OF_MEMORY, STAGE, EventType.OUTGREW),
        ("hoard-in-c", 30, Verdict.OUT_OF_MEMORY, "grew by more than 60 MiB", EventType.OUTGREW),
        ("babble-without-end", 0.5, Verdict.TIMEOUT, "still in", EventType.TIMED_OUT),
        ("garbage", 30, Verdict.HARNESS_ERROR, "unreadable answer", EventType.LOST),
        ("segfault", 30, Verdict.PROCESS_DEATH, f"SIGSEGV in {STAGE}", EventType.DIED),
        ("fork-segfault", 30, Verdict.PROCESS_DEATH, f"SIGSEGV in {STAGE}", EventType.DIED),
    ],
)
def test_each_gets_its_verdict(
    run: Run,
    tmp_path: Path,
    how: str,
    seconds: float,
    verdict: Verdict,
    message: str,
    event_type: EventType,
) -> None:
    ended = run(tmp_path / "out", how, seconds)
    assert ended.exit_code == (3 if verdict is Verdict.HARNESS_ERROR else 1), ended.output
    check_whole(tmp_path / "out")
    with Journal(tmp_path / "out", Mode.READ) as journal:
        for entry in journal.cases(DRAWN):
            assert entry.outcome is not None
            if chosen(entry.case):
                assert entry.outcome.verdict is verdict, entry.outcome
                # A hoard in Python may end in a MemoryError, which names no stage itself.
                assert message in f"{entry.outcome.stage}: {entry.outcome.message}"
                assert entry.finding
            else:
                # A case beside a hoard may have run out of memory, and run again.
                alone = msgspec.structs.replace(entry.outcome, retried="")
                assert alone == judged(entry.case)
        happened = Counter(event.type for event in journal.events())
    # A hoard in Python may also end in a MemoryError, which ends nobody.
    assert happened[event_type] or how == "hoard"
    # It then fails with others, and once more alone.
    assert set(happened) <= ({event_type, EventType.RETRIED} if how == "hoard" else {event_type})
    assert "Workers:" in ended.stdout or how == "hoard"


@pytest.mark.parametrize(
    ("how", "event_types"),
    [
        ("babble", set()),
        ("segfault-between", {EventType.LOST}),
        ("segfault-at-exit", set()),
        ("fork", set()),
        ("fork-session", set()),
    ],
)
def test_trouble_outside_a_case_is_no_verdict(
    run: Run, tmp_path: Path, how: str, event_types: set[EventType]
) -> None:
    run(tmp_path / "out", how, 30)
    check_whole(tmp_path / "out")
    with Journal(tmp_path / "out", Mode.READ) as journal:
        recorded = list(journal.cases(DRAWN))
        happened = {event.type for event in journal.events()}
    assert sum(chosen(entry.case) for entry in recorded) > 1
    for entry in recorded:
        assert entry.outcome == judged(entry.case)
    assert happened == event_types


def test_a_worker_that_babbles_without_end_takes_little_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MISBEHAVE", "babble-without-end")
    case = Case(FAMILY, Program((Input("x", (1,), "float32"),), (), ("x",)), seed=0)
    with Pool(1, Limits(seconds=2), "tests.faults.zygote") as pool:
        pool.submit(Job(case))
        (worker,) = pool._workers
        most = 0
        outcomes: list[Outcome] = []
        while not outcomes:
            if worker in pool._workers:
                most = max(most, 512 * os.fstat(worker.process.log).st_blocks)
            outcomes += [outcome for _, outcome in pool.wait(0.05)]
    assert outcomes[0].verdict is Verdict.TIMEOUT
    assert 1 << 20 < most <= 65 << 20


@pytest.mark.parametrize("how", ["fork", "fork-session"])
def test_processes_of_a_worker_end_with_it(campaigns: Campaigns, tmp_path: Path, how: str) -> None:
    process = campaigns.start(
        *("fuzz", FAMILY, "--cases", 1000, "--minutes", 2, "--seed", 11, "--workers", 2),
        *("--out", tmp_path / "out"),
        MISBEHAVE=how,
        JUDGE_SECONDS="0.05",
    )
    # The engine, the zygote, two workers, and at least three that they left.
    assert len(until(campaigns.left, lambda pids: len(pids) > 7)) > 7
    before = time.monotonic()
    process.kill()
    process.wait()
    assert not until(campaigns.left, lambda pids: not pids)
    assert time.monotonic() - before < 10
