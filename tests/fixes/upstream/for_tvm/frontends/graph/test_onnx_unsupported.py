"""Operators that the importer lacks."""

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


def refused(text):
    domains = '["" : 18, "local" : 1, "com.microsoft" : 1]'
    model = parser.parse_model(f"<ir_version: 8, opset_import: {domains}>" + text)
    with pytest.raises(tvm.error.OpNotImplemented) as caught:
        from_onnx(model)
    return str(caught.value)


def test_each_with_its_nodes():
    text = """f (float[2] x) => (float[2] z) {
        y = Gone (x)
        z = If (c) <
            then_branch = g () => (float[2] t) { t = Lost (y) },
            else_branch = h () => (float[2] e) { e = Neg (y) }
        >
    }"""
    message = refused(text)
    assert "Gone (node of y)" in message
    assert "Lost (node of t)" in message
    assert "Neg" not in message


def test_a_namesake_in_another_domain():
    # The outputs of ONNX Runtime's operator are in another order than those of ONNX's.
    assert "com.microsoft.Unique (node of y)" in refused(
        "f (float[2] x) => (float[n] y) { y = com.microsoft.Unique (x) }"
    )


def test_another_domain():
    assert "local.Relu (node of y)" in refused(
        "f (float[2] x) => (float[2] y) { y = local.Relu (x) }"
    )
