"""Importers that say which variable each node became."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch import nn

from relaxcheck import fixes
from relaxcheck.fixes.tvm_api.shapes import name_of
from relaxcheck.harness.models.forcing import bindings
from relaxcheck.harness.models.frontends import onnx as onnx_frontend
from relaxcheck.harness.models.frontends import torch as torch_frontend
from relaxcheck.harness.models.imported import Imported, ImportFault
from tests.harness.models.small import Last, exported, perceptron


@pytest.fixture(params=[False, True], ids=["without fixes", "with fixes"])
def with_fixes(request: pytest.FixtureRequest) -> Iterator[bool]:
    if request.param:
        fixes.install()
    yield request.param
    fixes.uninstall()


def operators(imported: Imported) -> dict[str, str]:
    """The Relax expression of each step, by the name of the step."""
    made = {name_of(each.var): str(each.value) for each in bindings(imported.module)}
    return {step.name: made[step.variable] for step in imported.steps}


def test_each_node_of_onnx_is_a_variable(with_fixes: bool) -> None:
    imported = onnx_frontend.imported(perceptron(2))
    assert [step.name for step in imported.steps] == ["product0", "value0", "product1", "value1"]
    assert [step.operator for step in imported.steps] == ["Gemm", "Tanh", "Gemm", "Tanh"]
    assert imported.inputs == ("x",)
    made = operators(imported)
    assert "R.add" in made["product0"]
    assert "R.tanh" in made["value1"]
    assert imported.steps[1].text == "Tanh(product0)"


def test_each_node_of_an_exported_program_is_a_variable(with_fixes: bool) -> None:
    recorded = torch_frontend.imported(exported(Last(), torch.randn(2, 5, 3), batch=True))
    made = operators(recorded.imported)
    by_operator = {step.operator: made[step.name] for step in recorded.imported.steps}
    assert "R.nn.relu" in by_operator["aten.relu.default"]
    assert "R.nn.softmax" in by_operator["aten._softmax.default"]
    names = {node.name for node in recorded.exported.graph.nodes}
    assert {step.name for step in recorded.imported.steps} <= names
    assert recorded.imported.inputs == ("x",)


class Viewing(nn.Module):
    """Views what is transposed, which only a copy could be viewed as."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(-1)


def test_a_fault_before_the_importer_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    program = exported(Viewing(), torch.ones(2, 3))
    text = (
        "Cannot view\n\nWhile executing %view : [num_users=1] = "
        "call_function[target=torch.ops.aten.view.default](args = (%x, [-1]), kwargs = {})"
    )

    def fails(self: object) -> None:
        raise ValueError(text)

    monkeypatch.setattr(torch.export.ExportedProgram, "run_decompositions", fails)
    with pytest.raises(ImportFault) as raised:
        torch_frontend.imported(program)
    fault = raised.value
    assert (fault.node, fault.operator) == ("view", "aten.view.default")
    assert fault.before == "PyTorch's run_decompositions"
    assert fault.text == "ValueError: Cannot view"


def test_the_importers_are_left_as_they_were() -> None:
    from tvm.relax.frontend.onnx import onnx_frontend as tvm_onnx
    from tvm.relax.frontend.torch import exported_program_translator as tvm_torch

    before = tvm_onnx.ONNXGraphImporter, tvm_torch.ExportedProgramImporter
    onnx_frontend.imported(perceptron(1))
    torch_frontend.imported(exported(Last(), torch.from_numpy(np.ones((1, 2, 3), np.float32))))
    assert (tvm_onnx.ONNXGraphImporter, tvm_torch.ExportedProgramImporter) == before
