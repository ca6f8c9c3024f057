"""The table operator × target: what is kept of a run, and the page."""

from pathlib import Path

from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.programs.support.targets import (
    STATIC,
    SYMBOLIC,
    Cell,
    Kept,
    Row,
    Table,
    merged,
    subjects,
)
from relaxcheck.reports.tables.targets import HEADING, failures, lines, page

RUNS = Cell(Verdict.PASS)
COMPILED = Cell(Verdict.BUILT, "WGSL generated, and compiled by naga")
BUILT = Cell(Verdict.BUILT, "Metal Shading Language generated, and not compiled")
FAILS = Cell(Verdict.OPAQUE_CRASH, "InternalError: no such thing")
TABLE = Table(
    {"0.27": "0.27.0.post1"},
    (
        Row("exp", {"0.27": {"opencl": {STATIC: RUNS, SYMBOLIC: RUNS}, "metal": {STATIC: BUILT}}}),
        Row(
            "sort",
            {"0.27": {"opencl": {STATIC: FAILS}, "metal": {STATIC: COMPILED, SYMBOLIC: FAILS}}},
        ),
    ),
)


def test_a_page_has_a_row_for_each_operator_and_a_line_for_each_failure() -> None:
    text = page(TABLE, f"# Targets\n\nby hand\n\n{HEADING}old")
    assert text.startswith(f"# Targets\n\nby hand\n\n{HEADING}")
    assert "old" not in text
    assert "| `exp` | runs | built / – |" in text
    assert "| `sort` | 1 / – | compiled / 1 |" in text
    assert "1. opaque-crash: `InternalError: no such thing`: sort (opencl, metal)" in text
    assert list(lines(TABLE)) == [
        "0.27: opaque-crash: InternalError: no such thing: sort (opencl, metal)"
    ]
    assert failures(TABLE, "0.26") == {}


def test_figures_of_another_run_stay() -> None:
    new = Table({"0.26": "0.26.0"}, (Row("exp", {"0.26": {"metal": {STATIC: FAILS}}}),))
    both = merged(new, TABLE)
    assert both.versions == {"0.27": "0.27.0.post1", "0.26": "0.26.0"}
    assert both.rows[0].cells["0.26"] == {"metal": {STATIC: FAILS}}
    assert both.rows[0].cells["0.27"] == TABLE.rows[0].cells["0.27"]
    assert merged(TABLE, TABLE) == TABLE


def test_a_case_that_ended_is_kept_and_a_line_that_was_cut_off_is_not(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "kept.jsonl"
    Kept(path, Cell).add("0.27", "0.27.0", "abc", FAILS)
    with path.open("ab") as file:
        file.write(b'{"release":"0.27","version":"0.27.0","identif')
    kept = Kept(path, Cell)
    assert kept.get("0.27", "0.27.0", "abc") == FAILS
    assert kept.get("0.26", "0.26.0", "abc") is None
    kept.add("0.27", "0.27.0", "def", RUNS)
    assert Kept(path, Cell).get("0.27", "0.27.0", "def") == RUNS


def test_an_operator_has_a_program_of_constant_and_one_of_symbolic_sizes() -> None:
    forms = subjects(["softmax"], "opencl")["nn.softmax"]
    assert not forms[STATIC].program.symbols
    assert forms[SYMBOLIC].program.symbols
    assert {case.target for case in forms.values()} == {"opencl"}
    assert subjects(["no_such"], "opencl") == {}
