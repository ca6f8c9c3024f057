"""Attention of ONNX's own domain."""

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


def attended(query, key, value, allowed):
    """Y for (batch, heads, length, features), with as many heads of keys as of queries."""
    scores = query @ key.swapaxes(2, 3) / np.sqrt(query.shape[3])
    scores = np.where(allowed, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=3, keepdims=True))
    return weights / weights.sum(axis=3, keepdims=True) @ value


def operands(heads):
    generator = np.random.default_rng(0)
    shapes = [(2, heads, 3, 4), (2, 2, 5, 4), (2, 2, 5, 6)]
    return [generator.standard_normal(shape).astype("float32") for shape in shapes]


def test_masks():
    query, key, value = operands(2)
    mask = np.array([[1, 1, 0, 1, 0], [0, 1, 1, 1, 1], [1, 0, 0, 0, 0]], bool)
    (y,) = run("Attention", 23, [query, key, value, mask])
    np.testing.assert_allclose(y, attended(query, key, value, mask), rtol=1e-5, atol=1e-5)


def test_groups_and_causality():
    query, key, value = operands(4)
    (y,) = run("Attention", 23, [query, key, value], is_causal=1)
    wide = [np.repeat(each, 2, axis=1) for each in (key, value)]
    expected = attended(query, *wide, np.tri(3, 5, dtype=bool))
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)


def test_past():
    """The operator of com.microsoft, of one head of one feature."""
    past = np.array([0, 2], "float32").reshape(2, 1, 1, 1, 1)
    weights = np.array([[0, 0, 4]], "float32")
    inputs = [np.ones((1, 1, 1), "float32"), weights, np.zeros(3, "float32"), None, past]
    how = {"num_heads": 1, "scale": 0.5, "domain": "com.microsoft"}
    y, present = run("Attention", 17, inputs, 2, **how)
    # Both keys are alike: the result is the mean of the values, 2 and 4.
    np.testing.assert_allclose(y.ravel(), [3])
    np.testing.assert_allclose(present.ravel(), [0, 0, 2, 4])


if __name__ == "__main__":
    tvm.testing.main()
