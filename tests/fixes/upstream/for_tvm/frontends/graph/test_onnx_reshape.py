"""Reshape, Flatten, Squeeze and Unsqueeze of ONNX models."""

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


def test_a_shape_at_run_time():
    text = "f (float[n, 3, 2] x, int64[2] s) => (float[p, q] y) { y = Reshape (x, s) }"
    verify(text, floats(2, 3, 2), integers(0, -1))
    verify(text, floats(1, 3, 2), integers(-1, 3))


def test_zeros():
    text = (
        "f (float[2, 0, 3] x, int64[2] s) => (float[p, q] y) { y = Reshape <allowzero = 1> (x, s) }"
    )
    verify(text, floats(2, 0, 3), integers(0, 7), expected=[floats(0, 7)])


def test_flatten_without_elements():
    text = "f () => (float[p, q] y) <float[2, 0, 3] x = {}> { y = Flatten <axis = 2> (x) }"
    verify(text, expected=[floats(0, 3)])
    text = "f (float[n, 0, 4] x) => (float[p, q] y) { y = Flatten <axis = -1> (x) }"
    verify(text, floats(2, 0, 4), expected=[floats(0, 4)])


def test_squeeze_at_run_time():
    text = "f (float[1, n, 1] x, int64[1] axes) => (float[p, q] y) { y = Squeeze (x, axes) }"
    verify(text, floats(1, 3, 1), integers(-1))
    verify(text, floats(1, 3, 1), integers(0))
