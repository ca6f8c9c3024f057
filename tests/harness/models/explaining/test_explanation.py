"""A fault of a model is explained by its smallest piece, and by the fixes that cure it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from relaxcheck import fixes
from relaxcheck.harness.models.checking import check
from relaxcheck.harness.models.explaining import curing
from relaxcheck.harness.models.job import Job
from relaxcheck.harness.models.report import Report, Verdict
from relaxcheck.harness.outcomes.outcome import Verdict as Outcome
from relaxcheck.reports.models.files import CASE, ISSUE, SCRIPT, files
from relaxcheck.reports.models.text import lines
from tests.harness.models.small import making, model, saved


@pytest.fixture(autouse=True)
def without_fixes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No fix is on afterwards; those that no operator suggests are not probed, for seconds."""
    monkeypatch.setattr(curing, "needed_of", lambda every: ())
    yield
    fixes.uninstall()


def checked(name: str, **options: Any) -> Report:
    return check(Job(name, draws=1, **options), lambda message: None)


def text(report: Report, folder: str = "") -> str:
    return "\n".join(lines(report, folder))


def test_a_wrong_onnx_node_is_a_case_that_a_fix_cures(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("Log", ["r"], ["l"]),
        helper.make_node("IsInf", ["l"], ["inf"], detect_negative=0),
        helper.make_node("Where", ["inf", "r", "three"], ["y"]),
    ]
    held = [numpy_helper.from_array(np.float32(3), "three")]
    proto = model(nodes, {"x": ["n", 3]}, {"y": ["n", 3]}, held)
    report = checked(saved(proto, tmp_path), sizes={"n": (2,)})
    piece, cure = report.piece, report.cure
    assert piece is not None
    assert cure is not None
    assert (piece.nodes, piece.fault.verdict) == (("inf",), Outcome.WRONG_VALUE)
    assert piece.case is not None
    assert [each.operator for each in piece.case.model.nodes] == ["Constant", "IsInf"]
    assert (cure.fixes, cure.whole) == (("onnx_special_values",), True)
    assert set(files(report)) == {CASE, SCRIPT, ISSUE}
    assert "with onnx_special_values alone the whole model is right" in text(report)
    assert f"relaxcheck reduce out/{CASE}" in text(report, "out")


def test_a_node_that_is_not_imported_is_a_case(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Exp", ["x"], ["e"]),
        helper.make_node("Det", ["e"], ["d"]),
        helper.make_node("Exp", ["d"], ["y"]),
    ]
    proto = model(nodes, {"x": ["n", 3, 3]}, {"y": ["n"]}, [])
    report = checked(saved(proto, tmp_path), sizes={"n": (2,)})
    assert report.verdict is Verdict.IMPORT
    assert report.piece is not None
    assert report.piece.case is not None
    assert [each.operator for each in report.piece.case.model.nodes] == ["Det"]
    assert report.cure is not None
    assert (report.cure.fixes, report.cure.whole) == (("onnx_determinants",), True)


def test_a_lost_shape_is_told_from_those_behind_it(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Shape", ["x"], ["sizes"], start=1, end=2),
        helper.make_node("Squeeze", ["sizes", "axis"], ["length"]),
        helper.make_node("Range", ["zero", "length", "unit"], ["places"]),
        helper.make_node("Cast", ["places"], ["shifts"], to=TensorProto.FLOAT),
        helper.make_node("Add", ["x", "shifts"], ["sum"]),
        helper.make_node("Exp", ["sum"], ["y"]),
    ]
    held = [
        numpy_helper.from_array(np.array([0]), "axis"),
        numpy_helper.from_array(np.int64(0), "zero"),
        numpy_helper.from_array(np.int64(1), "unit"),
    ]
    proto = model(nodes, {"x": ["n", "m"]}, {"y": ["n", "m"]}, held)
    report = checked(saved(proto, tmp_path), sizes={"n": (2,), "m": (3,)})
    assert report.verdict is Verdict.COMPILE
    (trap,) = report.traps
    assert (trap.name, trap.node, trap.followers) == ("lost-shape", "sum", 1)
    assert "is a symbol of its own" in trap.sentence
    assert [(each.node, each.behind) for each in report.failing] == [("sum", ""), ("y", "sum")]
    assert report.place is not None
    assert report.place.node == "sum"
    assert report.piece is not None
    assert report.piece.nodes == ("sum",)
    assert report.piece.case is not None
    assert len(report.piece.case.model.symbols) == 3


def test_a_torch_node_that_does_not_compile_is_a_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = """class Counts(nn.Module):
    def forward(self, x):
        return torch.exp(x) * torch.cumsum(x > 0, 1)
return Counts(), (torch.linspace(-1, 1, 6).reshape(2, 3),)"""
    monkeypatch.syspath_prepend(tmp_path)
    report = checked(making(tmp_path, body, "counting"))
    assert report.verdict is Verdict.COMPILE
    assert [each.name for each in report.traps] == ["summed-bools"]
    assert report.piece is not None
    assert report.piece.calls is not None
    assert report.piece.calls.calls == ("cumsum = torch.ops.aten.cumsum.default(gt, 1)",)
    assert report.cure is not None
    assert report.cure.fixes == ("torch_scans",)
    assert set(files(report)) == {SCRIPT, ISSUE}
    assert "Cured by the fix torch_scans." in text(report)
