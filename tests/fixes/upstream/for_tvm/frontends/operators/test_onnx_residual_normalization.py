"""SkipLayerNormalization and EmbedLayerNormalization of com.microsoft."""

import numpy as np
import tvm
import tvm.testing
from onnx import ValueInfoProto, helper
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

DOMAIN = "com.microsoft"


def run(operator, inputs, outputs):
    """The outputs of a node; inputs are arrays, or None for one that is left out."""
    names = ["" if each is None else f"x{number}" for number, each in enumerate(inputs)]
    arrays = dict(pair for pair in zip(names, inputs, strict=True) if pair[0])
    results = [f"y{number}" for number in range(outputs)]
    graph = helper.make_graph(
        [helper.make_node(operator, names, results, domain=DOMAIN)],
        operator,
        [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
            )
            for name, array in arrays.items()
        ],
        [ValueInfoProto(name=name) for name in results],
    )
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8)
    executable = relax.build(from_onnx(model), tvm.target.Target("llvm"))
    machine = relax.VirtualMachine(executable, tvm.cpu())
    result = machine["main"](*(tvm.runtime.tensor(array) for array in arrays.values()))
    return [each.numpy() for each in ([result] if outputs == 1 else result)]


def normalized(data):
    """Normalized along the last axis, the mean, and one over the deviation."""
    mean, inverse = data.mean(2, keepdims=True), 1 / data.std(2, keepdims=True)
    return (data - mean) * inverse, mean, inverse


def test_sum_is_an_output():
    generator = np.random.default_rng(0)
    data, skip = generator.standard_normal((2, 2, 3, 4)).astype("float32")
    gamma = generator.standard_normal(4).astype("float32")
    outputs = run("SkipLayerNormalization", [data, skip, gamma], 4)
    result, mean, inverse = normalized(data + skip)
    for actual, expected in zip(outputs, [result * gamma, mean, inverse, data + skip], strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-4)


def test_embeddings():
    generator = np.random.default_rng(0)
    words, places = generator.standard_normal((2, 5, 4)).astype("float32")
    ids = np.array([[1, 4, 0], [2, 2, 3]], "int32")
    mask = np.array([[1, 1, 0], [1, 0, 0]], "int32")
    weights = generator.standard_normal((2, 4)).astype("float32")
    inputs = [ids, None, words, places, None, *weights, mask]
    result, index, total = run("EmbedLayerNormalization", inputs, 3)
    expected = words[ids] + places[:3]
    np.testing.assert_allclose(total, expected, rtol=1e-5, atol=1e-5)
    scaled = normalized(expected)[0] * weights[0] + weights[1]
    np.testing.assert_allclose(result, scaled, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(index, np.array([2, 1], "int32"))


if __name__ == "__main__":
    tvm.testing.main()
