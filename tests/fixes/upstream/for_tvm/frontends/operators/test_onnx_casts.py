"""Casts of ONNX to 8-bit formats, and of bits."""

import numpy as np
import pytest
import tvm
import tvm.testing
from onnx import TensorProto, ValueInfoProto, helper
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


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_saturation(name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    dtype = getattr(ml_dtypes, name)
    number = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    x = np.array([1e6, -1e6, 1], "float32")
    most = float(ml_dtypes.finfo(dtype).max)
    (y,) = run("Cast", 19, [x], to=number)
    np.testing.assert_array_equal(y.astype("float32"), [most, -most, 1])


def test_bits():
    x = np.array([1, -2], "float32")
    np.testing.assert_array_equal(run("BitCast", 26, [x], to=TensorProto.INT32)[0], x.view("int32"))


def test_texts():
    text = helper.make_tensor_value_info("x", TensorProto.STRING, [1])
    model = helper.make_model(helper.make_graph([], "texts", [text], [text]))
    with pytest.raises(Exception, match="STRING"):
        from_onnx(model)


def test_saturation_of_eight_bits():
    test_saturation("float8_e4m3fn")


if __name__ == "__main__":
    tvm.testing.main()
