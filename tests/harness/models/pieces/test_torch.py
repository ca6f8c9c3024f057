"""Pieces of PyTorch programs are plain calls that fail as the programs do."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

from relaxcheck.harness.models.compiling import Way
from relaxcheck.harness.models.frameworks.torch import steps as values_of
from relaxcheck.harness.models.pieces.calls import TorchPiece
from relaxcheck.harness.models.pieces.running import close, fault_of_piece
from relaxcheck.harness.models.pieces.torch import NoPiece, tensors_of, torch_piece
from relaxcheck.harness.outcomes.outcome import Verdict

PLAIN = Way("build", plain=True)


class Classifier(torch.nn.Module):
    """Looks at its last token, whose index is counted from the end."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Linear(3, 4)

    def forward(self, x: torch.Tensor) -> Any:
        hidden = torch.relu(self.inner(x))
        return torch.softmax(hidden[:, -1] * 2, -1), hidden.split(2, dim=-1)[1]


def exported(batch: bool = False) -> torch.export.ExportedProgram:
    shapes = ({0: torch.export.Dim("batch")},) if batch else None
    inputs = (torch.linspace(-1, 1, 30).reshape(2, 5, 3),)
    program = torch.export.export(Classifier().eval(), inputs, dynamic_shapes=shapes)
    return program.run_decompositions()


def piece_of(operator: str, *, batch: bool = False, keeps: bool = False) -> TorchPiece:
    program = exported(batch)
    graph = program.graph
    (node, *_) = (each for each in graph.nodes if operator in str(each.target))
    names = tensors_of(graph, [node.name])
    arrays = [np.linspace(-1, 1, 30, dtype=np.float32).reshape(2, 5, 3)]
    values = values_of(program, arrays, names).own
    return torch_piece(graph, [node.name], [node.name], values, keeps=keeps)


def test_a_wrong_node_is_one_call_that_is_wrong_alone() -> None:
    piece = piece_of("select")
    (line,) = piece.calls
    assert line == "select = torch.ops.aten.select.int(relu, 1, -1)"
    fault = fault_of_piece(piece, PLAIN, lambda stage: None)
    assert fault is not None
    assert fault.verdict is Verdict.WRONG_VALUE


def test_symbolic_dimensions_are_kept() -> None:
    piece = piece_of("select", batch=True)
    ((axis, name),) = piece.inputs[0].symbols.items()
    assert axis == 0
    assert name.isidentifier()
    fault = fault_of_piece(piece, PLAIN, lambda stage: None)
    assert fault is not None
    assert fault.verdict is Verdict.WRONG_VALUE


def test_a_right_node_has_no_fault() -> None:
    assert fault_of_piece(piece_of("relu"), PLAIN, lambda stage: None) is None


def test_a_tuple_is_made_inside() -> None:
    piece = piece_of("getitem")
    assert len(piece.calls) == 2
    assert piece.calls[1].startswith("getitem_1 = operator.getitem(split")
    assert piece.nodes == ("getitem_1",)
    assert fault_of_piece(piece, PLAIN, lambda stage: None) is None


def test_captured_values_take_the_place_of_drawn_ones() -> None:
    drawn, kept = piece_of("select"), piece_of("select", keeps=True)
    assert (kept.values()[0] == kept.inputs[0].captured).all()
    assert drawn.inputs[0].captured is None
    assert (kept.values()[0] != drawn.values()[0]).any()


def test_an_input_is_no_piece() -> None:
    with pytest.raises(NoPiece, match="placeholder"):
        tensors_of(exported().graph, ["x"])


@pytest.mark.parametrize(
    ("actual", "right"), [([1.0, 2.0], True), ([1.0, 2.0001], True), ([1.0, 2.1], False)]
)
def test_outputs_are_held_to_the_largest_value(actual: list[float], right: bool) -> None:
    assert close(np.float32(actual), np.float32([1.0, 2.0])) is right


def test_narrow_floats_have_their_own_precision() -> None:
    wanted = np.array([1.0, 2.0]).astype(ml_dtypes.bfloat16)
    assert close(np.array([1.0, 2.125]).astype(ml_dtypes.bfloat16), wanted)
    assert not close(np.array([1.0, 40.0]).astype(ml_dtypes.bfloat16), wanted)
