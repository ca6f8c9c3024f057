"""The section of the page that shows the matrix of releases."""

from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.matrix.matrix import Cell, Column, Matrix, Row
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.reports.page.page import Sources, page_text
from relaxcheck.reports.page.records import Record, ran_of
from relaxcheck.reports.page.releases import COMMITTED, last, section
from relaxcheck.reports.tables.release_matrix import DATA
from tests.reports import html_campaign as made

PASSES = Cell(Verdict.PASS, declared=Verdict.PASS)
CRASHES = Cell(Verdict.OPAQUE_CRASH, "no <shape>", Verdict.OPAQUE_CRASH)
SURPRISES = Cell(Verdict.WRONG_VALUE, "off by 1", Verdict.PASS)


def matrix(cells: dict[str, dict[str, Cell]], *missing: str) -> Matrix:
    columns = [Column(name, {"apache-tvm": f"{name}.0"}) for name in cells]
    columns += [Column(name, missing="is not installed") for name in missing]
    why = "<C++>."
    row = Row("some-case", "it <breaks>", None, made.case(), gap=True, reason=why, cells=cells)
    return Matrix(tuple(columns), (row,))


BOTH = matrix(
    {"0.1": {"off": CRASHES, "on": PASSES}, "0.2": {"off": PASSES, "on": SURPRISES}}, "0.3"
)


def page(shown: Matrix | None) -> str:
    record = Record("x", {}, (ran_of(made.case(), Verdict.PASS, datetime.now(UTC)),), ())
    return page_text(Sources(record, matrix=shown))


def test_a_row_has_a_cell_for_each_side_of_each_release() -> None:
    result = section(BOTH)
    assert [(heading.release, len(heading.sides)) for heading in result.headings] == [
        ("0.1", 2),
        ("0.2", 2),
        ("0.3", 1),
    ]
    (line,) = result.lines
    assert [cell.verdict for cell in line.cells] == [
        Verdict.OPAQUE_CRASH,
        Verdict.PASS,
        Verdict.PASS,
        Verdict.WRONG_VALUE,
        None,
    ]
    assert [cell.instead_of for cell in line.cells] == ["", "", "", "pass", ""]
    assert result.regressions == ("some-case, fixes on: passes on 0.1, wrong-value on 0.2",)
    assert result.gaps == ("some-case, on 0.2: <C++>.",)
    assert result.surprises == ("some-case on 0.2, fixes on: wrong-value, declared pass",)


def test_the_page_shows_it() -> None:
    text = page(BOTH)
    for words in (
        '<a href="#releases">',
        '<th scope="colgroup" colspan="2">0.2<br>apache-tvm 0.2.0</th>',
        '<th scope="colgroup" colspan="1">0.3<br>is not installed</th>',
        'title="no &lt;shape&gt;"',
        '<span class="tag bad">≠ pass</span>',
        'title="it &lt;breaks&gt;"><span class="tag">gap</span> some-case</th>',
        "passes on 0.1, wrong-value on 0.2",
        "1 case on 3 releases",
        "1 declared gap of the corpus",
        "<li>some-case, on 0.2: &lt;C++&gt;.</li>",
    ):
        assert words in text, words
    assert "releases-title" not in page(None)


def test_the_committed_page_can_be_shown() -> None:
    result = last()
    assert result is not None
    lines = section(result).lines
    assert len(lines) == len(result.rows)
    assert all(len(line.cells) == len(lines[0].cells) for line in lines)
    assert f"{len(lines)} cases on {len(result.columns)} releases" in page(result)


def test_there_need_not_be_one_but_it_must_be_whole(tmp_path: Path) -> None:
    assert last(tmp_path) is None
    (tmp_path / DATA).write_bytes(msgspec.json.encode(BOTH)[:-9])
    with pytest.raises(CaseError, match=r"matrix\.json: .*; run: relaxcheck matrix$"):
        last(tmp_path)
    (tmp_path / DATA).write_bytes(msgspec.json.encode(BOTH))
    assert last(tmp_path) == BOTH
    assert (COMMITTED / DATA).is_file()
