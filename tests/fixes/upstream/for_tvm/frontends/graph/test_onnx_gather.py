"""Indices from the end of GatherElements and GatherND of ONNX models."""

import numpy as np
import tvm.testing
from onnx import TensorProto, helper
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx


def verify(operator, indices, expected, dtype="int64", **attributes):
    """Gather from 0 to 5 in two rows."""
    data, places = np.arange(6, dtype="float32").reshape(2, 3), np.array(indices, dtype)
    number = helper.np_dtype_to_tensor_dtype(places.dtype)
    graph = helper.make_graph(
        [helper.make_node(operator, ["data", "indices"], ["output"], **attributes)],
        operator,
        [
            helper.make_tensor_value_info("data", TensorProto.FLOAT, data.shape),
            helper.make_tensor_value_info("indices", number, places.shape),
        ],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, np.shape(expected))],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    executable = relax.build(from_onnx(model), tvm.target.Target("llvm"))
    machine = relax.VirtualMachine(executable, tvm.cpu())
    result = machine["main"](*map(tvm.runtime.tensor, (data, places)))
    np.testing.assert_array_equal(result.numpy(), np.array(expected, "float32"))


def test_elements():
    verify("GatherElements", [[-1, 0], [1, -3]], [[2, 0], [4, 3]], axis=1)
    verify("GatherElements", [[-1, 0, -2]], [[3, 1, 2]], "int32", axis=0)
    verify("GatherElements", [[-1, 0], [1, -3]], [[2, 0], [4, 3]], axis=-1)


def test_slices():
    verify("GatherND", [[-1], [0]], [[3, 4, 5], [0, 1, 2]])
    verify("GatherND", [[-1, 0], [0, -1], [-2, -3]], [3, 2, 0])
    verify("GatherND", [[-1], [0]], [2, 3], batch_dims=1)


if __name__ == "__main__":
    tvm.testing.main()
