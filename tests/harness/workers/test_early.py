"""Pools whose zygotes still import: they become usable, and leave nothing where they do not."""

import os
import signal
import time
from types import FrameType

import pytest

from relaxcheck.generators.core.program import Case, Input, Program
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.pool import Pool
from relaxcheck.harness.workers.processes import _PARENT_SECONDS
from relaxcheck.harness.workers.starting import PoolError

IMPORTING = "tests.harness.workers.importing_zygote"


def has_ended(pool: Pool) -> bool:
    zygote = pool._zygote
    return zygote._process.returncode is not None and not os.path.exists(zygote._scratch.name)


def test_it_runs_cases_once_it_is_ready() -> None:
    with Pool(1, zygote="tests.harness.workers.hostile_zygote", early=True) as pool:
        pool.ready()
        pool.ready()
        pool.submit(Job(Case("well", Program((Input("x", (1,), "float32"),), (), ("x",)))))
        assert [outcome.verdict for _, outcome in pool.drain()] == [Verdict.PASS]
        assert "python" in pool.environment


def test_one_that_does_not_start_says_so_when_it_is_waited_for() -> None:
    with Pool(1, zygote="no_such_zygote", early=True) as pool:
        with pytest.raises(PoolError, match="No module named no_such_zygote"):
            pool.ready()
        assert has_ended(pool)


def test_one_that_still_imports_is_closed_at_once() -> None:
    pool = Pool(1, zygote=IMPORTING, early=True)
    assert not has_ended(pool)
    began = time.monotonic()
    pool.close()
    assert time.monotonic() - began < _PARENT_SECONDS
    assert has_ended(pool)


def test_an_interrupt_of_the_wait_ends_it() -> None:
    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with Pool(1, zygote=IMPORTING, early=True) as pool:
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(KeyboardInterrupt):
                pool.ready()
            assert has_ended(pool)
    finally:
        signal.signal(signal.SIGALRM, before)
