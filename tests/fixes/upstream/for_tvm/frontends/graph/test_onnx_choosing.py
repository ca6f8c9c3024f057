"""ONNX operators that choose elements by their values or places."""

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


def test_one_hot():
    text = """f (int64[2] i, int64 depth, int16[2] values) => (int16[p, q] y)
    { y = OneHot <axis = 0> (i, depth, values) }"""
    indices, values = integers(1, -1), np.array([0, 5], "int16")
    expected = np.array([[0, 0], [5, 0], [0, 5]], "int16")
    verify(text, indices, np.array(3), values, expected=[expected])


def test_non_zero_of_a_scalar():
    text = "f (float x) => (int64[0, n] y) { y = NonZero (x) }"
    verify(text, np.float32(2), expected=[np.zeros((0, 1), "int64")])
    verify(text, np.float32(0), expected=[np.zeros((0, 0), "int64")])


def test_non_zero_of_an_empty_initializer():
    text = """f (float[1] unused) => (int64[2, n] y) <float[2, 0] x = {}> { y = NonZero (x) }"""
    verify(text, floats(1), expected=[np.zeros((2, 0), "int64")])


def test_a_triangle_without_elements():
    text = "f (float[2, 0] x, int64 k) => (float[2, 0] y) { y = Trilu (x, k) }"
    verify(text, floats(2, 0), np.array(1), expected=[floats(2, 0)])


def test_scatter_of_symbolic_sizes():
    text = """f (float[n, 3] x, int64[m, 2] i, float[m, 2] u) => (float[n, 3] y)
    { y = Scatter (x, i, u) }"""
    expected = floats(3, 3)
    expected[2, 0], expected[0, 1] = 7, 8
    updates = np.array([[7, 8]], "float32")
    verify(text, floats(3, 3), integers([-1, 0]), updates, opset=9, expected=[expected])
