"""Shapes as values of ONNX models, and branches."""

import numpy as np
import onnxruntime
import pytest
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


def test_arithmetic_of_a_shape():
    text = """f (float[n, 3, 4] x) => (int64[3] y) {
        shape = Shape (x)
        y = Mul (shape, shape)
    }"""
    verify(text, floats(2, 3, 4))


def test_shape_of_a_part():
    verify("f (float[2, 3, 4] x) => (int64[m] y) { y = Shape <start = -2> (x) }", floats(2, 3, 4))


def test_a_computed_shape():
    text = """f (float[n, 3, 4] x) => (float[p, q] y)
        <int64 first = {0}, int64[1] front = {0}, int64[1] rest = {-1}>
    {
        shape = Shape (x)
        batch = Gather (shape, first)
        row = Unsqueeze (batch, front)
        wanted = Concat <axis = 0> (row, rest)
        y = Reshape (x, wanted)
    }"""
    for size in (1, 5):
        verify(text, floats(size, 3, 4))


BRANCHES = """f (bool c, float[n] x) => (float[m] y) {
    joined = If (c) <
        then_branch = g () => (float[p] t) { t = Concat <axis = 0> (x, x) },
        else_branch = h () => (float[q] e) { e = Neg (x) }
    >
    y = Add (joined, joined)
}"""


def test_branches_of_different_sizes():
    for condition in (True, False):
        verify(BRANCHES, np.array(condition), floats(3))


def refused(text):
    model = parser.parse_model('<ir_version: 8, opset_import: ["" : 18]>' + text)
    with pytest.raises(ValueError, match="is invalid") as caught:
        from_onnx(model)
    return str(caught.value)


def test_an_attribute_that_no_version_has():
    message = refused("f (float[2] x) => (float[2] y) { y = Relu <no_such_attribute = 1> (x) }")
    assert "Relu" in message
    assert "no_such_attribute" in message


def test_operands_of_two_types():
    message = refused("f (float[2] x, bool[2] b) => (float[2] y) { y = Add (x, b) }")
    assert "Add" in message
    assert "bool" in message


def test_an_input_that_is_required():
    message = refused("f (float[2] x) => (float[2] y) { y = Add (x) }")
    assert "Add" in message
    assert "B" in message
