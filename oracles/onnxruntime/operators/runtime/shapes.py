"""ONNX nodes for the number of elements, and for shapes made of tensors."""

from relaxcheck.oracles.onnxruntime.call import Call, operator
from relaxcheck.oracles.onnxruntime.graph import Wire


@operator("size")
def _size(call: Call) -> Wire:
    return Wire(call.graph.call("Size", call.operands[0].name), (), "int64")


@operator("tensor_to_shape")
def _tensor_to_shape(call: Call) -> Wire:
    (sizes,) = call.operands
    return Wire(sizes.name, sizes.shape, "int64")
