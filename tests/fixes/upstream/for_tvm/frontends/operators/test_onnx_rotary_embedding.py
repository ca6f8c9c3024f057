"""RotaryEmbedding of ONNX."""

import numpy as np
import tvm
import tvm.testing
from onnx import ValueInfoProto, helper
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx


def run(operator, opset, inputs, outputs=1, **attributes):
    """The outputs of a node; inputs are arrays, or None for one that is left out."""
    names = ["" if each is None else f"x{number}" for number, each in enumerate(inputs)]
    arrays = dict(pair for pair in zip(names, inputs, strict=True) if pair[0])
    results = [f"y{number}" for number in range(outputs)]
    graph = helper.make_graph(
        [helper.make_node(operator, names, results, **attributes)],
        operator,
        [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
            )
            for name, array in arrays.items()
        ],
        [ValueInfoProto(name=name) for name in results],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    executable = relax.build(from_onnx(model), tvm.target.Target("llvm"))
    machine = relax.VirtualMachine(executable, tvm.cpu())
    result = machine["main"](*(tvm.runtime.tensor(array) for array in arrays.values()))
    return [each.numpy() for each in ([result] if outputs == 1 else result)]


def test_halves_and_pairs():
    x = np.array([[[[1, 2, 3, 4]]]], "float32")
    cosine, sine = np.array([[[0.6, 1]]], "float32"), np.array([[[0.8, 0]]], "float32")
    (y,) = run("RotaryEmbedding", 23, [x, cosine, sine])
    np.testing.assert_allclose(y, [[[[0.6 - 2.4, 2, 0.8 + 1.8, 4]]]], rtol=1e-5)
    (y,) = run("RotaryEmbedding", 23, [x, cosine, sine], interleaved=1)
    np.testing.assert_allclose(y, [[[[0.6 - 1.6, 0.8 + 1.2, 3, 4]]]], rtol=1e-5)


def test_positions():
    x = np.array([[[1, 2], [1, 2]]], "float32")
    cosine, sine = np.array([[1], [0.6]], "float32"), np.array([[0], [0.8]], "float32")
    (y,) = run("RotaryEmbedding", 23, [x, cosine, sine, np.array([[1, 0]])], num_heads=1)
    np.testing.assert_allclose(y, [[[0.6 - 1.6, 0.8 + 1.2], [1, 2]]], rtol=1e-5)


if __name__ == "__main__":
    tvm.testing.main()
