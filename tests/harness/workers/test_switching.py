"""Workers of one TVM probe once for the fixes that it needs."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from relaxcheck import fixes
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.framework.fix import Fix
from relaxcheck.harness.outcomes.outcome import INSTALLING
from relaxcheck.harness.workers import switching, worker
from relaxcheck.harness.workers.protocol import SCRATCH

pytestmark = pytest.mark.tvm


@pytest.fixture(autouse=True)
def _off() -> Iterator[None]:
    fixes.uninstall()
    switching._assume.cache_clear()
    yield
    fixes.uninstall()
    switching._assume.cache_clear()


def names() -> list[str]:
    return [fix.name for fix in fixes.installed()]


def test_a_worker_takes_the_needed_fixes_from_another(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(SCRATCH, str(tmp_path))
    switching.switch_fixes(True)
    first = names()
    assert len(first) > 50
    (note,) = tmp_path.iterdir()
    assert msgspec.json.decode(note.read_bytes()) == first
    # Another process: it knows nothing, and must not probe.
    fixes.uninstall()
    switching._assume.cache_clear()
    monkeypatch.setattr(installation, "_NEED", {})
    monkeypatch.setattr(Fix, "needed", lambda self: pytest.fail(f"{self.name} was probed"))
    switching.switch_fixes(True)
    assert names() == first
    assert list(tmp_path.iterdir()) == [note]


def test_a_choice_of_fixes_is_no_news_for_other_workers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(SCRATCH, str(tmp_path))
    with switching.only_fixes(["folding"]):
        switching.switch_fixes(True)
        assert set(names()) <= {"folding"}
    assert not list(tmp_path.iterdir())


def test_only_a_process_without_the_fixes_says_that_it_puts_them_on() -> None:
    stages: list[str] = []
    switching.switch_fixes(False, stages.append)
    assert not stages
    switching.switch_fixes(True, stages.append)
    switching.switch_fixes(True, stages.append)
    assert stages == [INSTALLING]


def test_a_choice_of_fixes_is_put_on_in_a_stage_of_its_own() -> None:
    stages: list[str] = []
    with worker._only((), stages.append):
        assert not stages
    with worker._only(("folding",), stages.append):
        assert stages == [INSTALLING]
        assert set(names()) <= {"folding"}


def test_outside_of_a_worker_nothing_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SCRATCH, raising=False)
    switching.switch_fixes(True)
    assert names()
    switching.switch_fixes(False)
    assert not names()
