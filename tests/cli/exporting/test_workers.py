"""The workers of an export: started once, beside other work, and closed."""

import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from relaxcheck.cli.actions.exporting import workers as pools
from relaxcheck.cli.actions.exporting.workers import Workers
from relaxcheck.harness.releases.releases import Release, own
from relaxcheck.harness.triage.scripts import run_script
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.harness.workers.pool import Pool
from relaxcheck.harness.workers.starting import PoolError


def test_a_release_that_does_not_start_is_started_once(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []

    def broken(size: int, limits: Limits, release: Release) -> Pool:
        started.append(release.name)
        raise PoolError("ImportError: no TVM")

    monkeypatch.setattr(pools, "Pool", broken)
    with Workers(Limits()) as workers:
        for _ in range(2):
            with pytest.raises(PoolError, match="no TVM"):
                workers.of(own().name)
    assert started == [own().name]


def test_releases_start_beside_other_work_and_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    first_may_start = threading.Event()
    started: list[str] = []
    closed: list[str] = []

    class Slow:
        def __init__(self, size: int, limits: Limits, release: Release):
            assert first_may_start.wait(10)
            self.name = release.name
            started.append(self.name)

        def close(self) -> None:
            closed.append(self.name)

    monkeypatch.setattr(pools, "Pool", Slow)
    monkeypatch.setattr(pools, "release", lambda name, **_: SimpleNamespace(name=name))
    with Workers(Limits()) as workers:
        workers.begin(["0.27", "0.25"])
        assert started == []
        first_may_start.set()
        assert workers.of("0.25") is workers.of("0.25")
        assert workers.of("0.27") is not workers.of("0.25")
        assert sorted(started) == ["0.25", "0.27"]
    assert sorted(closed) == ["0.25", "0.27"]


def test_work_runs_beside_that_of_the_caller_and_ends_with_the_block() -> None:
    """Two at a time; those that nobody waits for any more do not begin."""
    may_end = threading.Event()
    begun: list[int] = []

    def work(number: int) -> int:
        begun.append(number)
        assert may_end.wait(10)
        return number

    with Workers(Limits()) as workers:
        with workers.beside() as beside:
            futures = [beside(work, number) for number in range(5)]
            threading.Timer(0.1, may_end.set).start()
        assert all(future.done() for future in futures)
        assert sorted(begun) == [0, 1]
        with workers.beside() as beside:
            assert beside(work, 7).result() == 7


def test_an_exception_ends_the_scripts_that_run_beside(tmp_path: Path) -> None:
    script, begun = tmp_path / "repro.py", tmp_path / "begun"
    script.write_text(f"import time; open({str(begun)!r}, 'w'); time.sleep(60)")

    def interrupted(workers: Workers) -> None:
        with workers.beside() as beside:
            beside(run_script, script, own(), 60)
            while not begun.exists():
                time.sleep(0.01)
            raise KeyboardInterrupt

    before = time.monotonic()
    with Workers(Limits()) as workers, pytest.raises(KeyboardInterrupt):
        interrupted(workers)
    assert time.monotonic() - before < 30
