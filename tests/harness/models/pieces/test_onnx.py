"""Pieces of ONNX models are cases that fail as the models do."""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from relaxcheck.generators.core.case import encode
from relaxcheck.generators.core.fills.kinds import Literal, Random
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.harness.kinds import decode
from relaxcheck.harness.models.pieces.captured import Captured
from relaxcheck.harness.models.pieces.onnx import onnx_piece, subgraph
from relaxcheck.harness.onnx.execute import execute
from relaxcheck.harness.outcomes.outcome import Verdict


def model(*nodes: onnx.NodeProto, **initializers: Any) -> onnx.ModelProto:
    held = [numpy_helper.from_array(np.asarray(each), name) for name, each in initializers.items()]
    graph = helper.make_graph(
        list(nodes),
        "model",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3])],
        [onnx.ValueInfoProto(name=nodes[-1].output[0])],
        held,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def masking() -> onnx.ModelProto:
    """Activations, a Dropout whose mask TVM gives another dtype, and what is computed from it."""
    return model(
        helper.make_node("Relu", ["x"], ["/act/Relu output"]),
        helper.make_node("Exp", ["/act/Relu output"], ["e"]),
        helper.make_node("Dropout", ["e", "share"], ["kept", "mask"]),
        helper.make_node("Where", ["mask", "kept", "x"], ["y"]),
        share=np.float32(0.5),
    )


def wrong(case: OnnxCase) -> bool:
    return execute(case).verdict is Verdict.WRONG_DTYPE


VALUE = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_a_piece_holds_the_nodes_between_its_borders_and_outputs() -> None:
    inner = subgraph(masking(), ["mask"], {"e": Captured(VALUE, ("batch", 3))})
    assert [node.op_type for node in inner.graph.node] == ["Dropout"]
    assert [each.name for each in inner.graph.input] == ["e"]
    assert [each.name for each in inner.graph.initializer] == ["share"]


def test_a_wrong_node_becomes_a_case_that_is_wrong_with_drawn_values() -> None:
    piece = onnx_piece(masking(), ["mask"], {"e": Captured(VALUE, (2, 3))}, wrong)
    assert piece is not None
    case = piece.case
    assert not piece.keeps
    assert [node.operator for node in case.model.nodes] == ["Dropout"]
    assert [(each.fill, each.held) for each in case.model.tensors] == [
        (Random(), "input"),
        (Literal((0.5,)), "initializer"),
    ]
    assert wrong(decode(encode(case)))


def test_symbolic_dimensions_are_kept_where_the_case_fails_with_them() -> None:
    proto = model(
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("Det", ["r"], ["y"]),
    )
    borders = {"r": Captured(np.zeros((3, 3), np.float32), ("batch", 3))}

    def refused(case: OnnxCase) -> bool:
        return execute(case).verdict.is_failure

    piece = onnx_piece(proto, ["y"], borders, refused)
    assert piece is not None
    assert piece.case.model.symbols == ("batch",)
    assert piece.case.bindings == ({"batch": 3},)


def test_captured_values_are_kept_where_the_case_needs_them() -> None:
    seen: list[OnnxCase] = []

    def literal(case: OnnxCase) -> bool:
        seen.append(case)
        return all(isinstance(each.fill, Literal) for each in case.model.tensors)

    value = np.array([[1.5, -np.inf, np.nan]], np.float32)
    piece = onnx_piece(masking(), ["e"], {"/act/Relu output": Captured(value, (1, 3))}, literal)
    assert piece is not None
    assert piece.keeps
    assert len(seen) == 2
    (constant, _) = piece.case.model.nodes
    assert constant.operator == "Constant"
    assert constant.attributes["value"].values == (1.5, "-inf", "nan")  # type: ignore[union-attr]


def test_a_case_that_fails_otherwise_is_no_piece() -> None:
    never: Callable[[OnnxCase], bool] = lambda case: False  # noqa: E731
    assert onnx_piece(masking(), ["e"], {"x": Captured(VALUE, (2, 3))}, never) is None
