"""The arguments of a node: numbers and symbolic integers as tensors, axes, dtypes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import invalid
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.torch.converting import Node
from relaxcheck.fixes.tvm_api import Expr, PrimExpr
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes

UPSTREAM = NewFile("relax/frontend/torch/operands.py")

NARROW = ("float16", "bfloat16")
"""Floats that PyTorch computes in float32."""


def is_tensor(value: Any) -> bool:
    """True if ``value`` is a tensor of Relax, rather than a number or a symbolic integer."""
    return isinstance(value, relax.Expr) and tvm_api.is_tensor(value)


def tensor(node: Node, value: Any, dtype: str) -> Expr:
    """``value`` as a tensor of ``dtype``; numbers and symbolic integers have no dimensions."""
    if is_tensor(value):
        return cast(node, value, dtype)
    if isinstance(value, bool | int | float):
        return number(value, dtype)
    return cast(node, integer(node, value), dtype)


def number(value: float, dtype: str) -> Expr:
    """A constant of ``dtype`` without dimensions, which wraps or rounds as PyTorch does."""
    if "float" not in dtype and dtype != "bool" and isinstance(value, float):
        value = int(value)
    if dtype == "bool":
        value = bool(value)
    if isinstance(value, int) and "int" in dtype:
        bits = np.iinfo(dtype)
        value = (value - bits.min) % (bits.max - bits.min + 1) + bits.min
    return relax.const(value, dtype)


def integer(node: Node, value: PrimExpr) -> Expr:
    """The symbolic integer or bool ``value`` as a tensor of int64 without dimensions."""
    known = tvm_api_shapes.integer_of(value)
    known = value if known is None else known
    if tvm_api.dtype_of(known) == "bool":
        known = tvm_api_shapes.select(known, tvm_api.integer(1), tvm_api.integer(0))
    vector = node.emit(relax.op.shape_to_tensor(relax.ShapeExpr([known])))
    return node.emit(relax.op.reshape(vector, relax.ShapeExpr([])))


def cast(node: Node, value: Expr, dtype: str) -> Expr:
    """``value`` in ``dtype``."""
    if tvm_api.dtype_of(value) == dtype:
        return value
    return node.emit(relax.op.astype(value, dtype))


def inner_dtype(dtype: str) -> str:
    """The dtype to compute floats of ``dtype`` in."""
    return "float32" if dtype in NARROW else dtype


def rank_of(value: Expr) -> int:
    """The number of dimensions of ``value``, whose shape is known."""
    return len(tvm_api.shape_of(value))


def axis(node: Node, dim: int, rank: int) -> int:
    """The axis ``dim``, from 0 on, of a tensor of ``rank`` dimensions; of none, that of one.

    Raises:
        ValueError: there is no such axis.
    """
    count = max(rank, 1)
    if not -count <= dim < count:
        raise invalid(node.operator, f"it must be from {-count} to {count - 1}", dim=dim)
    return dim + count if dim < 0 else dim


def axes(node: Node, dims: int | Sequence[int] | None, rank: int) -> list[int]:
    """The axes ``dims``, from 0 on; all where there are none, as PyTorch has it."""
    if dims is None or (not isinstance(dims, int) and not dims):
        return list(range(rank))
    several = [dims] if isinstance(dims, int) else list(dims)
    return [axis(node, int(dim), rank) for dim in several]


def reshaped(node: Node, value: Expr, dims: Sequence[PrimExpr | int]) -> Expr:
    """``value`` in the shape of ``dims``."""
    if any(tvm_api.as_int(dim) == 0 for dim in dims):
        # A 0 would stand for the dimension of ``value`` itself.
        return node.emit(relax.op.zeros(relax.ShapeExpr(list(dims)), tvm_api.dtype_of(value)))
    return node.emit(relax.op.reshape(value, relax.ShapeExpr(list(dims))))


def lifted(node: Node, value: Expr) -> Expr:
    """``value`` with a dimension of 1 if it has none."""
    return value if rank_of(value) else reshaped(node, value, [1])
