"""ONNX operators that put elements in another order."""

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


def test_space_to_depth():
    text = """f (float[n, 2, 2, 2] x) => (float[n, 8, 1, 1] y)
    { y = SpaceToDepth <blocksize = 2, mode = "CRD"> (x) }"""
    verify(text, floats(3, 2, 2, 2), opset=28, expected=[floats(3, 8, 1, 1)])


def test_depth_to_space_without_elements():
    text = (
        "f (float[2, 4, 0, 1] x) => (float[2, 1, 0, 2] y) { y = DepthToSpace <blocksize = 2> (x) }"
    )
    verify(text, floats(2, 4, 0, 1), expected=[floats(2, 1, 0, 2)])


def test_reverse_sequence():
    text = "f (float[n, 2] x, int64[2] l) => (float[n, 2] y) { y = ReverseSequence (x, l) }"
    verify(text, floats(3, 2), integers(3, 1))


def test_tensor_scatter():
    text = """f (float[1, 3, 1] past, float[1, 2, 1] update, int64[1] i) => (float[1, 3, 1] y)
    { y = TensorScatter <mode = "circular"> (past, update, i) }"""
    past, update = floats(1, 3, 1), floats(1, 2, 1) + 5
    expected = np.array([[[6], [1], [5]]], "float32")
    verify(text, past, update, integers(2), opset=24, expected=[expected])
