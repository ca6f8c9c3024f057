"""The page of the support table: its figures are those of its data."""

from relaxcheck.harness.torch.table.counting import Row, Table
from relaxcheck.harness.torch.table.selecting import CORE, FORMS, LAYER
from relaxcheck.reports.torch.table import page, regressions, totals

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
