"""Dimensions of the inputs of ONNX models."""

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


def test_a_dimension_of_zero():
    text = "f (float[0] x, float[1] y) => (float[n] z) { z = Concat <axis = 0> (x, y) }"
    verify(text, floats(0), floats(1), expected=[floats(1)])
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]> {text}')
    assert [int(dim) for dim in from_onnx(model)["main"].params[0].ty.shape] == [0]


def test_dimensions_without_names():
    text = "f (float[?] x, float[?] y) => (float[n] z) { z = Concat <axis = 0> (x, y) }"
    verify(text, floats(2), floats(1))


def test_a_name_with_a_minus():
    text = "f (float[n] x, float[1] y) => (float[m] z) { z = Concat <axis = 0> (x, y) }"
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]> {text}')
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch-size"
    executable = relax.build(from_onnx(model), tvm.target.Target("llvm"))
    main = relax.VirtualMachine(executable, tvm.cpu())["main"]
    result = main(*map(tvm.runtime.tensor, (floats(2), floats(1))))
    assert result.numpy().tolist() == [0, 1, 0]


def test_an_initializer_among_them():
    text = "f (float[1] x, float[1] w) => (float[1] y) <float[1] w = {2}> { y = Add (x, w) }"
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]> {text}')
    model.graph.input.extend([model.graph.output[0]])
    model.graph.input[-1].name = "w"
    parameters = from_onnx(model, keep_params_in_input=True)["main"].params
    assert [each.name for each in parameters] == ["x", "w"]
