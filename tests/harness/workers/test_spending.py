"""A deadline counts the time of a process itself, and not the time that others keep it waiting."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from relaxcheck.harness.workers.spending import Spending

BUSY = "while True: pass"
WAITING = "import time; time.sleep(600)"


@contextmanager
def process(script: str, core: int) -> Iterator[int]:
    started = subprocess.Popen([sys.executable, "-c", script])
    try:
        os.sched_setaffinity(started.pid, {core})
        yield started.pid
    finally:
        started.kill()
        started.wait()


def spent(pid: int, seconds: float) -> tuple[float, float]:
    """The time that ``pid`` takes in ``seconds``, and how many of them passed."""
    spending, began = Spending(pid), time.monotonic()
    while time.monotonic() - began < seconds:
        time.sleep(0.05)
        spending.look()
    return spending.look(), time.monotonic() - began


def test_a_process_that_shares_its_core_takes_no_more_than_its_part() -> None:
    core = min(os.sched_getaffinity(0))
    with ExitStack() as stack:
        pid, *_ = [stack.enter_context(process(BUSY, core)) for _ in range(4)]
        time.sleep(0.3)
        taken, passed = spent(pid, 1.2)
    assert 0 < taken < 0.6 * passed


def test_a_process_that_waits_takes_the_time_that_passes() -> None:
    with process(WAITING, min(os.sched_getaffinity(0))) as pid:
        time.sleep(0.3)
        taken, passed = spent(pid, 0.5)
    assert taken == pytest.approx(passed, abs=0.05)


def test_a_process_that_has_ended_takes_no_more() -> None:
    with process(WAITING, min(os.sched_getaffinity(0))) as pid:
        spending = Spending(pid)
    time.sleep(0.1)
    assert spending.look() <= 0
