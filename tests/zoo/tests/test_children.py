"""A job in a process of its own: its results, its death, its deadline, its exception."""

import os
import signal
import time
from collections.abc import Callable, Iterator

import pytest

from tests.zoo import children
from tests.zoo.children import ChildError, Ended, in_child


def _two() -> Iterator[str]:
    yield "first"
    yield "x" * 200_000


def _dies() -> Iterator[str]:
    yield "first"
    os.kill(os.getpid(), signal.SIGSEGV)


def _hangs() -> Iterator[str]:
    yield "first"
    time.sleep(60)
    yield "second"


def _computes() -> Iterator[str]:
    yield "first"
    while True:
        time.process_time()


def _raises() -> Iterator[str]:
    yield "first"
    raise KeyError("its key")


def test_results_of_any_size_come_in_order() -> None:
    assert list(in_child(_two, 30)) == ["first", "x" * 200_000]


def test_death_is_told_by_its_signal() -> None:
    assert list(in_child(_dies, 30)) == ["first", Ended("SIGSEGV", late=False)]


@pytest.mark.parametrize("job", [_hangs, _computes])
def test_a_job_without_end_ends_at_the_deadline(
    monkeypatch: pytest.MonkeyPatch, job: Callable[[], Iterator[str]]
) -> None:
    # One that computes without end ends at its limit of the processor's time, long before.
    monkeypatch.setattr(children, "_PATIENCE", 3 if job is _hangs else 60)
    first, last = in_child(job, 1.0)
    assert first == "first"
    assert last == Ended("no end after 1 s", late=True)


def test_an_exception_is_raised_here_with_its_traceback() -> None:
    results = in_child(_raises, 30)
    assert next(results) == "first"
    with pytest.raises(ChildError, match="its key"):
        list(results)
