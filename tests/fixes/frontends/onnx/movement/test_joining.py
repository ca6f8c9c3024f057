"""Concat of tensors whose sizes are equal at run time agrees with NumPy."""

from collections.abc import Iterator

import numpy as np
import onnx
import pytest
import tvm
from onnx import TensorProto, helper

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx import probing
from relaxcheck.fixes.frontends.onnx.movement.joining import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_nodes import NodeCase, check

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def _model() -> onnx.ModelProto:
    """The largest of four columns, twice, above the largest of two; then negated."""
    nodes = [
        helper.make_node("MaxPool", ["x"], ["half"], kernel_shape=[2], strides=[2]),
        helper.make_node("MaxPool", ["half"], ["quarter"], kernel_shape=[2], strides=[2]),
        helper.make_node("Unsqueeze", ["quarter", "behind"], ["column"]),
        helper.make_node("Concat", ["column", "column"], ["pairs"], axis=3),
        helper.make_node("Reshape", ["pairs", "shape"], ["twice"]),
        helper.make_node("Concat", ["twice", "half"], ["both"], axis=1),
        helper.make_node("Neg", ["both"], ["y"]),
    ]
    held = [
        helper.make_tensor("behind", TensorProto.INT64, [1], [3]),
        helper.make_tensor("shape", TensorProto.INT64, [3], [1, 2, -1]),
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, "length"])]
    graph = helper.make_graph(nodes, "graph", inputs, [onnx.ValueInfoProto(name="y")], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def _joins() -> None:
    executable = probing.built(_model())
    for length in (8, 12, 4):
        x = np.sin(np.arange(2 * length, dtype=np.float32)).reshape(1, 2, length)
        half = x.reshape(1, 2, -1, 2).max(3)
        twice = half.reshape(1, 2, -1, 2).max(3).repeat(2, 2)
        (result,) = probing.outputs_of(executable, x)
        np.testing.assert_array_equal(result, -np.concatenate([twice, half], 1))


PROGRAMS: whole.Programs = {FIX.name: {"no shape": (_joins,)}}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install([FIX]):
        yield


def test_sizes_by_different_ways() -> None:
    _joins()


def test_sizes_that_turn_out_to_differ_are_refused() -> None:
    executable = probing.built(_model())
    with pytest.raises((RuntimeError, ValueError, tvm.error.InternalError), match="shape"):
        probing.outputs_of(executable, np.ones((1, 2, 6), np.float32))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_known_sizes(axis: int) -> None:
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    case = NodeCase("Concat", 13, {"x": data, "y": data, "z": data}, {"axis": axis})
    check(case)
    check(NodeCase("Concat", 13, {"x": data, "y": data}, {"axis": axis}, held=("y",)))


def test_symbols() -> None:
    x, y = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((2, 1), np.float32)
    check(
        NodeCase("Concat", 13, {"x": x, "y": y}, {"axis": 1}, shapes={"x": ("n", 3), "y": ("m", 1)})
    )


CURES: whole.Cures = {"onnx-concat-sizes-not-proved": (("onnx_joining", "no shape"),)}
