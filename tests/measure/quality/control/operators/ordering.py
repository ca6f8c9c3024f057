"""Operators that order elements: each rank takes the best element that is left."""

from collections.abc import Sequence

import numpy as np

from relaxcheck.generators.core.program import ITEM, Node
from tests.measure.quality.control.operator import (
    Array,
    Type,
    axis_of,
    flag,
    operator,
    refuse,
    text,
    whole,
)
from tests.measure.quality.control.operators.movement import replaced
from tests.measure.quality.control.summation import Freedom


def _count(node: Node, size: int) -> int:
    count = whole(node, "k", 1)
    if count > size:
        raise refuse(node, f"k is {count}, and the axis has {size} elements")
    return count if count > 0 else size


def _wanted(node: Node) -> str:
    wanted = text(node, "ret_type", "both")
    if wanted not in ("both", "values", "indices"):
        raise refuse(node, f"ret_type is {wanted}")
    return ("values", "indices")[whole(node, ITEM)] if wanted == "both" else wanted


def _infer_topk(node: Node, operands: Sequence[Type]) -> Type:
    (x,) = operands
    axis = axis_of(node, x.rank, default=-1)
    shape = replaced(x.shape, axis, _count(node, x.shape[axis]))
    return Type(shape, x.dtype if _wanted(node) == "values" else text(node, "dtype", "int32"))


def _places(lines: Array, count: int, largest: bool) -> Array:
    """The places of the first ``count`` elements of each of ``lines``, in order."""
    places = np.empty((*lines.shape[:-1], count), np.int64)
    for line in np.ndindex(lines.shape[:-1]):
        left = list(range(lines.shape[-1]))
        for rank in range(count):
            best = left[0]
            for at in left:
                ahead = lines[line][at] > lines[line][best]
                behind = lines[line][at] < lines[line][best]
                best = at if (ahead if largest else behind) else best
            left.remove(best)
            places[(*line, rank)] = best
    return places


@operator("topk", _infer_topk)
def _topk(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    (x,) = operands
    axis = axis_of(node, x.ndim, default=-1)
    lines = np.moveaxis(x, axis, -1)
    count, largest = _count(node, x.shape[axis]), flag(node, "largest", True)
    places = _places(lines, count, largest)
    if _wanted(node) == "values":
        return np.moveaxis(np.take_along_axis(lines, places, -1), -1, axis)
    return np.moveaxis(places, -1, axis).astype(text(node, "dtype", "int32"))


def _infer_sort(node: Node, operands: Sequence[Type]) -> Type:
    (x,) = operands
    axis_of(node, x.rank, default=-1)
    return x


def _infer_argsort(node: Node, operands: Sequence[Type]) -> Type:
    return Type(_infer_sort(node, operands).shape, text(node, "dtype", "int32"))


def _order(node: Node, x: Array) -> tuple[Array, Array, int]:
    """The lines along the axis, the places of their elements in order, and the axis."""
    axis = axis_of(node, x.ndim, default=-1)
    lines = np.moveaxis(x, axis, -1)
    return lines, _places(lines, lines.shape[-1], flag(node, "descending", False)), axis


@operator("sort", _infer_sort)
def _sort(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    lines, places, axis = _order(node, operands[0])
    return np.moveaxis(np.take_along_axis(lines, places, -1), -1, axis)


@operator("argsort", _infer_argsort)
def _argsort(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    _, places, axis = _order(node, operands[0])
    return np.moveaxis(places, -1, axis).astype(text(node, "dtype", "int32"))


def _infer_bucketize(node: Node, operands: Sequence[Type]) -> Type:
    x, boundaries = operands
    if boundaries.rank != 1:
        raise refuse(node, f"boundaries of rank {boundaries.rank}, which is a dimension too many")
    return Type(x.shape, "int32" if flag(node, "out_int32", False) else "int64")


@operator("bucketize", _infer_bucketize)
def _bucketize(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    x, boundaries = operands
    count = np.zeros(x.shape, np.int64)
    for each in boundaries:
        count += (each <= x) if flag(node, "right", False) else (each < x)
    return count.astype("int32" if flag(node, "out_int32", False) else "int64")


def _infer_median(node: Node, operands: Sequence[Type]) -> Type:
    (x,) = operands
    keep = flag(node, "keepdims", False)
    if node.attributes.get("axis") is None:
        if not x.size:
            raise refuse(node, "there are no elements")
        return Type((1,) * x.rank if keep else (), x.dtype)
    axis = axis_of(node, x.rank)
    if not x.shape[axis]:
        raise refuse(node, f"axis {axis} has no elements")
    shape = replaced(x.shape, axis, *((1,) if keep else ()))
    return Type(shape, "int64" if whole(node, ITEM) else x.dtype)


@operator("median", _infer_median)
def _median(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    (x,) = operands
    to = _infer_median(node, [Type(x.shape, x.dtype.name)])
    along = node.attributes.get("axis") is not None
    lines = np.moveaxis(x, axis_of(node, x.ndim), -1) if along else x.ravel()
    middle = (lines.shape[-1] - 1) // 2
    places = _places(lines, middle + 1, largest=False)[..., middle:]
    values = np.take_along_axis(lines, places, -1)
    result = places if along and whole(node, ITEM) else values
    # One element is left along the axis, wherever that stands.
    return result.reshape(to.shape).astype(to.dtype)
