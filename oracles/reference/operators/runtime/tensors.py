"""The reference's fields of a tensor, from tables of DLPack's."""

from math import prod

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.reference.attribute_values import integer
from relaxcheck.oracles.reference.estimate import Estimate, exact
from relaxcheck.oracles.reference.evaluation import operator

# DLDataTypeCode: kDLInt, kDLUInt, kDLFloat, kDLBfloat, kDLBool.
_CODES = {"int": 0, "uint": 1, "float": 2, "bfloat": 4, "bool": 6}


def _scalar(value: int) -> Estimate:
    return exact(np.array(value, np.int64), "int64")


@operator("inspect.tensor_dtype_code")
def _dtype_code(node: Node, operands: list[Estimate]) -> Estimate:
    return _scalar(_CODES[operands[0].dtype.rstrip("0123456789")])


@operator("inspect.tensor_dtype_bits")
def _dtype_bits(node: Node, operands: list[Estimate]) -> Estimate:
    dtype = operands[0].dtype
    # A byte holds a boolean.
    return _scalar(8 if dtype == "bool" else int(dtype.lstrip("abcdefghijklmnopqrstuvwxyz")))


@operator("inspect.tensor_dtype_lanes")
def _dtype_lanes(node: Node, operands: list[Estimate]) -> Estimate:
    return _scalar(1)


@operator("inspect.tensor_ndim")
def _ndim(node: Node, operands: list[Estimate]) -> Estimate:
    return _scalar(operands[0].value.ndim)


@operator("inspect.tensor_byte_offset")
def _byte_offset(node: Node, operands: list[Estimate]) -> Estimate:
    return _scalar(0)


@operator("inspect.tensor_elem_offset")
def _elem_offset(node: Node, operands: list[Estimate]) -> Estimate:
    return _scalar(0)


def _axis(node: Node, operand: Estimate) -> int:
    axis = integer(node, "axis")
    if not 0 <= axis < operand.value.ndim:
        raise ValueError(f"axis {axis} of rank {operand.value.ndim}")
    return axis


@operator("inspect.tensor_shape_i")
def _shape_i(node: Node, operands: list[Estimate]) -> Estimate:
    return _scalar(operands[0].value.shape[_axis(node, operands[0])])


@operator("inspect.tensor_stride_i")
def _stride_i(node: Node, operands: list[Estimate]) -> Estimate:
    (x,) = operands
    stride = _scalar(prod(x.value.shape[_axis(node, x) + 1 :]))
    if x.value.size:
        return stride
    # No element is addressed by it.
    return Estimate(stride.value * 0, np.full((), np.inf), "int64")
