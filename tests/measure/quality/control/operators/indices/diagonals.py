"""Operators that look at diagonals: one matrix element after the other."""

from collections.abc import Sequence

import numpy as np

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import (
    Array,
    Type,
    operator,
    refuse,
    text,
    whole,
    wholes,
)
from tests.measure.quality.control.summation import Freedom


def _infer_triangle(node: Node, operands: Sequence[Type]) -> Type:
    (x,) = operands
    if x.rank < 2:
        raise refuse(node, f"a tensor of rank {x.rank} has no matrices")
    return x


def _cut(x: Array, low: int, high: int) -> Array:
    """``x`` with zeros outside the diagonals from ``low`` to ``high``."""
    result = np.zeros_like(x)
    for row in range(x.shape[-2]):
        first, last = max(row + low, 0), max(row + high + 1, 0)
        result[..., row, first:last] = x[..., row, first:last]
    return result


@operator("tril", _infer_triangle)
def _tril(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    (x,) = operands
    return _cut(x, -sum(x.shape), whole(node, "k", 0))


@operator("triu", _infer_triangle)
def _triu(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    (x,) = operands
    return _cut(x, whole(node, "k", 0), sum(x.shape))


def _infer_eye(node: Node, operands: Sequence[Type]) -> Type:
    rows = wholes(node, "n")
    return Type((*rows, *wholes(node, "m", rows)), text(node, "dtype", "float32"))


def _infer_eye_like(node: Node, operands: Sequence[Type]) -> Type:
    (x,) = operands
    if x.rank != 2:
        raise refuse(node, f"a tensor of rank {x.rank} is no matrix")
    return Type(x.shape, text(node, "dtype", x.dtype))


def _identity(node: Node, to: Type) -> Array:
    k = whole(node, "k", 0)
    return _cut(np.ones(to.shape, to.dtype), k, k)


@operator("eye", _infer_eye)
def _eye(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    return _identity(node, _infer_eye(node, ()))


@operator("eye_like", _infer_eye_like)
def _eye_like(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    (x,) = operands
    return _identity(node, _infer_eye_like(node, [Type(x.shape, x.dtype.name)]))
