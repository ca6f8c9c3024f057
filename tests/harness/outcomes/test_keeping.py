"""Results that a file keeps: from run to run, of the same release, build and sources."""

from pathlib import Path

import pytest

from relaxcheck.harness.matrix.matrix import Cell
from relaxcheck.harness.outcomes.keeping import Kept, sources_of
from relaxcheck.harness.outcomes.outcome import Verdict

PASS = Cell(Verdict.PASS, "as it should")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "new" / "kept.jsonl"


def test_cells_stand_in_the_next_run(file: Path) -> None:
    Kept(file, Cell).add("0.27", "0.27.0", "case", PASS)
    kept = Kept(file, Cell)
    assert kept.get("0.27", "0.27.0", "case") == PASS
    assert kept.get("mine", "0.27.0", "case") is None
    assert kept.get("0.27", "0.27.1", "case") is None


def test_cells_of_other_sources_do_not_count(file: Path) -> None:
    Kept(file, Cell, "old").add("0.27", "0.27.0", "case", PASS)
    kept = Kept(file, Cell, "new")
    assert kept.get("0.27", "0.27.0", "case") is None
    kept.add("0.27", "0.27.0", "case", PASS)
    assert Kept(file, Cell, "new").get("0.27", "0.27.0", "case") == PASS
    assert Kept(file, Cell, "old").get("0.27", "0.27.0", "case") == PASS


def test_faults_of_ours_and_lines_that_were_cut_off_run_again(file: Path) -> None:
    kept = Kept(file, Cell)
    kept.add("0.27", "0.27.0", "fault", Cell(Verdict.HARNESS_ERROR))
    kept.add("0.27", "0.27.0", "last", PASS)
    file.write_bytes(file.read_bytes()[:-9])
    kept = Kept(file, Cell)
    assert kept.get("0.27", "0.27.0", "fault") is None
    assert kept.get("0.27", "0.27.0", "last") is None
    kept.add("0.27", "0.27.0", "last", PASS)
    assert Kept(file, Cell).get("0.27", "0.27.0", "last") == PASS


def test_sources_are_the_text_of_modules(tmp_path: Path) -> None:
    (tmp_path / "room").mkdir()
    module = tmp_path / "room" / "module.py"
    module.write_text("a = 1\n")
    before = sources_of(("room",), tmp_path)
    sources_of.cache_clear()
    assert sources_of(("room",), tmp_path) == before
    module.write_text("a = 2\n")
    sources_of.cache_clear()
    assert sources_of(("room",), tmp_path) != before
