"""One process of a test run probes for the fixes that TVM needs; the others take its answers."""

import os
import sys
from pathlib import Path

import pytest

from relaxcheck import fixes
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.framework.fix import Fix
from tests.prepared import needs


def test_only_the_first_process_probes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    probed = []

    def needed(fix: Fix) -> bool:
        probed.append(fix)
        return fix.name != "folding"

    shared = tmp_path / "needed.json"
    monkeypatch.setattr(Fix, "needed", needed)
    monkeypatch.setattr(installation, "_NEED", {})
    needs.share(shared)
    some, every = fixes.ALL[:3], fixes.ALL
    assert len(installation.needed_of(some)) == 3
    # Half of the answers would leave others to each process.
    assert not shared.exists()
    wanted = installation.needed_of(every)
    assert len(wanted) == len(every) - 1
    assert probed == list(every)
    # Another process: it knows nothing.
    installation._NEED = {}
    needs.share(shared)
    assert installation.needed_of(some) == tuple(some)
    assert installation.needed_of(every) == wanted
    assert probed == list(every)
    assert list(tmp_path.iterdir()) == [shared]


def test_the_processes_of_a_run_have_one_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RELAXCHECK_TESTS_SHARED", raising=False)
    assert needs.note(os.environ) is None
    end = needs.begin()
    shared = needs.note(os.environ)
    assert shared is not None
    assert shared.parent.is_dir()
    # A process of the run.
    needs.begin()()
    assert needs.note(os.environ) == shared
    # Another release has its own interpreter.
    monkeypatch.setattr(sys, "executable", "/another/python")
    assert needs.note(os.environ) != shared
    end()
    assert not shared.parent.exists()
    assert needs.note(os.environ) is None
