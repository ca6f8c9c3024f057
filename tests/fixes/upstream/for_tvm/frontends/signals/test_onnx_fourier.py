"""DFT and STFT of ONNX models, against ONNX Runtime."""

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


def parts(array):
    return np.stack([array.real, array.imag], -1).astype("float32")


def test_transforms():
    data = np.random.default_rng(0).random((2, 5, 6, 2), "float32")
    signal = data[..., 0] + 1j * data[..., 1]
    for axis in (1, 2):
        verify(
            "DFT", {"input": data}, 17, expected=[parts(np.fft.fft(signal, axis=axis))], axis=axis
        )
        inputs = {"input": data, "dft_length": None, "axis": np.array(axis, "int64")}
        inverse = [parts(np.fft.ifft(signal, axis=axis))]
        verify("DFT", inputs, 20, expected=inverse, inverse=1)


def test_frames():
    generator = np.random.default_rng(0)
    signal, window = generator.random((2, 20, 1), "float32"), generator.random(8, "float32")
    places = np.arange(4)[:, None] * 4 + np.arange(8)
    expected = [parts(np.fft.rfft(signal[:, places, 0] * window))]
    inputs = {"signal": signal, "frame_step": np.array(4, "int64"), "window": window}
    for held in ((), ("frame_step", "window")):
        verify("STFT", inputs, 17, held, expected=expected)


if __name__ == "__main__":
    tvm.testing.main()
