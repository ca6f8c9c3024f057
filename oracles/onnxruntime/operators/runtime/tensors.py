"""ONNX nodes for what it knows of a tensor: rank and sizes."""

from relaxcheck.oracles.onnxruntime.call import Call, operator
from relaxcheck.oracles.onnxruntime.graph import Wire


@operator("inspect.tensor_ndim")
def _ndim(call: Call) -> Wire:
    sizes = call.graph.call("Shape", call.operands[0].name)
    return Wire(call.graph.call("Size", sizes), (), "int64")


@operator("inspect.tensor_shape_i")
def _shape_i(call: Call) -> Wire:
    axis = call.node.attributes["axis"]
    assert isinstance(axis, int)
    sizes = call.graph.call("Shape", call.operands[0].name, start=axis, end=axis + 1)
    return Wire(call.graph.reshape(sizes, ()), (), "int64")
