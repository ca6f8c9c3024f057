"""Det of ONNX models, against ONNX Runtime."""

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


def test_determinants():
    data = np.random.default_rng(0).random((2, 3, 4, 4), "float32")
    verify("Det", {"X": data}, 11)
    zeros = np.array([[[0, 2], [3, 4]], [[1, 2], [2, 4]]], "float32")
    verify("Det", {"X": zeros}, 11, expected=[np.array([-6, 0], "float32")])


if __name__ == "__main__":
    tvm.testing.main()
