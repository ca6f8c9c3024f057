"""A process that dies or hangs with the fixes off leaves them to be tried on."""

import os
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.zoo import children, serving
from tests.zoo.records import FIXES, OFF, ON, Result, Trial, Verdict
from tests.zoo.serving import Request, answered


def _request(seconds: float = 60.0) -> Request:
    return Request(Trial("a", "torch"), "nowhere", 1, FIXES, seconds)


def _result(trial: Trial, state: str, release: str, seconds: float | None = None) -> Result:
    return Result(trial=trial, release=release, fixes=state, verdict=Verdict.RIGHT, seconds=seconds)


def _dies_off(
    trial: Trial, where: Path, runs: int, which: Sequence[str], release: str
) -> Iterator[Result]:
    if OFF in which:
        os.kill(os.getpid(), signal.SIGKILL)
    yield _result(trial, ON, release)


def _hangs_off(
    trial: Trial, where: Path, runs: int, which: Sequence[str], release: str
) -> Iterator[Result]:
    if OFF in which:
        time.sleep(60)
    yield _result(trial, ON, release)


def _timed(
    trial: Trial, where: Path, runs: int, which: Sequence[str], release: str
) -> Iterator[Result]:
    for state in which:
        yield _result(trial, state, release)
    for state in which:
        yield _result(trial, state, release, 0.5)


def test_death_is_a_verdict_of_one_state(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "tried", _dies_off)
    off, on = answered(_request(), "0.27")
    assert (off.fixes, off.verdict, off.message) == (OFF, Verdict.DIED, "SIGKILL")
    assert (on.fixes, on.verdict) == (ON, Verdict.RIGHT)


def test_a_hang_is_a_verdict_of_one_state(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "tried", _hangs_off)
    monkeypatch.setattr(children, "_PATIENCE", 2)
    off, on = answered(_request(0.5), "0.27")
    assert (off.fixes, off.verdict) == (OFF, Verdict.TIMEOUT)
    assert (on.fixes, on.verdict) == (ON, Verdict.RIGHT)


def test_times_are_added_to_the_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "tried", _timed)
    results = answered(_request(), "0.27")
    assert [(each.fixes, each.seconds) for each in results] == [(OFF, 0.5), (ON, 0.5)]
