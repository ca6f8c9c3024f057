"""Operators that ONNX defines by functions of other operators."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from tvm.relax.frontend.onnx import from_onnx

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx import probing
from relaxcheck.fixes.frontends.onnx.functions import expanding
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_results import computes

KNOWN = {"Add", "Mul", "Sigmoid", "CastLike", "Elu", "Div", "Exp", "Neg"}


@pytest.fixture
def alone(fixes_off: None) -> Iterator[None]:
    with installation.install([expanding.FIX]):
        yield


def model_of(*nodes: Any, opset: int = 28, domain: str = "") -> onnx.ModelProto:
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    graph = helper.make_graph(list(nodes), "graph", values[:1], values[1:])
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.preview", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def operators(model: onnx.ModelProto) -> set[str]:
    return {node.op_type for node in model.graph.node}


def test_functions_of_functions() -> None:
    model = model_of(helper.make_node("SwiGLU", ["x", "x"], ["y"], alpha=2.0))
    bodies = expanding.expanded(model, KNOWN)
    assert operators(bodies) == {"Constant", "CastLike", "Mul", "Sigmoid"}
    assert operators(model) == {"SwiGLU"}
    x = np.array([-1, 2], "float32")
    (expected,) = ReferenceEvaluator(model).run(None, {"x": x})
    (actual,) = ReferenceEvaluator(bodies).run(None, {"x": x})
    np.testing.assert_allclose(actual, expected, rtol=1e-6)


def test_attributes_that_a_node_leaves_out() -> None:
    size = np.array(6)
    model = probing.node_model("HannWindow", {"size": size}, 17)
    known = {"Range", "Cast", "Add", "Sub", "Mul", "Div", "Cos", "Sin"}
    bodies = expanding.expanded(model, known)
    assert "HannWindow" not in operators(bodies)
    (actual,) = ReferenceEvaluator(bodies).run(None, {"size": size})
    expected = np.sin(np.pi * np.arange(6) / 6) ** 2
    np.testing.assert_allclose(actual, expected.astype("float32"), atol=1e-6)


def test_a_body_that_depends_on_the_type_of_an_initializer() -> None:
    inputs = {"x": np.ones((2, 3), "float32"), "size": np.array([1, 2])}
    model = probing.node_model("CenterCropPad", inputs, 18, held=["size"])
    known = {"Add", "Concat", "Div", "Max", "Pad", "Shape", "Slice", "Sub"}
    assert "CenterCropPad" not in operators(expanding.expanded(model, known))


def test_operators_stay_that_are_known_or_whose_bodies_are_not() -> None:
    nodes = [
        helper.make_node("Celu", ["x"], ["a"]),
        helper.make_node("Bernoulli", ["a"], ["b"]),
        helper.make_node("Nothing", ["b"], ["y"], domain="ai.onnx.preview"),
    ]
    kept = expanding.expanded(model_of(*nodes), KNOWN)
    assert operators(kept) == {"Constant", "CastLike", "Div", "Elu", "Mul", "Bernoulli", "Nothing"}
    model = model_of(*nodes)
    assert expanding.expanded(model, KNOWN | {"Celu"}) is model


def test_functions_in_branches() -> None:
    branches = {
        f"{name}_branch": helper.make_graph(
            [helper.make_node(operator, ["x"], [name])],
            name,
            [],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2])],
        )
        for name, operator in (("then", "Celu"), ("else", "Neg"))
    }
    node = helper.make_node("If", ["c"], ["y"], **branches)
    model = model_of(node, opset=13)
    model.graph.input.append(helper.make_tensor_value_info("c", TensorProto.BOOL, []))
    (kept,) = expanding.expanded(model, KNOWN).graph.node
    then, other = (attribute.g for attribute in kept.attribute)
    names = {then.name: then, other.name: other}
    assert "Celu" not in {each.op_type for each in names["then"].node}
    assert [each.op_type for each in names["else"].node] == ["Neg"]


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("opset", [12, 13, 21])
def test_losses(opset: int, reduction: str) -> None:
    scores = np.log(np.array([[1, 3], [1, 1], [4, 1]], "float32"))
    losses = np.log([4 / 3, 2, 5], dtype="float32")
    expected: Any = {"none": losses, "sum": losses.sum(), "mean": losses.mean()}[reduction]
    inputs = [scores, np.array([1, 0, 1])]
    operator = "SoftmaxCrossEntropyLoss"
    computes(operator, opset, inputs, expected, reduction=reduction, tolerance=1e-5)


@pytest.mark.usefixtures("alone")
def test_who_holds_the_importer_since_before_is_served() -> None:
    """``from_onnx`` above was imported before the fix was put on."""
    x = np.array([-1, 2], "float32")
    assert from_onnx(probing.node_model("Celu", {"x": x}, 12)) is not None


@pytest.mark.usefixtures("alone")
def test_an_operator_without_a_body_is_refused_by_its_name() -> None:
    model = model_of(helper.make_node("Bernoulli", ["x"], ["y"]), opset=22)
    with pytest.raises(Exception, match="Bernoulli"):
        from_onnx(model)


@pytest.mark.usefixtures("alone")
def test_a_function_without_its_input_is_refused_by_its_name() -> None:
    """ONNX does not write a body for it, however often it is asked."""
    model = model_of(helper.make_node("Bernoulli", [], ["y"]), opset=22)
    assert operators(expanding.expanded(model, KNOWN)) == {"Bernoulli"}
    with pytest.raises(Exception, match="not supported for frontend ONNX: Bernoulli"):
        from_onnx(model)


PROGRAMS: whole.Programs = {
    "onnx_functions": {
        "Celu": (partial(computes, "Celu", 12, [np.array([2], "f4")], np.array([2], "f4")),),
    }
}

CURES: whole.Cures = {"onnx-celu": (("onnx_functions", "Celu"),)}
