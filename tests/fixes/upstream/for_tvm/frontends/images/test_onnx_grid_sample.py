"""GridSample of lines and volumes of ONNX models, against values worked out."""

import numpy as np
import pytest
import tvm.testing
from onnx import TensorProto, helper
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx


def verify(sizes, data, place, expected, dtype="float32", **attributes):
    """Sample one channel of ``sizes`` at one ``place``, which is of ``dtype``."""
    rank = len(sizes)
    graph = helper.make_graph(
        [helper.make_node("GridSample", ["X", "grid"], ["Y"], **attributes)],
        "GridSample",
        [
            helper.make_tensor_value_info("X", TensorProto.FLOAT, [1, 1, *sizes]),
            helper.make_tensor_value_info(
                "grid", helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), [1, *[1] * rank, rank]
            ),
        ],
        [helper.make_tensor_value_info("Y", TensorProto.FLOAT, [1, 1, *[1] * rank])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=8)
    executable = relax.build(from_onnx(model), tvm.target.Target("llvm"))
    inputs = [
        np.array(data, "float32").reshape(1, 1, *sizes),
        np.array(place, dtype).reshape(1, *[1] * rank, rank),
    ]
    machine = relax.VirtualMachine(executable, tvm.cpu())
    result = machine["main"](*map(tvm.runtime.tensor, inputs)).numpy()
    assert result.dtype == "float32"
    tvm.testing.assert_allclose(result.ravel(), [expected], rtol=1e-5, atol=1e-5)


def test_line():
    verify([3], [1, 3, 7], [0.5], 5, align_corners=1)
    verify([3], [1, 3, 7], [0.9], 7, align_corners=1, mode="nearest")
    verify([3], [1, 3, 7], [2], 0, align_corners=1)
    verify([3], [1, 3, 7], [2], 7, align_corners=1, padding_mode="border")


def test_volume():
    # The first coordinate is along the last axis.
    verify([2, 2, 2], range(8), [1, -1, -1], 1, align_corners=1)
    verify([2, 2, 2], range(8), [-1, -1, 1], 4, align_corners=1)
    verify([2, 2, 2], range(8), [0, 0, 0], 3.5, align_corners=1)
    verify([2, 2, 2], range(8), [-1, 1, -1], 2, align_corners=1, mode="cubic")


def test_grid_of_float64():
    verify([1, 2], [1, 3], [0, 0], 2, dtype="float64", align_corners=1)


def test_nearest_of_large_integers():
    graph = helper.make_graph(
        [helper.make_node("GridSample", ["X", "grid"], ["Y"], mode="nearest")],
        "GridSample",
        [
            helper.make_tensor_value_info("X", TensorProto.INT64, [1, 1, 1, 2]),
            helper.make_tensor_value_info("grid", TensorProto.FLOAT, [1, 1, 1, 2]),
        ],
        [helper.make_tensor_value_info("Y", TensorProto.INT64, [1, 1, 1, 1])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=8)
    executable = relax.build(from_onnx(model), tvm.target.Target("llvm"))
    inputs = np.array([[[[2**53 + 1, 7]]]]), np.array([[[[-0.5, 0]]]], "float32")
    result = relax.VirtualMachine(executable, tvm.cpu())["main"](*map(tvm.runtime.tensor, inputs))
    np.testing.assert_array_equal(result.numpy(), [[[[2**53 + 1]]]])


def test_other_number_of_coordinates():
    graph = helper.make_graph(
        [helper.make_node("GridSample", ["X", "grid"], ["Y"])],
        "GridSample",
        [
            helper.make_tensor_value_info("X", TensorProto.FLOAT, [1, 1, 3]),
            helper.make_tensor_value_info("grid", TensorProto.FLOAT, [1, 1, 2]),
        ],
        [helper.make_tensor_value_info("Y", TensorProto.FLOAT, [1, 1, 1])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=8)
    with pytest.raises(ValueError, match=r"GridSample is invalid with grid=.* needs 1 coordinate"):
        from_onnx(model)


if __name__ == "__main__":
    tvm.testing.main()
