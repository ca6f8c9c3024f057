"""Sizes and layouts of tensors with heads."""

from typing import Any

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import invalid
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.converting import Node
from relaxcheck.fixes.frontends.onnx.elementwise.numbers import constant
from relaxcheck.fixes.tvm_api import Expr, PrimExpr

UPSTREAM = NewFile("relax/frontend/onnx/attention_heads.py")

_PACKED = 3
"""The rank of tensors whose last axis holds the heads and their features."""


def split(node: Node, value: Expr, attribute: str) -> Expr:
    """``value`` as (batch, heads, length, features), from that or (batch, length, hidden).

    ``attribute`` has the number of heads of the latter.

    Raises:
        ValueError: it is missing, or does not divide the hidden size; or the rank is another.
    """
    shape = tvm_api.shape_of(value)
    if len(shape) == _PACKED + 1:
        return value
    heads = node.attribute(attribute, 0)
    if len(shape) != _PACKED:
        raise invalid(node.operator, "it must be 3 or 4", rank=len(shape))
    hidden = tvm_api.as_int(shape[2])
    if heads < 1 or (hidden is not None and hidden % heads):
        why = f"it must divide the hidden size, {tvm_api.show(shape[2])}"
        raise invalid(node.operator, why, **{attribute: heads})
    batch, length, _ = shape
    apart = relax.op.reshape(value, (batch, length, heads, tvm_api.floordiv(shape[2], heads)))
    return node.emit(relax.op.permute_dims(apart, [0, 2, 1, 3]))


def joined(node: Node, value: Expr) -> Expr:
    """(batch, heads, length, features) as (batch, length, hidden)."""
    batch, heads, length, features = tvm_api.shape_of(value)
    apart = node.emit(relax.op.permute_dims(value, [0, 2, 1, 3]))
    return node.emit(relax.op.reshape(apart, (batch, length, heads * features)))


def size(node: Node, dim: PrimExpr | int) -> Expr:
    """``dim`` as a scalar of int64."""
    known = tvm_api.as_int(dim)
    if known is not None:
        return constant(known, "int64")
    vector = node.emit(relax.op.shape_to_tensor(relax.ShapeExpr([dim])))
    return node.emit(relax.op.reshape(vector, ()))


def positions(node: Node, length: PrimExpr | int, *shape: Any) -> Expr:
    """0, 1, … up to ``length``, in ``shape``."""
    known = tvm_api.as_int(length)
    numbers = relax.op.arange(0, length if known is None else known, 1, "int64")
    return node.emit(relax.op.reshape(numbers, shape))
