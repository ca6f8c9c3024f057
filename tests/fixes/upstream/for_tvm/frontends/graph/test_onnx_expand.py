"""ONNX operators that repeat or make elements."""

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


def test_expand_at_run_time():
    text = "f (float[n, 1] x, int64[3] s) => (float[p, q, r] y) { y = Expand (x, s) }"
    verify(text, floats(3, 1), integers(2, 1, 4))
    verify(text, floats(1, 1), integers(1, 3, 1))


def test_expand_of_a_symbolic_size():
    text = "f (float[n, m] x) => (float[p, n, m] y) <int64[3] s = {2, 1, 1}> { y = Expand (x, s) }"
    verify(text, floats(3, 2))


def test_constant_of_shape_at_run_time():
    text = "f (int64[2] s) => (float[p, q] y) { y = ConstantOfShape (s) }"
    verify(text, integers(2, 3))
    verify(text, integers(2, 0))


def test_eye_like_of_another_dtype():
    verify(
        "f (int32[2, 3] x) => (float[2, 3] y) { y = EyeLike <dtype = 1, k = 1> (x) }",
        np.zeros((2, 3), "int32"),
    )


def test_tile_at_run_time():
    text = "f (float[n, 2] x, int64[2] r) => (float[p, q] y) { y = Tile (x, r) }"
    verify(text, floats(3, 2), integers(2, 1))
    verify(text, floats(3, 2), integers(0, 3))
