"""ONNX Runtime's values of a model, and the same in float64."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from relaxcheck.harness.models.frameworks.onnx import inputs, values
from tests.harness.models.small import model, perceptron


def test_inputs_have_shapes_of_sizes_and_symbols() -> None:
    (x,), (n,) = inputs(perceptron())
    assert (x.name, x.dims, x.dtype) == ("x", ("n", 4), np.float32)
    assert n.name == "n"


def test_a_node_alone_is_computed_in_float64_of_the_frameworks_operands() -> None:
    proto = perceptron(2)
    x = np.random.default_rng(1).standard_normal((3, 4)).astype(np.float32)
    outputs, steps = values(proto, {"x": x}, ["product0", "value0", "value1"])
    assert steps.own["value0"].dtype == np.float32
    assert steps.double["value0"].dtype == np.float64
    exact = np.tanh(steps.own["product0"].astype(np.float64))
    np.testing.assert_array_equal(steps.double["value0"], exact)
    apart = np.abs(outputs.own["output 0"] - outputs.double["output 0"]).max()
    assert 0 < apart < 1e-6


def test_the_whole_model_is_in_float64_where_it_casts_to_float32() -> None:
    nodes = [
        helper.make_node("Exp", ["x"], ["a"]),
        helper.make_node("Cast", ["a"], ["b"], to=TensorProto.FLOAT),
        helper.make_node("Log", ["b"], ["y"]),
    ]
    x = np.float32([[0.1, 0.7, 1.3]])
    outputs, _ = values(model(nodes, {"x": [1, 3]}, {"y": [1, 3]}, []), {"x": x}, ())
    np.testing.assert_allclose(outputs.double["output 0"], x.astype(np.float64), rtol=1e-14)


def test_a_node_that_the_evaluator_lacks_has_the_runtimes_value() -> None:
    nodes = [
        helper.make_node("Gelu", ["x"], ["a"], domain="com.microsoft"),
        helper.make_node("Exp", ["a"], ["y"]),
    ]
    proto = model(nodes, {"x": [3]}, {"y": [3]}, [])
    proto.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    outputs, steps = values(proto, {"x": np.float32([0.1, 0.7, 1.3])}, ["a", "y"])
    assert "a" not in steps.double
    np.testing.assert_array_equal(outputs.double["output 0"], steps.double["y"])


def test_integers_and_initializers_are_outputs_too() -> None:
    held = [numpy_helper.from_array(np.float32([1, 2]), "w")]
    proto = model([helper.make_node("Identity", ["x"], ["y"])], {"x": [2]}, {"y": [2]}, held)
    proto.graph.output.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, [2]))
    onnx.checker.check_model(proto)
    outputs, _ = values(proto, {"x": np.float32([3, 4])}, ())
    np.testing.assert_array_equal(outputs.own["output 1"], [1, 2])
