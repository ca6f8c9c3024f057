"""The support table: versions of operators, converters that apply, endings of tests."""

import pytest

from relaxcheck.harness.onnx.suite.measuring import Measured
from relaxcheck.harness.onnx.suite.results import Result
from relaxcheck.harness.onnx.suite.support import (
    CRASHES,
    PASSES,
    UNSUPPORTED,
    WRONG,
    Cell,
    ending,
    rows,
    unknown_to_onnx,
    versions,
)
from relaxcheck.harness.outcomes.outcome import Verdict


def test_versions_in_force_from_opset_7_on_are_listed() -> None:
    listed = versions()
    assert [version for name, version in listed if name == "Softmax"] == [1, 11, 13]
    assert [version for name, version in listed if name == "Add"][:1] == [7]
    # Deprecated since 10.
    assert [version for name, version in listed if name == "Upsample"] == [7, 9]
    assert ("ai.onnx.ml.Binarizer", 1) in listed
    assert listed == sorted(listed)


def result(name: str, verdict: Verdict, expanded: bool = False) -> Result:
    return Result(name, "Softmax", 18, verdict, "", "", "node", 13, expanded)


def test_a_row_counts_endings_of_tests_and_of_bodies() -> None:
    results = [
        result("a", Verdict.PASS),
        result("b", Verdict.PASS),
        result("c", Verdict.WRONG_DTYPE),
        result("d", Verdict.SILENT_BAIL),
        result("e", Verdict.UNSUPPORTED, expanded=True),
    ]
    measured = Measured({each.name: each for each in results}, {"Softmax": (1, 11, 13)})
    by_key = {(row.operator, row.version): row for row in rows({"0.27": {"on": measured}})}
    row = by_key["Softmax", 13]
    assert row.cells["0.27"]["on"] == Cell(13, {PASSES: 2, WRONG: 1, CRASHES: 1}, {UNSUPPORTED: 1})
    assert (row.tests, row.bodies) == (4, 1)
    assert by_key["Softmax", 11].cells["0.27"]["on"] == Cell(11, {}, {})
    assert not by_key["Add", 14].cells["0.27"]["on"].claimed


@pytest.mark.parametrize(
    ("converters", "version", "applies"),
    [((1, 13), 21, 13), ((1, 13), 13, 13), ((1, 13), 11, 1), ((13,), 11, 13), ((), 13, 0)],
)
def test_the_newest_converter_that_is_no_newer_applies_or_else_the_oldest(
    converters: tuple[int, ...], version: int, applies: int
) -> None:
    claims = {"Squeeze": converters} if converters else {}
    (row,) = (
        row
        for row in rows({"0.27": {"off": Measured({}, claims)}})
        if (row.operator, row.version) == ("Squeeze", version)
    )
    cell = row.cells["0.27"]["off"]
    assert (cell.converter, cell.claimed) == (applies, applies > 0)


def test_mapped_operators_of_other_domains_are_unknown_to_onnx() -> None:
    assert unknown_to_onnx([{"Add": (1,), "FastGelu": (1,)}, {"BiasGelu": (1,)}]) == (
        "BiasGelu",
        "FastGelu",
    )


def test_every_verdict_has_an_ending() -> None:
    assert ending(Verdict.PASS) == PASSES
    assert ending(Verdict.WRONG_VALUE) == WRONG
    assert ending(Verdict.UNSUPPORTED) == UNSUPPORTED
    assert {ending(each) for each in (Verdict.PROCESS_DEATH, Verdict.TIMEOUT)} == {CRASHES}
