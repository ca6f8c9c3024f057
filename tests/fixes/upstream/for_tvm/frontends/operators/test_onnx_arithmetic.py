"""Powers, shifts and comparisons of ONNX."""

import numpy as np
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


def test_powers():
    base, exponent = np.array([2, 1.5], "float32"), np.array([3, 2])
    (y,) = run("Pow", 15, [base, exponent])
    assert y.dtype == base.dtype
    np.testing.assert_allclose(y, [8, 2.25])
    (y,) = run("Pow", 15, [np.array([3, -3]), np.array([39, 3])])
    np.testing.assert_array_equal(y, [3**39, -27])


def test_shifts():
    x, by = np.array([5, 5], "uint8"), np.array([1, 8], "uint8")
    np.testing.assert_array_equal(run("BitShift", 11, [x, by], direction="LEFT")[0], [10, 0])
    np.testing.assert_array_equal(run("BitShift", 11, [x, by], direction="RIGHT")[0], [2, 0])


def test_shifts_by_all_bits():
    x, by = np.array([5, 5, -5], "int32"), np.array([1, 32, -1], "int32")
    np.testing.assert_array_equal(run("BitShift", 28, [x, by], direction="LEFT")[0], [10, 0, 0])
    np.testing.assert_array_equal(run("BitShift", 28, [x, by], direction="RIGHT")[0], [2, 0, -1])


def test_zeros():
    graph = helper.make_graph(
        [helper.make_node("Div", ["x", "zero"], ["y"])],
        "zeros",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
        [numpy_helper.from_array(np.array(0, "float32"), "zero")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    executable = relax.build(from_onnx(model), tvm.target.Target("llvm"))
    machine = relax.VirtualMachine(executable, tvm.cpu())
    y = machine["main"](tvm.runtime.tensor(np.array([1, -1], "float32")))
    np.testing.assert_array_equal(y.numpy(), [np.inf, -np.inf])


def test_truth_values():
    x, y = np.array([True, True]), np.array([True, False])
    np.testing.assert_array_equal(run("Equal", 13, [x, y])[0], x == y)


if __name__ == "__main__":
    tvm.testing.main()
