"""Whatever a worker does, its case gets the right verdict, others theirs; nothing is left."""

import os
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from typer.testing import Result

from generators.program import Case, Input, Program
from harness.events import What
from harness.jobs import Job, Limits
from harness.journal import DRAWN, Journal, Mode
from harness.outcome import Outcome, Verdict
from harness.pool import Pool
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
    ("how", "seconds", "verdict", "said", "what"),
    [
        ("hang", 0.5, Verdict.TIMEOUT, f"still in {STAGE} after 0.5 s", What.TIMED_OUT),
        ("hoard", 30, Verdict.OUT_OF_MEMORY, STAGE, What.OUTGREW),
        ("hoard-in-c", 30, Verdict.OUT_OF_MEMORY, "grew by more than 60 MiB", What.OUTGREW),
        ("babble-without-end", 0.5, Verdict.TIMEOUT, "still in", What.TIMED_OUT),
        ("garbage", 30, Verdict.HARNESS_ERROR, "unreadable answer", What.LOST),
        ("segfault", 30, Verdict.PROCESS_DEATH, f"SIGSEGV in {STAGE}", What.DIED),
        ("fork-segfault", 30, Verdict.PROCESS_DEATH, f"SIGSEGV in {STAGE}", What.DIED),
    ],
)
def test_each_gets_its_verdict(
    run: Run,
    tmp_path: Path,
    how: str,
    seconds: float,
    verdict: Verdict,
    said: str,
    what: What,
) -> None:
    ended = run(tmp_path / "out", how, seconds)
    assert ended.exit_code == (3 if verdict is Verdict.HARNESS_ERROR else 1), ended.output
    check_whole(tmp_path / "out")
    with Journal(tmp_path / "out", Mode.READ) as journal:
        for one in journal.cases(DRAWN):
            assert one.outcome is not None
            if chosen(one.case):
                assert one.outcome.verdict is verdict, one.outcome
                # A hoard in Python may end in a MemoryError, which names no stage itself.
                assert said in f"{one.outcome.stage}: {one.outcome.message}"
                assert one.finding
            else:
                # What ran beside a hoard may have had no memory, and run again.
                alone = msgspec.structs.replace(one.outcome, retried="")
                assert alone == judged(one.case, None, plain=False)
        happened = Counter(event.what for event in journal.events())
    # A hoard in Python may also end in a MemoryError, which ends nobody.
    assert happened[what] or how == "hoard"
    # It then fails with others, and once more alone.
    assert set(happened) <= ({what, What.RETRIED} if how == "hoard" else {what})
    assert "Workers:" in ended.stdout or how == "hoard"


@pytest.mark.parametrize(
    ("how", "what"),
    [
        ("babble", set()),
        ("segfault-between", {What.LOST}),
        ("segfault-at-exit", set()),
        ("fork", set()),
        ("fork-session", set()),
    ],
)
def test_what_is_no_case_is_no_verdict(run: Run, tmp_path: Path, how: str, what: set[What]) -> None:
    run(tmp_path / "out", how, 30)
    check_whole(tmp_path / "out")
    with Journal(tmp_path / "out", Mode.READ) as journal:
        recorded = list(journal.cases(DRAWN))
        happened = {event.what for event in journal.events()}
    assert sum(chosen(one.case) for one in recorded) > 1
    for one in recorded:
        assert one.outcome == judged(one.case, None, plain=False)
    assert happened == what


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
def test_what_a_worker_leaves_behind_ends_with_it(
    campaigns: Campaigns, tmp_path: Path, how: str
) -> None:
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
