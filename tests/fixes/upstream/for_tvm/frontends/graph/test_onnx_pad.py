"""Pad of ONNX models."""

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


def test_amounts_at_run_time():
    text = (
        'f (float[n, 3] x, int64[4] pads) => (float[p, q] y) { y = Pad <mode = "MODE"> (x, pads) }'
    )
    for mode in ("constant", "edge", "reflect"):
        verify(text.replace("MODE", mode), floats(4, 3), integers(1, 2, 0, 1))
    verify(text.replace("MODE", "constant"), floats(4, 3), integers(-1, 2, 0, -2))


def test_axes_at_run_time():
    text = """f (float[n, 3] x, int64[2] pads, float value, int64[1] axes) => (float[p, q] y)
    { y = Pad (x, pads, value, axes) }"""
    verify(text, floats(4, 3), integers(1, 2), np.array(7, "float32"), integers(-1))


def test_around():
    text = """f (float[n] x) => (float[p] y) <int64[2] pads = {4, 5}>
    { y = Pad <mode = "wrap"> (x, pads) }"""
    verify(text, floats(3), opset=19, expected=[np.pad(floats(3), (4, 5), mode="wrap")])


def test_center_crop_pad():
    text = "f (float[n, 4] x, int64[2] s) => (float[p, q] y) { y = CenterCropPad (x, s) }"
    expected = np.array([[0], [2], [6], [0], [0]], "float32")
    verify(text, floats(2, 4) + 1, integers(5, 1), expected=[expected])
