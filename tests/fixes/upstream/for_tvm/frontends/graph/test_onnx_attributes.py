"""Attributes of ONNX nodes that are lists, or constants without a tensor."""

import numpy as np
import onnxruntime
import tvm.testing
from onnx import parser
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx


def verify(text, *inputs, opset=18, expected=None):
    """Compare a model with ONNX Runtime, or with ``expected`` values of its outputs."""
    domains = f'["" : {opset}, "local" : 1]'
    model = parser.parse_model(f"<ir_version: 8, opset_import: {domains}>" + text)
    executable = relax.build(from_onnx(model), tvm.target.Target("llvm"))
    result = relax.VirtualMachine(executable, tvm.cpu())["main"](*map(tvm.runtime.tensor, inputs))
    if expected is None:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        names = [each.name for each in session.get_inputs()]
        expected = session.run(None, dict(zip(names, inputs, strict=True)))
    actual = [result] if hasattr(result, "numpy") else list(result)
    for got, want in zip(actual, expected, strict=True):
        assert got.numpy().dtype == want.dtype
        tvm.testing.assert_allclose(got.numpy(), want)


def floats(*shape):
    return np.arange(np.prod(shape), dtype="float32").reshape(shape)


def integers(*values):
    return np.array(values, "int64")


def test_constants():
    verify("f () => (int64[2] y) { y = Constant <value_ints = [3, -1]> () }")
    verify("f () => (int64 y) { y = Constant <value_int = 7> () }")
    verify("f () => (float[2] y) { y = Constant <value_floats = [0.5, 1.5]> () }")
    verify("f () => (float y) { y = Constant <value_float = 0.5> () }")


def test_an_empty_list():
    expected = [np.zeros(0, "int64")]
    text = "f () => (int64[0] y) { y = Constant <value_ints: ints = []> () }"
    verify(text, expected=expected)
