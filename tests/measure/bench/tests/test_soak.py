"""A soak detects growth, and lists the targets that it missed."""

from dataclasses import dataclass
from typing import Any

import pytest

from tests.measure.bench.memory import Sample, drift
from tests.measure.bench.soak import Fixes, Soaked


def _samples(sizes: list[int]) -> list[Sample]:
    return [Sample(10.0 * n, n, 7, "worker 7", size) for n, size in enumerate(sizes)]


def test_growth_counts_after_the_first_quarter() -> None:
    start = [100, 200, 300, 400, 500, 500, 500, 500, 500, 500]
    assert drift(_samples(start + [500] * 30)) == {"worker 7": 0.0}
    assert drift(_samples([500] * 20 + [550] * 20))["worker 7"] == pytest.approx(0.1)


def test_a_process_that_was_hardly_seen_is_left_out() -> None:
    assert drift(_samples([500] * 10 + [900] * 5)) == {}


@dataclass(frozen=True)
class _Lost:
    message: str
    seen: dict[str, Any]


@pytest.mark.parametrize(
    "lost",
    [
        _Lost("exit code 3", {"exit_code": 3}),
        _Lost("malformed", {"integrity": "malformed"}),
        _Lost("4 cases have no outcome", {"unended": 4}),
        _Lost("2 processes are left", {"left": [7, 8]}),
        _Lost("no page", {"page": False}),
        _Lost("worker 7 grew by 6%", {"drifts": {"worker 7": 0.06}}),
    ],
    ids=lambda lost: next(iter(lost.seen)),
)
def test_failed_conditions_are_listed(lost: _Lost) -> None:
    held: dict[str, Any] = {
        "date": "2026-11-21",
        "fixes": Fixes.BOTH,
        "minutes": 60.0,
        "versions": {},
        "cases": 100,
        "trials": 3,
        "unended": 0,
        "findings": 2,
        "integrity": "ok",
        "exit_code": 1,
        "left": [],
        "samples": [],
        "drifts": {"worker 7": 0.05},
        "page": True,
    }
    assert Soaked(**held).missed == []
    (line,) = Soaked(**(held | lost.seen)).missed
    assert lost.message in line
