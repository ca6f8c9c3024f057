"""``kill -9`` of the engine, of workers, of their parent, of all: nothing is lost, or twice."""

import os
import random
import re
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from relaxcheck.harness.events import EventType
from relaxcheck.harness.journal.journal import FILE_NAME, Journal, Mode
from tests.faults.campaigns import (
    FAMILY,
    PATIENCE,
    Campaigns,
    Summary,
    answered,
    arguments,
    check_whole,
    ended,
    resuming,
    summary,
    until,
)

SLOW = {"JUDGE_SECONDS": "0.02"}
LONGEST_LIFE = 3.0
"""Seconds after which an engine is killed at the latest: some at their start, some at their end."""


def repetitions(request: pytest.FixtureRequest, few: int, all_of_them: int) -> int:
    return all_of_them if request.config.getoption("--faults-full") else few


@pytest.mark.parametrize(
    "also_workers",
    [
        pytest.param(False, id="engine", marks=pytest.mark.slow),
        pytest.param(True, id="engine-and-workers"),
    ],
)
def test_an_engine_that_is_killed_loses_nothing(
    campaigns: Campaigns,
    undisturbed: Summary,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    also_workers: bool,
) -> None:
    folder = tmp_path / "out"
    chance = random.Random(f"engine {also_workers}")
    last = repetitions(request, 3, 13) - 1
    for number in range(last + 1):
        process = _start(campaigns, folder)
        _live(process, chance.uniform(0.2, LONGEST_LIFE))
        if number == last:
            # However slow the machine is: one of them is killed in its midst.
            until(lambda: ended(folder), bool, PATIENCE)
        victims = campaigns.left() if also_workers else [process.pid]
        for pid in chance.sample(victims, len(victims)):
            _kill(pid)
        process.wait()
        assert not until(campaigns.left, lambda pids: not pids)
        if ended(folder):
            with Journal(folder, Mode.READ) as journal:
                assert journal.description["seed"] == "5"
    _finish(campaigns, folder, undisturbed)
    if not also_workers:
        # The parent of the workers sees to what nobody else could.
        assert not list((tmp_path / "scratch").iterdir())


def _start(campaigns: Campaigns, folder: Path) -> "subprocess.Popen[str]":
    if (folder / FILE_NAME).exists():
        with Journal(folder, Mode.READ) as journal:
            begun = "seed" in journal.description
        if begun:
            return campaigns.start(*resuming(folder), **SLOW)
        shutil.rmtree(folder)
    return campaigns.start(*arguments(), "--out", folder, **SLOW)


def _live(process: "subprocess.Popen[str]", seconds: float) -> None:
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _wait_for_more(folder: Path) -> None:
    """Return once some cases have ended that had not; of two workers none is on the same then."""
    enough = answered(folder) + 5
    assert until(lambda: answered(folder), lambda now: now >= enough, PATIENCE) >= enough


def _finish(campaigns: Campaigns, folder: Path, undisturbed: Summary) -> None:
    process = _start(campaigns, folder)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 1, out + err
    assert "resumed" in out
    check_whole(folder)
    assert summary(folder) == undisturbed


def test_a_worker_that_is_killed_costs_no_verdict(
    campaigns: Campaigns, undisturbed: Summary, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    folder = tmp_path / "out"
    chance = random.Random("worker")
    wanted = repetitions(request, 6, 13)
    process = campaigns.start(*arguments(), "--out", folder, JUDGE_SECONDS="0.1")
    until(lambda: ended(folder), bool)
    killed = 0
    by_age: list[int] = []
    while process.poll() is None and killed < wanted:
        workers = campaigns.workers()
        by_age = [
            *(pid for pid in by_age if pid in workers),
            *(pid for pid in workers if pid not in by_age),
        ]
        if by_age:
            # The youngest may still be on the case of the last that was killed: a case that two
            # workers die of is to blame itself.
            _kill(by_age[0])
            killed += 1
            _wait_for_more(folder)
        time.sleep(chance.uniform(0.15, 0.35))
    out, err = process.communicate(timeout=300)
    assert process.returncode == 1, out + err
    assert killed == wanted
    check_whole(folder)
    assert summary(folder) == undisturbed
    with Journal(folder, Mode.READ) as journal:
        happened = [event.type for event in journal.events()]
    assert set(happened) <= {EventType.KILLED, EventType.LOST}
    assert len(happened) == wanted
    assert re.search(r"killed from outside \((its case|their cases) ran again\)", out)


@pytest.mark.slow
def test_the_workers_parent_that_is_killed_is_started_again(
    campaigns: Campaigns, undisturbed: Summary, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    folder = tmp_path / "out"
    chance = random.Random("zygote")
    process = campaigns.start(*arguments(), "--out", folder, JUDGE_SECONDS="0.15")
    until(lambda: ended(folder), bool)
    # More often than a case is tried: most of them were only waiting for their turn.
    wanted = repetitions(request, 4, 11)
    for _ in range(wanted):
        zygote = until(campaigns.zygotes, bool)[0]
        # A case that a worker is on three times in a row is given up for good.
        _wait_for_more(folder)
        time.sleep(chance.uniform(0, 0.5))
        _kill(zygote)
        until(campaigns.zygotes, lambda pids, gone=zygote: bool(pids) and gone not in pids)  # type: ignore[misc]
    out, err = process.communicate(timeout=300)
    assert process.returncode == 1, out + err
    check_whole(folder)
    assert summary(folder) == undisturbed
    with Journal(folder, Mode.READ) as journal:
        happened = [event.type for event in journal.events()]
    assert happened.count(EventType.RESTARTED) == wanted
    assert f"the workers' parent was started again {wanted} times" in out


@pytest.mark.slow
def test_with_tvm_too(
    real_campaigns: Campaigns, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    few = ("fuzz", FAMILY, "--cases", 24, "--minutes", 3, "--seed", 5, "--workers", 2)
    whole, folder = tmp_path / "whole", tmp_path / "out"
    real_campaigns.run(*few, "--out", whole)
    chance = random.Random("real")
    for number in range(repetitions(request, 1, 6)):
        going_on = ("fuzz", "--resume", folder, *few[2:6], "--workers", 2)
        process = real_campaigns.start(*(going_on if number else (*few, "--out", folder)))
        until(lambda: (folder / FILE_NAME).exists(), bool, 60)
        _live(process, chance.uniform(5, 20))
        for pid in [process.pid, *real_campaigns.left()][: 1 + number % 4]:
            _kill(pid)
        process.wait()
        assert not until(real_campaigns.left, lambda pids: not pids)
    last = real_campaigns.run("fuzz", "--resume", folder, *few[2:6], "--workers", 2)
    assert last.returncode == 1, last.stdout + last.stderr
    check_whole(folder)
    (cases, findings), (cases_there, findings_there) = summary(folder), summary(whole)
    assert [case[:2] for case in cases] == [case[:2] for case in cases_there]
    # Where two findings explain a case, the one that was there first has it: all have as many.
    assert [case[2] is None for case in cases] == [case[2] is None for case in cases_there]
    assert set(findings) == set(findings_there)
    assert all(confirmed for _, confirmed in findings.values())
    assert sum(count for count, _ in findings.values()) == sum(
        case[2] is not None for case in cases
    )
