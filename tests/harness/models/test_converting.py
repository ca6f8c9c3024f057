"""Nodes that are wrong as soon as they are imported are named, and not the nodes behind them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper
from torch import nn
from tvm import relax
from tvm.relax.frontend.onnx import onnx_frontend
from tvm.relax.frontend.torch.exported_program_translator import ExportedProgramImporter

from relaxcheck import fixes
from relaxcheck.generators.core.values import Array
from relaxcheck.harness.models import stepping
from relaxcheck.harness.models.checking import check
from relaxcheck.harness.models.converting import DTYPE, SHAPE, VALUE, Converted
from relaxcheck.harness.models.explaining import curing
from relaxcheck.harness.models.job import Job
from relaxcheck.harness.models.report import Blame, Report, Verdict
from relaxcheck.harness.models.sources import source
from relaxcheck.harness.outcomes.outcome import Verdict as Outcome
from relaxcheck.reports.models.text import lines
from tests.harness.models.small import exported, model, saved

Plant = Callable[[str, Callable[[Any, Any], Any]], None]
"""Has the importer of PyTorch programs convert an overload by a function of itself and the node."""


@pytest.fixture(autouse=True)
def without_fixes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No fix is on afterwards; those that no operator suggests are not probed, for seconds."""
    monkeypatch.setattr(curing, "needed_of", lambda every: ())
    yield
    fixes.uninstall()


@pytest.fixture
def plant(monkeypatch: pytest.MonkeyPatch) -> Plant:
    def planted(operator: str, convert: Callable[[Any, Any], Any]) -> None:
        real = ExportedProgramImporter.create_convert_map

        def table(self: Any) -> Any:
            return real(self) | {operator: lambda node: convert(self, node)}

        monkeypatch.setattr(ExportedProgramImporter, "create_convert_map", table)

    return planted


def operand(importer: Any, node: Any) -> Any:
    """The node's operand in place of its value."""
    return importer.env[node.args[0]]


class Casting(nn.Module):
    """Casts to integers, which rounds: what is lost with the cast."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        whole = (torch.exp(x) * 3).to(torch.int32)
        return (whole * 2).float() + x


class Places(nn.Module):
    """Adds a range, which an importer can make a constant."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        places = torch.arange(1, 5, dtype=torch.float32)
        return torch.exp(x) + torch.log(places)


def program(module: nn.Module, folder: Path) -> str:
    path = folder / "program.pt2"
    torch.export.save(exported(module, torch.rand(3, 4) + 0.5), path)
    return str(path)


def checked(name: str) -> Report:
    return check(Job(name, draws=1), lambda message: None)


def judged(name: str, array: Array) -> Converted:
    """The nodes of the model ``name`` that are wrong before it runs."""
    chosen = source(name)
    imported = chosen.imported()
    return stepping.contradictions(stepping.setting(chosen, imported, [array]))


def test_a_cast_that_is_lost_is_named_before_what_it_makes_wrong(
    tmp_path: Path, plant: Plant
) -> None:
    plant("_to_copy.default", operand)
    report = checked(program(Casting(), tmp_path))
    assert report.verdict is Verdict.WRONG
    (node,) = report.wrong
    assert (node.name, node.differs, node.blame) == ("_to_copy", DTYPE, Blame.IMPORTER)
    assert node.figures.difference == "float32 (3, 4) instead of int32 (3, 4)"
    # The product has a wrong dtype, too, and the sum wrong values: both follow.
    assert report.behind == 1
    assert report.piece is not None
    assert report.piece.calls is not None
    assert report.piece.nodes == ("_to_copy",)
    assert "1 node behind could not be judged" in "\n".join(lines(report))


def test_a_constant_of_the_wrong_dtype_is_named_where_the_import_fails_behind_it(
    tmp_path: Path, plant: Plant
) -> None:
    plant("arange.start_step", lambda self, node: relax.const(np.arange(1, 5), "int64"))
    report = checked(program(Places(), tmp_path))
    assert (report.verdict, report.stage) == (Verdict.IMPORT, "import")
    assert report.place is not None
    assert report.place.node == "log"
    assert [(node.name, node.differs) for node in report.wrong] == [("arange", DTYPE)]
    assert report.piece is not None
    assert report.piece.nodes == ("arange",)
    assert report.piece.fault.verdict is Outcome.WRONG_DTYPE
    text = "\n".join(lines(report))
    assert "in Relax: the constant [1, 2, 3, 4] of int64 (4,)" in text
    assert text.index("look there first") < text.index("It fails at the node log")


@pytest.mark.parametrize(
    ("value", "differs"),
    [(np.arange(2, 6, dtype=np.float32), VALUE), (np.ones((1, 4), np.float32), SHAPE)],
)
def test_a_constant_of_another_value_or_shape_is_wrong(
    value: Array, differs: str, tmp_path: Path, plant: Plant
) -> None:
    plant("arange.start_step", lambda self, node: relax.const(value))
    found = judged(program(Places(), tmp_path), np.ones((3, 4), np.float32))
    assert [(each.step.name, each.differs) for each in found.wrong] == [("arange", differs)]
    assert "log" in found.behind


def test_a_function_that_the_importer_leaves_out_is_wrong_and_not_its_operand(
    tmp_path: Path, plant: Plant
) -> None:
    plant("exp.default", operand)
    found = judged(program(Casting(), tmp_path), np.ones((3, 4), np.float32))
    assert [(each.step.name, each.differs) for each in found.wrong] == [("exp", VALUE)]


def test_nodes_that_change_nothing_are_right_as_another_name(tmp_path: Path) -> None:
    array = np.ones((3, 4), np.float32)
    found = judged(program(nn.Sequential(nn.Dropout(), nn.Identity(), Casting()), tmp_path), array)
    assert (found.wrong, found.behind) == ((), frozenset())


def test_a_node_of_an_onnx_model_that_is_lost_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    converting = onnx_frontend.ONNXGraphImporter._convert_operator

    def planted(self: Any, operator: str, inputs: Any, *arguments: Any) -> Any:
        if operator == "Cast":
            return inputs[0]
        return converting(self, operator, inputs, *arguments)

    monkeypatch.setattr(onnx_frontend.ONNXGraphImporter, "_convert_operator", planted)
    nodes = [
        helper.make_node("Abs", ["x"], ["a"]),
        helper.make_node("Cast", ["a"], ["whole"], to=TensorProto.INT32),
        helper.make_node("Neg", ["whole"], ["negative"]),
        helper.make_node("Neg", ["negative"], ["y"]),
    ]
    proto = model(nodes, {"x": [3]}, {"y": [3]}, [])
    proto.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.INT32
    found = judged(saved(proto, tmp_path), np.array([1.5, 2.5, -3.5], np.float32))
    assert [(each.step.name, each.differs) for each in found.wrong] == [("whole", DTYPE)]
    assert found.behind == {"negative", "y"}
