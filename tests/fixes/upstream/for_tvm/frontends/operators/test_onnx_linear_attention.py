"""LinearAttention of ONNX."""

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


def test_rules():
    query, key, value = (
        np.array(each, "float32").reshape(1, 2, 1) for each in ([1, 2], [3, 1], [1, 4])
    )
    heads = {"q_num_heads": 1, "kv_num_heads": 1, "scale": 1.0, "outputs": 2}
    inputs = [query, key, value]
    y, state = run("LinearAttention", 27, inputs, update_rule="linear", **heads)
    np.testing.assert_allclose(y, [[[3], [14]]])
    np.testing.assert_allclose(state, [[[[7]]]])
    rate = np.full((1, 2, 1), 0.5, "float32")
    inputs += [None, None, rate]
    y, state = run("LinearAttention", 27, inputs, update_rule="delta", **heads)
    # 1.5, and then 1.5 + (4 - 1.5) / 2
    np.testing.assert_allclose(y, [[[1.5], [5.5]]])


if __name__ == "__main__":
    tvm.testing.main()
