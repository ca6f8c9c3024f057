"""Expected failures of ONNX's tests, and what counts as a surprise."""

import json
from pathlib import Path
from typing import Any

import pytest

from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.onnx.suite.expectations import (
    FILE,
    assigned,
    lowered,
    read,
    surprises,
    write,
)
from relaxcheck.harness.onnx.suite.results import Result
from relaxcheck.harness.onnx.suite.tests import KINDS, suite
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.releases.releases import supported

ROW = {
    "name": "axes",
    "why": "Axes are constants alone.",
    "verdict": "opaque-crash",
    "message": "constant axes",
    "releases": {"0.27": 2},
}


def rows(tmp_path: Path, *changes: dict[str, Any]) -> Any:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([ROW | change for change in changes]))
    return read(path)


def result(
    name: str = "test_sum", verdict: str = "opaque-crash", message: str = "Only constant axes"
) -> Result:
    return Result(name, "Sum", 13, Verdict(verdict), "import", message)


def test_the_declared_rows_name_operators_and_tests_that_there_are() -> None:
    tests = [test for kind in KINDS for test in suite(kind)]
    operators = {test.operator for test in tests}
    for row in read():
        assert set(row.operators) <= operators, row.name
        assert set(row.releases) <= set(supported()), row.name


@pytest.mark.parametrize(
    "change",
    [
        {"why": ""},
        {"why": "no sentence"},
        {"name": ""},
        {"message": ""},
        {"releases": {}},
        {"releases": {"0.27": 0}},
        {"verdict": "pass"},
        {"verdict": "odd"},
        {"more": 1},
    ],
)
def test_a_row_that_says_too_little_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(CaseError, match=r"rows\.json"):
        rows(tmp_path, change)


def test_two_rows_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CaseError, match="two rows are named axes"):
        rows(tmp_path, {}, {})


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CaseError, match="No such file"):
        read(tmp_path / "rows.json")


@pytest.mark.parametrize(
    ("change", "expects"),
    [
        ({}, True),
        ({"verdict": "unsupported"}, False),
        ({"message": "constant depth"}, False),
        ({"operators": ["Sum", "Max"]}, True),
        ({"operators": ["Max"]}, False),
        ({"tests": ["test_s*"]}, True),
        ({"tests": ["test_m*", "sum"]}, False),
        ({"releases": {"0.26": 2}}, False),
    ],
)
def test_a_row_expects_failures_by_all_that_it_says(
    change: dict[str, Any], expects: bool, tmp_path: Path
) -> None:
    found = assigned([result()], rows(tmp_path, change), "0.27")
    assert (found.unexpected == ()) is expects


def test_the_first_row_that_expects_a_failure_has_it(tmp_path: Path) -> None:
    both = rows(tmp_path, {"name": "max", "operators": ["Max"]}, {}, {"name": "later"})
    found = assigned([result()], both, "0.27")
    assert {name: len(each) for name, each in found.expected.items()} == {
        "max": 0,
        "axes": 1,
        "later": 0,
    }


def test_failures_that_none_expects_and_numbers_that_are_off_are_surprises(tmp_path: Path) -> None:
    declared = rows(tmp_path, {})
    two = [result("test_a"), result("test_b")]
    assert surprises([*two, result("test_c", "pass", "")], declared, "0.27", whole=True) == []
    assert surprises([*two, result("test_c")], declared, "0.27", whole=True) == [
        "row axes: 3 tests fail so, not 2: test_a, test_b, test_c"
    ]
    assert surprises(two[:1], declared, "0.27", whole=True) == [
        "row axes: 1 test fails so, not 2: test_a"
    ]
    assert surprises([], declared, "0.27", whole=True) == [
        "row axes: 0 tests fail so, not 2: remove it"
    ]
    assert surprises([result(message="KeyError: 'x'")], declared, "0.27", whole=False) == [
        "test_sum: opaque-crash: KeyError: 'x'"
    ]
    # Some tests alone say nothing about numbers, nor does another release.
    assert surprises(two[:1], declared, "0.27", whole=False) == []
    assert surprises([], declared, "0.26", whole=True) == []


def test_numbers_are_lowered_to_the_tests_that_still_fail_and_never_raised(tmp_path: Path) -> None:
    both = {"0.26": 2, "0.27": 2}
    declared = rows(tmp_path, {"releases": both}, {"name": "depth", "message": "depth"})
    failing = [result(f"test_{at}") for at in range(3)]
    (axes,) = lowered(declared, {"0.27": failing[:1]})
    assert (axes.name, axes.releases) == ("axes", {"0.26": 2, "0.27": 1})
    (axes,) = lowered(declared, {"0.27": failing})
    assert axes.releases == both
    (axes,) = lowered(declared, {"0.27": []})
    assert axes.releases == {"0.26": 2}
    assert lowered(declared, {"0.26": [], "0.27": []}) == ()


def test_written_rows_are_read_again(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    write(read(), path)
    assert read(path) == read()
    # Rows in the repository are as they are written, so that a change shows what it changes.
    assert path.read_text() == FILE.read_text()
