"""Losses of ONNX models, against ONNX Runtime."""

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


def test_likelihood():
    data = np.array([[1, 2], [4, 8]], "float32")
    inputs = {"input": data, "target": np.array([1, 0]), "weight": np.array([3, 1], "float32")}
    values = np.array([-2, -12], "float32")
    for reduction, expected in (
        ("none", values),
        ("sum", values.sum()),
        ("mean", values.sum() / 4),
    ):
        settings = {"reduction": reduction, "expected": [np.asarray(expected)]}
        verify("NegativeLogLikelihoodLoss", inputs, 13, **settings)


def test_entropy():
    data = np.random.default_rng(0).random((3, 4), "float32")
    labels = np.array([1, 0, 3])
    logs = data - np.log(np.exp(data).sum(1, keepdims=True))
    expected = [np.asarray(-logs[[0, 1, 2], labels].mean()), logs]
    inputs = {"scores": data, "labels": labels}
    verify("SoftmaxCrossEntropyLoss", inputs, 13, outputs=2, expected=expected)


if __name__ == "__main__":
    tvm.testing.main()
