"""Loops and scans of ONNX models."""

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


def test_loop():
    text = """f (float[n] x) => (float[n] y, float[3, n] rows) <int64 trips = {3}> {
        y, rows = Loop (trips, , x) <
            body = g (int64 i, bool a, float[n] s) => (bool b, float[n] t, float[n] r) {
                b = Identity (a)
                t = Add (s, x)
                r = Neg (t)
            }
        >
    }"""
    verify(text, floats(2))


def test_scan():
    text = """f (float s, float[3] x) => (float y, float[3] rows) {
        y, rows = Scan (s, x) <
            num_scan_inputs = 1,
            body = g (float a, float b) => (float c, float d) { c = Add (a, b) d = Identity (c) }
        >
    }"""
    verify(text, np.array(1, "float32"), floats(3))


def test_scan_of_batches():
    text = """f (float[2] s, float[2, 3] x) => (float[2] y, float[2, 3] rows) {
        y, rows = Scan (, s, x) <
            num_scan_inputs = 1, directions = [1],
            body = g (float a, float b) => (float c, float d) { c = Add (a, b) d = Identity (c) }
        >
    }"""
    rows = np.array([[2, 3, 3], [5, 9, 12]], "float32")
    verify(text, floats(2) * 0, floats(2, 3), opset=8, expected=[rows[:, 2], rows])


if __name__ == "__main__":
    tvm.testing.main()
