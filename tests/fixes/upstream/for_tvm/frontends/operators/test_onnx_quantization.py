"""Quantization of ONNX in blocks, to 8-bit floats, and of zeros."""

import numpy as np
import pytest
import tvm
import tvm.testing
from onnx import TensorProto, ValueInfoProto, helper, numpy_helper
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx


def run(operator, opset, inputs, outputs=1, **attributes):
    """The outputs of a node; inputs are arrays, or None for one that is left out."""
    names = ["" if each is None else f"x{number}" for number, each in enumerate(inputs)]
    arrays = dict(pair for pair in zip(names, inputs, strict=True) if pair[0])
    results = [f"y{number}" for number in range(outputs)]
    graph = helper.make_graph(
        [helper.make_node(operator, names, results, **attributes)],
        operator,
        [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
            )
            for name, array in arrays.items()
        ],
        [ValueInfoProto(name=name) for name in results],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    executable = relax.build(from_onnx(model), tvm.target.Target("llvm"))
    machine = relax.VirtualMachine(executable, tvm.cpu())
    result = machine["main"](*(tvm.runtime.tensor(array) for array in arrays.values()))
    return [each.numpy() for each in ([result] if outputs == 1 else result)]


def test_blocks():
    x, scale = np.array([[2, 4, 6, 8, 10]], "int8"), np.array([[0.5, 2, 1]], "float32")
    (y,) = run("DequantizeLinear", 21, [x, scale], axis=1, block_size=2)
    np.testing.assert_allclose(y, [[1, 2, 12, 16, 10]])
    (q,) = run("QuantizeLinear", 21, [y, scale, np.zeros((1, 3), "int8")], axis=1, block_size=2)
    np.testing.assert_array_equal(q, x)


def test_eight_bits():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x, scale = np.array([1, 1000], "float32"), np.array(2, "float32")
    (y,) = run("QuantizeLinear", 19, [x, scale, np.array(0, ml_dtypes.float8_e4m3fn)])
    np.testing.assert_array_equal(y.astype("float32"), [0.5, 448])


def test_four_bits():
    zero = helper.make_tensor("zero", TensorProto.INT4, [], [1])
    scale = numpy_helper.from_array(np.array(0.5, "float32"), "scale")
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["y"]),
    ]
    graph = helper.make_graph(nodes, "four_bits", info[:1], info[1:], [zero, scale])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    executable = relax.build(from_onnx(model), tvm.target.Target("llvm"))
    machine = relax.VirtualMachine(executable, tvm.cpu())
    y = machine["main"](tvm.runtime.tensor(np.array([100, -1], "float32")))
    np.testing.assert_array_equal(y.numpy(), [3, -1])


def test_zeros():
    y, scale, zero = run("DynamicQuantizeLinear", 11, [np.zeros(2, "float32")], outputs=3)
    np.testing.assert_array_equal(y, [0, 0])
    assert (scale, zero) == (1, 0)


if __name__ == "__main__":
    tvm.testing.main()
