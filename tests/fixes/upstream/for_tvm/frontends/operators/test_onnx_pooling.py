"""Pools of ONNX models, against ONNX Runtime."""

import numpy as np
import onnxruntime
import tvm.testing
from onnx import ValueInfoProto, helper, numpy_helper
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx


def verify(operator, inputs, opset, held=(), shapes=None, outputs=1, expected=None, **attributes):
    """Import, compile and run a node; ``held`` inputs are initializers."""
    arrays = {name: array for name, array in inputs.items() if array is not None}
    results = [f"output_{number}" for number in range(outputs)]
    graph = helper.make_graph(
        [
            helper.make_node(
                operator, [n if n in arrays else "" for n in inputs], results, **attributes
            )
        ],
        operator,
        [
            helper.make_tensor_value_info(
                name,
                helper.np_dtype_to_tensor_dtype(array.dtype),
                (shapes or {}).get(name, array.shape),
            )
            for name, array in arrays.items()
            if name not in held
        ],
        [ValueInfoProto(name=name) for name in results],
        [numpy_helper.from_array(arrays[name], name) for name in held],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    executable = relax.build(from_onnx(model), tvm.target.Target("llvm"))
    feeds = {name: array for name, array in arrays.items() if name not in held}
    machine = relax.VirtualMachine(executable, tvm.cpu())
    result = machine["main"](*map(tvm.runtime.tensor, feeds.values()))
    actual = [result] if outputs == 1 else list(result)
    if expected is None:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        expected = session.run(None, feeds)
    for got, want in zip(actual, expected, strict=True):
        assert got.numpy().dtype == want.dtype
        tvm.testing.assert_allclose(got.numpy(), want, rtol=1e-4, atol=1e-4)


def test_indices():
    data = np.random.default_rng(0).random((2, 3, 5, 6), "float32")
    settings = {"kernel_shape": [2, 3], "strides": [2, 2], "pads": [1, 1, 0, 1]}
    for order in (0, 1):
        verify("MaxPool", {"X": data}, 12, outputs=2, storage_order=order, **settings)


def test_same_lower():
    data = np.random.default_rng(0).random((2, 3, 5, 6), "float32")
    settings = {"kernel_shape": [2, 3], "strides": [2, 2], "auto_pad": "SAME_LOWER"}
    for operator in ("MaxPool", "AveragePool", "LpPool"):
        verify(operator, {"X": data}, 12, **settings)
        verify(operator, {"X": data}, 12, shapes={"X": ("N", 3, "H", "W")}, **settings)


def test_dilations():
    data = np.array([[[1, 4, 2]]], "float32")
    settings = {"kernel_shape": [2], "dilations": [2], "auto_pad": "SAME_UPPER"}
    expected = [np.array([[[4, 1.5, 4]]], "float32")]
    verify("AveragePool", {"X": data}, 19, expected=expected, **settings)


def test_means_of_float16():
    data = np.full((1, 1, 300, 300), 0.5, "float16")
    verify("GlobalAveragePool", {"X": data}, 1, expected=[data[..., :1, :1]])


def test_largest_is_not_finite():
    data = np.array([[[-np.inf, -np.inf], [np.nan, 1]]], "float32")
    expected = [np.array([[[-np.inf], [np.nan]]], "float32")]
    verify("GlobalMaxPool", {"X": data}, 1, expected=expected)


if __name__ == "__main__":
    tvm.testing.main()
