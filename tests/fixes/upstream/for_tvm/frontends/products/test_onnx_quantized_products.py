"""Products of quantized tensors of ONNX models, against ONNX Runtime."""

import numpy as np
import onnxruntime
import tvm.testing
from onnx import ValueInfoProto, helper, numpy_helper
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx


def verify(operator, inputs, opset, held=(), shapes=None, outputs=1, expected=None, **attributes):
    """Import, compile and run a node; ``held`` inputs are initializers."""
    arrays = {name: array for name, array in inputs.items() if array is not None}
    results = [f"output_{number}" for number in range(outputs)]
    graph = helper.make_graph(
        [
            helper.make_node(
                operator, [n if n in arrays else "" for n in inputs], results, **attributes
            )
        ],
        operator,
        [
            helper.make_tensor_value_info(
                name,
                helper.np_dtype_to_tensor_dtype(array.dtype),
                (shapes or {}).get(name, array.shape),
            )
            for name, array in arrays.items()
            if name not in held
        ],
        [ValueInfoProto(name=name) for name in results],
        [numpy_helper.from_array(arrays[name], name) for name in held],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    executable = relax.build(from_onnx(model), tvm.target.Target("llvm"))
    feeds = {name: array for name, array in arrays.items() if name not in held}
    machine = relax.VirtualMachine(executable, tvm.cpu())
    result = machine["main"](*map(tvm.runtime.tensor, feeds.values()))
    actual = [result] if outputs == 1 else list(result)
    if expected is None:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        expected = session.run(None, feeds)
    for got, want in zip(actual, expected, strict=True):
        assert got.numpy().dtype == want.dtype
        tvm.testing.assert_allclose(got.numpy(), want, rtol=1e-4, atol=1e-4)


SCALE, POINT = np.array(0.02, "float32"), np.array(120, "uint8")
RESULT = {"y_scale": np.array(0.25, "float32"), "y_zero_point": np.array(90, "uint8")}


def test_convolutions():
    generator = np.random.default_rng(0)
    data = generator.integers(0, 256, (1, 2, 5, 6), "uint8")
    weight = generator.integers(0, 256, (3, 2, 3, 2), "uint8")
    inputs = {"x": data, "w": weight, "x_zero_point": POINT, "w_zero_point": POINT}
    verify("ConvInteger", inputs, 10, pads=[1, 0, 1, 0])
    quantized = {"x": data, "x_scale": SCALE, "x_zero_point": POINT}
    quantized.update({"w": weight, "w_scale": SCALE, "w_zero_point": POINT, **RESULT})
    verify("QLinearConv", quantized, 10, strides=[2, 1])


def test_matrices():
    generator = np.random.default_rng(0)
    inputs = {
        "a": generator.integers(0, 256, (2, 3), "uint8"),
        "a_scale": SCALE,
        "a_zero_point": POINT,
        "b": generator.integers(0, 256, (3, 4), "uint8"),
        "b_scale": SCALE,
        "b_zero_point": POINT,
        **RESULT,
    }
    verify("QLinearMatMul", inputs, 10)


if __name__ == "__main__":
    tvm.testing.main()
