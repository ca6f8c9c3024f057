"""Means, variances and the parameters of channels, in the dtype of a computation."""

from collections.abc import Sequence

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import invalid, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.computing import broadcast, computed, filled
from relaxcheck.fixes.frontends.onnx.converting import Node
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/onnx/statistics.py")

_STASHES = {1: "float32", 10: "float16", 11: "float64", 16: "bfloat16"}
"""Floats by ONNX's number."""


def stash_dtype(node: Node) -> str:
    """The dtype that the attribute stash_type names.

    Raises:
        ValueError: it is none of floats.
    """
    number = int(node.attribute("stash_type", 1))
    if number not in _STASHES:
        known = ", ".join(map(str, _STASHES))
        raise invalid(node.operator, f"it must be one of {known}", stash_type=number)
    return _STASHES[number]


def centered(node: Node, data: Expr, axes: Sequence[int]) -> tuple[Expr, Expr, Expr]:
    """The mean of ``data`` along ``axes``, its variance, and ``data`` less the mean.

    The axes stay, with the size 1.
    """
    mean = node.emit(relax.op.mean(data, list(axes), True))
    difference = node.emit(relax.op.subtract(data, mean))
    squares = node.emit(relax.op.multiply(difference, difference))
    return mean, node.emit(relax.op.mean(squares, list(axes), True)), difference


def inverse_deviation(node: Node, variance: Expr, epsilon: float) -> Expr:
    """One over the standard deviation."""
    shift = tvm_api.const(np.array(epsilon, tvm_api.dtype_of(variance)))
    root = node.emit(relax.op.sqrt(relax.op.add(variance, shift)))
    one = tvm_api.const(np.array(1, tvm_api.dtype_of(variance)))
    return node.emit(relax.op.divide(one, root))


def of_channels(node: Node, value: Expr, rank: int) -> Expr:
    """``value``, a number for each channel, against data of ``rank`` dimensions."""
    if operands.rank_of(value) != 1:
        shape = tvm_api.show(tvm_api.shape_of(value))
        raise invalid(
            node.operator, "it must have 1 dimension", **{"shape of scale or bias": shape}
        )
    (channels,) = tvm_api.shape_of(value)
    return operands.reshaped(node, value, [channels, *[1] * (rank - 2)])


def scaled(node: Node, data: Expr, scale: Expr, bias: Expr | None) -> Expr:
    """``data * scale + bias``, in the dtype of ``data``, whose shape stays.

    Raises:
        ValueError: the shapes of ``scale`` and ``bias`` do not fit into that of ``data``.
    """
    dims = tvm_api.shape_of(data)
    for name, value in (("scale", scale), ("bias", bias)):
        if value is not None and operands.rank_of(value) > len(dims):
            shape = tvm_api.show(tvm_api.shape_of(value))
            why = f"it must broadcast to {tvm_api.show(dims)}"
            raise invalid(node.operator, why, **{f"shape of {name}": shape})
    result = node.builder.normalize(relax.op.multiply(data, scale))
    if bias is not None and tvm_api.has_shape(result):
        result = node.builder.normalize(relax.op.add(node.emit(result), bias))
    if tvm_api.has_shape(result):
        return node.emit(result)

    def compute(source: Tensor, *weights: Tensor) -> Tensor:
        # A symbol and a number may both be 1, as far as TVM knows.
        def element(at: Sequence[PrimExpr]) -> PrimExpr:
            value = source[tuple(at)] * broadcast(weights[0], at)
            for each in weights[1:]:
                value = value + broadcast(each, at)
            return value

        return filled(source.shape, element, "scaled")

    return computed(node, compute, data, scale, *([] if bias is None else [bias]))


def floats(node: Node, name: str, data: Expr) -> str:
    """The dtype of ``data``.

    Raises:
        OpNotImplemented: it is not one of floats.
    """
    dtype = tvm_api.dtype_of(data)
    if dtype not in operands.FLOATS:
        raise refuse(node.operator, **{f"dtype of {name}": dtype})
    return dtype
