"""The page of the support table: its figures are those of its data."""

import re
from pathlib import Path

import msgspec

from relaxcheck.harness.torch.table.counting import ENDINGS, Row, Table
from relaxcheck.harness.torch.table.selecting import CORE, FORMS, LAYER
from relaxcheck.reports.torch.table import page, regressions, totals

DOCS = Path(__file__).resolve().parents[3] / "docs"

SAME = {"off": {"pass": 2}, "on": {"pass": 2}}
TABLE = Table(
    "2.13.0",
    {"0.27": "0.27.0"},
    (
        Row(
            CORE,
            "cumsum.default",
            {
                FORMS[0]: {"0.27": {"off": {"pass": 1, "wrong": 1}, "on": {"pass": 2}}},
                FORMS[1]: {"0.27": SAME},
                FORMS[2]: {"0.27": {"off": {}, "on": {}}},
            },
        ),
        Row(
            LAYER,
            "Linear",
            {
                FORMS[0]: {"0.27": SAME},
                FORMS[1]: {"0.27": {"off": {"crash": 1}, "on": {"unsupported": 1}}},
                FORMS[2]: {"0.27": {"off": {"pass": 1}, "on": {"crash": 1}}},
            },
        ),
    ),
    ("rand.default",),
)


def test_a_row_says_what_becomes_of_its_programs() -> None:
    lines = page(TABLE).splitlines()
    assert "| `cumsum.default` | 1 pass, 1 wrong → pass | pass | – |" in lines
    assert "| `Linear` | pass | crash → unsupported | pass → crash |" in lines
    assert "| 1 row | 0.27 decomposed | 0.27 undecomposed | 0.27 dynamic |" in lines
    assert "`rand.default`." in lines


def test_totals_add_up_the_rows() -> None:
    found = totals(TABLE)
    assert found["0.27", "off", FORMS[0]] == {"pass": 3, "wrong": 1}
    assert found["0.27", "on", FORMS[2]] == {"crash": 1}
    assert "| 0.27 | off | decomposed | 3 | 1 | 0 | 0 |" in page(TABLE)


def test_fewer_passes_with_the_fixes_are_named() -> None:
    assert list(regressions(TABLE)) == ["Linear, dynamic, TVM 0.27: pass → crash"]


def test_the_committed_page_is_that_of_its_figures() -> None:
    data = msgspec.json.decode((DOCS / "torch.json").read_bytes(), type=Table)
    text = (DOCS / "torch.md").read_text()
    assert text == page(data)
    # The sums of the table at the top are those of the rows below.
    for (release, side, form), counts in totals(data).items():
        figures = " | ".join(str(counts.get(name, 0)) for name in ENDINGS)
        assert f"| {release} | {side} | {form} | {figures} |" in text
    rows = re.findall(r"^\| `([\w.]+)` \|", text, re.MULTILINE)
    assert rows == [row.name for row in data.rows]
