"""A model that is read means the same: it is written again as one that computes the same."""

import warnings
from collections import Counter
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from relaxcheck.generators.onnx.model import NAMELESS, NODE, RANKLESS, Graph, TensorValue
from relaxcheck.generators.onnx.proto import model_proto
from relaxcheck.generators.onnx.reading import Unreadable, model_of
from tests.generators.onnx.node_suite import node_cases

LEAST_READ = 455
"""Cases that the data hold, at least, of each of the ``PARTS`` of the node suite."""

PARTS = 4


def _run(proto: onnx.ModelProto, feeds: dict[str, Any]) -> list[Any] | str:
    """The outputs by ONNX's evaluator, or the class of the error that it raises."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return list(ReferenceEvaluator(proto).run(None, feeds))
        except Exception as error:
            return type(error).__name__


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(_same, left, right))
    a, b = np.asarray(left), np.asarray(right)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    # Text is held by reference: its bytes are addresses.
    return a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes()


_DRAWING = {"Bernoulli", "Dropout", "RandomUniformLike"}


@pytest.mark.parametrize(
    "part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, PARTS))]
)
def test_models_of_the_node_suite_compute_the_same(part: int) -> None:
    read = 0
    refused: Counter[str] = Counter()
    for case in list(node_cases())[part::PARTS]:
        try:
            model, arrays = case.read()
        except Unreadable as reason:
            refused[str(reason)] += 1
            continue
        read += 1
        if any(node.op_type in _DRAWING for node in case.proto.graph.node):
            continue
        constants = {t.name: arrays[t.name] for t in model.tensors if t.constant}
        again = model_proto(model, constants)
        own, other = _run(case.proto, case.feeds), _run(again, case.feeds)
        assert own == other if isinstance(own, str) else _same(own, other), case.name
    assert read >= LEAST_READ, refused


def _model(nodes: list[Any], inputs: list[Any], initializers: tuple[Any, ...] = ()) -> Any:
    output = onnx.ValueInfoProto(name="y")
    graph = helper.make_graph(nodes, "g", inputs, [output], list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


def test_what_inputs_state_of_their_shapes_is_read() -> None:
    def read(shape: list[Any] | None, **known: tuple[int, ...]) -> Any:
        source = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
        model, _ = model_of(_model([helper.make_node("Abs", ["x"], ["y"])], [source]), known)
        return model.tensor("x")

    assert read([2, "batch size"]).shape == (2, "batch_size")
    assert read([2, "batch size"]).states == "stated"
    assert read([2, None]).states == NAMELESS
    assert read([2, None]).shape == (2, "x_1")
    assert (read(None, x=(3,)).shape, read(None, x=(3,)).states) == ((3,), RANKLESS)
    with pytest.raises(Unreadable, match="the input x states no shape"):
        read(None)


def test_constants_are_read_with_their_values() -> None:
    three = helper.make_tensor("three", TensorProto.FLOAT, [1], [3.0])
    nodes = [
        helper.make_node("Constant", [], ["two"], value=helper.make_tensor("", 7, [], [2])),
        helper.make_node("Constant", [], ["four"], value_float=4.0),
        helper.make_node("Cast", ["two"], ["wide"], to=TensorProto.FLOAT),
        helper.make_node("Sum", ["wide", "three", "four"], ["y"]),
    ]
    model, constants = model_of(_model(nodes, [], (three,)))
    assert {name: array.tolist() for name, array in constants.items()} == {"three": [3.0], "two": 2}
    assert model.tensor("two").held == NODE
    assert [node.operator for node in model.nodes] == ["Constant", "Cast", "Sum"]


def test_subgraphs_and_tensors_are_attributes() -> None:
    value = helper.make_tensor("v", TensorProto.FLOAT, [2], [float("nan"), 1.5])
    branch = helper.make_graph(
        [helper.make_node("Add", ["x", "c"], ["out"])],
        "branch",
        [],
        [onnx.ValueInfoProto(name="out")],
        [helper.make_tensor("c", TensorProto.FLOAT, [], [1.0])],
    )
    nodes = [
        helper.make_node("ConstantOfShape", ["n"], ["z"], value=value),
        helper.make_node("If", ["b"], ["y"], then_branch=branch, else_branch=branch),
    ]
    inputs = [
        helper.make_tensor_value_info(name, code, shape)
        for name, code, shape in (("n", 7, [1]), ("b", 9, []), ("x", 1, [2]))
    ]
    model, _ = model_of(_model(nodes, inputs))
    assert model.nodes[0].attributes["value"] == TensorValue("float32", (2,), ("nan", 1.5))
    then = model.nodes[1].attributes["then_branch"]
    assert isinstance(then, Graph)
    assert [node.operator for node in then.nodes] == ["Constant", "Add"]


def test_what_the_data_cannot_hold_is_refused() -> None:
    sequence = helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None)
    node = helper.make_node("SequenceAt", ["s", "i"], ["y"])
    index = helper.make_tensor_value_info("i", TensorProto.INT64, [])
    with pytest.raises(Unreadable, match="the input s is a sequence"):
        model_of(_model([node], [sequence, index]))
