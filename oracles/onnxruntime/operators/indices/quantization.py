"""ONNX nodes for quantization."""

from typing import Any

import numpy as np
from onnx import helper

from relaxcheck.oracles.onnxruntime.call import Call, operator
from relaxcheck.oracles.onnxruntime.graph import Wire, stored_type


def _narrow(call: Call, name: str, dtype: str) -> str:
    kind = int(helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))
    return call.graph.call("Cast", name, to=kind)


def _quantized(call: Call, operator_name: str, data: str, dtype: str) -> str:
    attributes: dict[str, Any] = dict(call.node.attributes)
    x, scale, zero = call.operands
    names = [scale.name, _narrow(call, zero.name, dtype)]
    if scale.shape != zero.shape or scale.shape in ((), (1,)):
        names = [call.graph.reshape(name, ()) for name in names]
    axis = attributes.get("axis", -1) % len(x.shape)
    return call.graph.call(operator_name, data, *names, axis=axis)


@operator("quantize")
def _quantize(call: Call) -> Wire:
    dtype = str(call.node.attributes.get("out_dtype", "int8"))
    x = call.operands[0]
    whole = _quantized(call, "QuantizeLinear", x.name, dtype)
    return Wire(call.graph.call("Cast", whole, to=stored_type(dtype)), x.shape, dtype)


@operator("dequantize")
def _dequantize(call: Call) -> Wire:
    x, dtype = call.operands[0], str(call.node.attributes.get("out_dtype", "float32"))
    data = _narrow(call, x.name, x.dtype)
    return call.graph.settle(_quantized(call, "DequantizeLinear", data, x.dtype), x.shape, dtype)
