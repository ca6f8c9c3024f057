"""Windows and filters of signals in ONNX models, against ONNX Runtime."""

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


def test_windows():
    for operator in ("HannWindow", "HammingWindow", "BlackmanWindow"):
        for held in ((), ("size",)):
            verify(operator, {"size": np.array(10, "int64")}, 17, held)


def test_filters():
    inputs = {
        "num_mel_bins": np.array(8, "int64"),
        "dft_length": np.array(64, "int64"),
        "sample_rate": np.array(8192, "int64"),
        "lower_edge_hertz": np.array(100, "float32"),
        "upper_edge_hertz": np.array(3000, "float32"),
    }
    for held in ((), tuple(inputs)):
        verify("MelWeightMatrix", inputs, 17, held)


if __name__ == "__main__":
    tvm.testing.main()
