"""Slice and Split of ONNX models."""

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


def test_slice_without_axes():
    text = "f (float[2, 3] x) => (float[p, q] y) { y = Slice <starts = [1], ends = [2]> (x) }"
    verify(text, floats(2, 3), opset=9)


BACKWARDS = """f (float[n] x) => (float[m] y)
    <int64[1] s = {-2}, int64[1] e = {-9}, int64[1] a = {0}, int64[1] d = {-1}>
{ y = Slice (x, s, e, a, d) }"""


def test_slice_from_before_the_first_place():
    for size in (1, 2, 5):
        verify(BACKWARDS, floats(size))
    verify(BACKWARDS.replace("[n]", "[1]"), floats(1))


def test_slice_at_run_time():
    text = """f (float[n, 4] x, int64[1] s, int64[1] e, int64[1] a, int64[1] d) => (float[p, q] y) {
        part = Slice (x, s, e, a, d)
        y = Neg (part)
    }"""
    for bounds in ((-1, -5, 1, -2), (1, 3, 0, 1), (2, 2**31, -1, 1)):
        verify(text, floats(3, 4), *map(integers, bounds))


def test_split_at_run_time():
    text = "f (float[n] x, int64[2] s) => (float[p] y, float[q] z) { y, z = Split (x, s) }"
    verify(text, floats(5), integers(2, 3))
    verify(text, floats(5), integers(5, 0))


def test_split_of_a_symbolic_size():
    text = "f (float[n] x) => (float[p] y, float[q] z) { y, z = Split <num_outputs = 2> (x) }"
    verify(text, floats(5))
    verify(text, floats(4))
