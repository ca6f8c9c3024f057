"""Clip, Min and Max of ONNX, and NaN."""

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


def test_clip():
    x, most = np.array([np.nan, 3, -1], "float32"), np.array(2, "float32")
    np.testing.assert_array_equal(run("Clip", 13, [x, None, most])[0], [np.nan, 2, -1])


def test_nan():
    x, y = np.array([np.nan, 1, 3], "float32"), np.array([1, np.nan, 2], "float32")
    np.testing.assert_array_equal(run("Max", 13, [x, y])[0], [np.nan, np.nan, 3])
    np.testing.assert_array_equal(run("Min", 13, [x, y])[0], [np.nan, np.nan, 2])


if __name__ == "__main__":
    tvm.testing.main()
