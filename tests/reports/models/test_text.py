"""The result of a check of a model in plain words."""

from typing import Any

import pytest

from relaxcheck.harness.models.fault import Fault
from relaxcheck.harness.models.report import (
    Blame,
    Cure,
    Lacking,
    Node,
    Piece,
    Place,
    Ratio,
    Report,
    Trial,
    Verdict,
)
from relaxcheck.harness.outcomes.outcome import Verdict as Outcome
from relaxcheck.reports.models.text import lines, table

OFF = Ratio("output 0", 4e5, error=0.1, own=2.5e-7, scale=1.0)
LOST = Ratio("y", None, difference="3 of 4 elements are NaN, and numbers in the framework")
RUNS = (
    Trial({"batch": 2}, "drawn, seed 0", (OFF,), right=False),
    Trial({"batch": 1}, "drawn, seed 0", (Ratio("output 0", 1.5, 3e-8, 2e-8, 1.0),), right=True),
)


def report(verdict: Verdict, **details: Any) -> Report:
    return Report("model.onnx", "ONNX Runtime", verdict, "0.27", **details)


def text(verdict: Verdict, **details: Any) -> str:
    return "\n".join(lines(report(verdict, **details)))


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_is_a_sentence(verdict: Verdict) -> None:
    first, second, *_ = lines(report(verdict))
    assert first == f"model.onnx, TVM 0.27, fixes off, default-pipeline: {verdict}"
    assert second.endswith(".")


def test_wrong_nodes_have_figures_and_somebody_to_blame() -> None:
    node = Node(
        *("select_3", "aten.select.int", "aten.select.int(x, 1, -1)"),
        relax="lv = R.take(x)",
        figures=OFF,
        blame=Blame.IMPORTER,
        reason="an index is out of bounds",
    )
    shown = text(Verdict.WRONG, nodes=170, checked=170, wrong=(node,), trials=RUNS)
    assert "1 node of 170 is wrong on ONNX Runtime's own operands" in shown
    assert "select_3: aten.select.int(x, 1, -1)" in shown
    assert "off by 0.1, 4e+05 times the framework's own error, of at most 10 allowed" in shown
    assert "to blame: the importer; an index is out of bounds" in shown
    assert "in Relax: lv = R.take(x)" in shown


def test_a_node_that_is_wrong_before_the_import_fails_comes_first() -> None:
    differs = Ratio("range", None, difference="int64 (4) instead of float32 (4,)")
    node = Node("range", "aten.arange", "", "", differs, Blame.IMPORTER, "it is so", "dtype")
    place = Place("log", "aten.log", ("int64 (4)",))
    shown = text(Verdict.IMPORT, message="no", wrong=(node,), place=place)
    assert "1 node is wrong as soon as it is imported" in shown
    assert shown.index("range: aten.arange") < shown.index("It fails at the node log (aten.log).")
    (row,) = table([report(Verdict.IMPORT, wrong=(node,), place=place)])
    assert row.endswith("range (aten.arange)")


def test_nodes_that_could_not_be_judged_are_counted() -> None:
    node = Node("cast", "Cast", "", "", OFF, Blame.IMPORTER, "it is so", "dtype")
    shown = text(Verdict.WRONG, nodes=9, wrong=(node, node), behind=3)
    assert "another shape or dtype first, the worst first:" in shown
    assert "3 nodes behind could not be judged: check the model again once this is mended." in shown


def test_an_operator_that_the_importer_lacks_is_no_crash() -> None:
    fault = Fault(Outcome.OPAQUE_CRASH, "import", "OpNotImplemented: Celu", "")
    piece = Piece(("celu",), ("Celu",), fault, "")
    lacking = (Lacking("Celu", 1, ("celu",)),)
    shown = text(Verdict.IMPORT, lacking=lacking, piece=piece, cure=Cure())
    assert "  unsupported: OpNotImplemented: Celu" in shown
    assert "  give --tvm all to see whether another installed release is right" in shown


def test_each_run_has_its_sizes_and_its_worst_output() -> None:
    shown = text(Verdict.WRONG, trials=RUNS)
    assert "WRONG  drawn, seed 0, batch = 2: output 0: off by 0.1" in shown
    assert "right  drawn, seed 0, batch = 1: output 0: off by 3e-08, 1.5 times" in shown


def test_a_difference_that_no_ratio_says_is_shown() -> None:
    trial = Trial({}, "the example inputs", (OFF, LOST), right=False)
    assert f"y: {LOST.difference}" in text(Verdict.WRONG, trials=(trial,))


def test_a_region_names_its_nodes_and_the_pass_to_leave_out() -> None:
    shown = text(Verdict.WRONG, checked=12, region=("product", "value"), passes=("FuseOps",))
    assert "Each of 12 nodes is right alone; these are wrong together: product, value." in shown
    assert "They are right without the pass FuseOps." in shown


def test_what_the_importer_lacks_is_counted() -> None:
    lacking = (Lacking("Det", 9, ("a", "b")), Lacking("STFT", 1, ("c",)))
    shown = text(Verdict.IMPORT, lacking=lacking)
    assert "Det, 9 nodes: a, b and 7 more" in shown
    assert "STFT, 1 node: c" in shown


def test_the_place_of_a_failure_has_its_operands() -> None:
    place = Place("reshape_4", "Reshape", ("float32 of rank 4", "R.Shape([2, -1])"), "no shape")
    shown = text(Verdict.IMPORT, place=place, message="no shape")
    assert "It fails at the node reshape_4 (Reshape)." in shown
    assert "operands: float32 of rank 4; R.Shape([2, -1])" in shown
    assert shown.count("no shape") == 1


def test_several_checks_are_a_table() -> None:
    rows = list(
        table(
            [
                report(Verdict.IMPORT, place=Place("reshape_4", "Reshape")),
                report(Verdict.RIGHT, fixes=True),
            ]
        )
    )
    assert rows == [
        "0.27  fixes off  import-fails  reshape_4 (Reshape)",
        "0.27  fixes on   right",
    ]
