"""Activations of ONNX in every dtype, of every attribute, and of NaN."""

import numpy as np
import pytest
import tvm
import tvm.testing
from onnx import ValueInfoProto, helper
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


@pytest.mark.parametrize("operator", ["Relu", "Elu", "Selu", "HardSigmoid"])
def test_nan(operator):
    (y,) = run(operator, 16, [np.array([np.nan], "float32")])
    assert np.isnan(y).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_dtypes(dtype):
    x = np.array([-1, 2], dtype)
    for operator, expected in (("Elu", [np.expm1(-1), 2]), ("ThresholdedRelu", [0, 2])):
        (y,) = run(operator, 16, [x])
        assert y.dtype == x.dtype
        np.testing.assert_allclose(y, expected, rtol=1e-3)


def test_attributes_of_integers():
    (y,) = run("Shrink", 9, [np.array([-3, 0, 3], "int8")], lambd=0.5, bias=1.5)
    np.testing.assert_array_equal(y, [-1, 0, 1])


def test_slopes_of_channels():
    x = np.full((1, 2, 2), -1, "float32")
    (y,) = run("PRelu", 6, [x, np.array([2, 3], "float32")])
    np.testing.assert_array_equal(y, [[[-2, -2], [-3, -3]]])


def test_nan_of_relu():
    test_nan("Relu")


if __name__ == "__main__":
    tvm.testing.main()
