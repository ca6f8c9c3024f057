"""The monitor sees the lines it is to see; the section tells when the last new thing came up."""

import sys
import textwrap
from importlib import util
from pathlib import Path
from types import ModuleType

import pytest

from tests.measure.quality.novelty import SECTION, WATCHED, Monitor


@pytest.fixture(params=WATCHED)
def watched(request: pytest.FixtureRequest, tmp_path: Path) -> ModuleType:
    """A module in a watched folder; ``pick`` runs one of two lines."""
    folder = tmp_path / request.param
    folder.mkdir(parents=True)
    return _module(folder)


def _module(folder: Path) -> ModuleType:
    path = folder / "picking.py"
    path.write_text(
        textwrap.dedent("""\
            def pick(first):
                if first:
                    return 1
                return 2
            """)
    )
    specification = util.spec_from_file_location("picking", path)
    assert specification is not None
    assert specification.loader is not None
    module = util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_lines_are_seen_where_they_run(watched: ModuleType, tmp_path: Path) -> None:
    monitor = Monitor(tmp_path)
    with monitor:
        watched.pick(True)
    assert {line for _, line in monitor.seen} == {2, 3}
    watched.pick(False)
    assert {line for _, line in monitor.seen} == {2, 3}
    with monitor:
        watched.pick(False)
    assert {line for _, line in monitor.seen} == {2, 3, 4}
    assert sys.gettrace() is None


def test_lines_elsewhere_are_not_seen(tmp_path: Path) -> None:
    for name in ("relax", "topical"):
        (tmp_path / name).mkdir()
        monitor = Monitor(tmp_path)
        with monitor:
            _module(tmp_path / name).pick(True)
        assert not monitor.seen


def test_the_time_of_the_last_new_finding_is_reported() -> None:
    counts = {"lines": [90, 0, 9, 0, 1, 0], "verdicts": [1, 1, 0, 0, 0, 0]}
    page = SECTION.markdown({"seed": 1, "cases": 6, "sides": {"on": counts, "off": counts}})
    assert "| on | lines | 100 | 3 | 5 |" in page
    assert "| off | verdicts by family and stage | 2 | 2 | 2 |" in page


def test_seeing_nothing_is_no_result() -> None:
    counts = {"lines": [0, 0], "verdicts": [1, 0]}
    (line,) = SECTION.missed({"seed": 1, "cases": 2, "sides": {"on": counts}})
    assert "no lines" in line
