"""Quantization, in the data's dtype or a wider one."""

from collections.abc import Sequence

import numpy as np

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import (
    FLOATS,
    Array,
    Type,
    axis_of,
    operator,
    refuse,
    text,
)
from tests.measure.quality.control.rounding import computed_in
from tests.measure.quality.control.summation import Freedom


def _checked(node: Node, operands: Sequence[Type]) -> None:
    data, scale, zero = operands
    axis = axis_of(node, data.rank, default=-1)
    if scale.dtype not in FLOATS or zero.dtype in FLOATS:
        raise refuse(node, f"the dtype of scale is {scale.dtype}, of zero_point {zero.dtype}")
    for each in (scale, zero):
        if each.size != 1 and each.shape != (data.shape[axis],):
            raise refuse(node, f"a parameter has the shape {each.shape}")


def _infer_quantize(node: Node, operands: Sequence[Type]) -> Type:
    _checked(node, operands)
    return Type(operands[0].shape, text(node, "out_dtype", "int8"))


def _infer_dequantize(node: Node, operands: Sequence[Type]) -> Type:
    _checked(node, operands)
    return Type(operands[0].shape, text(node, "out_dtype", "float32"))


def _spread(node: Node, data: Array, parameter: Array) -> Array:
    """The number for each element of ``data``."""
    axis = axis_of(node, data.ndim, default=-1)
    result = np.empty(data.shape, parameter.dtype)
    lines = np.moveaxis(result, axis, -1)
    lines[...] = parameter.ravel()[0] if parameter.size == 1 else parameter
    return result


@operator("quantize", _infer_quantize)
def _quantize(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    data, *parameters = operands
    if not data.size:
        return np.empty(data.shape, text(node, "out_dtype", "int8"))
    scale, zero = (_spread(node, data, each) for each in parameters)
    info = np.iinfo(text(node, "out_dtype", "int8"))
    steps = computed_in(data.dtype, freedom, data, scale, compute=np.divide)
    whole = np.rint(steps.astype(np.float64)) + zero
    return np.nan_to_num(np.clip(whole, info.min, info.max)).astype(info.dtype)


@operator("dequantize", _infer_dequantize)
def _dequantize(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    data, *parameters = operands
    dtype = text(node, "out_dtype", "float32")
    if not data.size:
        return np.empty(data.shape, dtype)
    scale, zero = (_spread(node, data, each) for each in parameters)
    whole = data.astype(np.int64) - zero
    product = computed_in(np.float32, freedom, whole, scale, compute=np.multiply)
    return product.astype(dtype)
