"""Operators that make tables of vectors: one element after the other."""

from collections.abc import Sequence

import numpy as np

from relaxcheck.generators.core.program import ITEM, Node
from tests.measure.quality.control.operator import (
    Array,
    Type,
    one_dtype,
    operator,
    refuse,
    text,
    whole,
)
from tests.measure.quality.control.rounding import computed_in
from tests.measure.quality.control.summation import Freedom


def _lengths(node: Node, operands: Sequence[Type]) -> list[int]:
    for at, each in enumerate(operands):
        if each.rank != 1:
            raise refuse(node, f"operand {at} has rank {each.rank}, and is no vector (ndim 1)")
    return [each.shape[0] for each in operands]


def _infer_outer(node: Node, operands: Sequence[Type]) -> Type:
    return Type(tuple(_lengths(node, operands)), one_dtype(node, operands))


@operator("outer", _infer_outer, narrows=True)
def _outer(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    a, b = operands
    rows = np.repeat(a, b.size).reshape(a.size, b.size)
    return computed_in(a.dtype, freedom, rows, b, compute=np.multiply)


def _infer_meshgrid(node: Node, operands: Sequence[Type]) -> Type:
    sizes = _lengths(node, operands)
    match text(node, "indexing", "ij"):
        case "xy":
            sizes[:2] = sizes[:2][::-1]
        case "ij":
            pass
        case other:
            raise refuse(node, f"indexing is {other}")
    return Type(tuple(sizes), operands[whole(node, ITEM)].dtype)


@operator("meshgrid", _infer_meshgrid)
def _meshgrid(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    item = whole(node, ITEM)
    shape = _infer_meshgrid(node, [Type(x.shape, x.dtype.name) for x in operands]).shape
    swapped = text(node, "indexing", "ij") == "xy" and item < 2 and len(shape) > 1
    result = np.empty(shape, operands[item].dtype)
    for place in np.ndindex(shape):
        result[place] = operands[item][place[1 - item if swapped else item]]
    return result
