"""The reference's orders along an axis: sorted elements and their places, all or the first k."""

from typing import Literal

import numpy as np

from relaxcheck.generators.core.program import ITEM, Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference.attribute_values import axes_of, axis_of, flag, integer, text
from relaxcheck.oracles.reference.bounds import unconstrain
from relaxcheck.oracles.reference.estimate import Estimate, unknown
from relaxcheck.oracles.reference.evaluation import operator
from relaxcheck.oracles.reference.operators.movement import moved


@operator("topk")
def _topk(node: Node, operands: list[Estimate]) -> Estimate:
    """Lines along the axis in order; NaN has no place in it, and leaves its line open."""
    (operand,) = operands
    axis = axis_of(node, "axis", operand.value.ndim, -1)
    count, size = integer(node, "k", 1), operand.value.shape[axis]
    if count > size:
        raise ValueError(f"there are no {count} elements among {size}")
    wanted = text(node, "ret_type", "both")
    if wanted not in ("both", "values", "indices"):
        raise ValueError(f"no ret_type {wanted}")
    if wanted == "both":
        wanted = ("values", "indices")[integer(node, ITEM)]
    kept = count if count > 0 else size
    return _in_order(
        operand,
        axis,
        kept,
        largest=flag(node, "largest", True),
        places=None if wanted == "values" else text(node, "dtype", "int32"),
    )


@operator("sort")
def _sort(node: Node, operands: list[Estimate]) -> Estimate:
    (operand,) = operands
    axis, largest = integer(node, "axis", -1), flag(node, "descending", False)
    return _in_order(operand, axis, operand.value.shape[axis], largest=largest, places=None)


@operator("argsort")
def _argsort(node: Node, operands: list[Estimate]) -> Estimate:
    (operand,) = operands
    axis, largest = integer(node, "axis", -1), flag(node, "descending", False)
    dtype = text(node, "dtype", "int32")
    return _in_order(operand, axis, operand.value.shape[axis], largest=largest, places=dtype)


def _in_order(
    operand: Estimate, axis: int, count: int, *, largest: bool, places: str | None
) -> Estimate:
    """The first ``count`` elements in order along ``axis``; their places where a dtype is given."""
    unordered = np.moveaxis(unknown(operand), axis, -1)
    value, error = (
        np.moveaxis(np.where(unknown(operand), 0, each), axis, -1)
        for each in (operand.value, operand.error)
    )
    order = np.argsort(value, -1)
    if largest:
        order = order[..., ::-1]
    if places is None:
        chosen, off = _ranked(value, error, order, largest)
    else:
        chosen, off = order, np.where(_rivals(value, error, order), np.inf, 0.0)
    dtype = places or operand.dtype
    unsure = np.isinf(off) | unordered.any(-1, keepdims=True)
    estimate = unconstrain(Estimate(chosen, off, dtype), unsure)
    return Estimate(
        np.moveaxis(estimate.value[..., :count], -1, axis),
        np.moveaxis(estimate.error[..., :count], -1, axis),
        dtype,
    )


def _ranked(value: Array, error: Array, order: Array, largest: bool) -> tuple[Array, Array]:
    """The elements in ``order``, and how far the element of each rank may be off.

    An order statistic is monotone in every element: it lies between that of the lower ends and
    that of the upper ends.
    """
    ranked = np.take_along_axis(value, order, -1)
    ends = [np.sort(value + sign * error, -1) for sign in (-1, 1)]
    low, high = (each[..., ::-1] for each in ends) if largest else ends
    with np.errstate(invalid="ignore"):
        off = np.fmax(high - ranked, ranked - low).astype(np.float64)
    return ranked, np.where(np.isfinite(off), off, 0.0)


def _rivals(value: Array, error: Array, order: Array) -> Array:
    """True where another element may have the rank: it is equal, or errors decide."""
    ranked, off = (np.take_along_axis(each, order, -1) for each in (value, error))
    item, other = ranked[..., :, None], ranked[..., None, :]
    with np.errstate(invalid="ignore"):
        near = (item == other) | (np.abs(item - other) <= off[..., :, None] + off[..., None, :])
    near &= ~np.eye(value.shape[-1], dtype=bool)
    rivals: Array = near.any(-1)
    return rivals


@operator("bucketize")
def _bucketize(node: Node, operands: list[Estimate]) -> Estimate:
    """An element that is off may lie in the next bucket."""
    x, boundaries = operands
    if boundaries.value.ndim != 1:
        raise ValueError("boundaries are a vector")
    side: Literal["left", "right"] = "right" if flag(node, "right", False) else "left"
    dtype = "int32" if flag(node, "out_int32", False) else "int64"
    unsure = np.isnan(x.value) | np.isinf(x.error)
    error = np.where(unsure, 0.0, x.error)
    low, at, high = (
        np.asarray(np.searchsorted(boundaries.value, x.value + each, side))
        for each in (-error, np.zeros(error.shape, x.value.dtype), error)
    )
    off = np.maximum(high - at, at - low).astype(np.float64)
    return unconstrain(Estimate(at.astype(np.int64), off, dtype), unsure)


@operator("median")
def _median(node: Node, operands: list[Estimate]) -> Estimate:
    """The element of rank (n - 1) // 2, and its place where the median is over an axis."""
    (operand,) = operands
    keep, rank = flag(node, "keepdims", False), operand.value.ndim
    if node.attributes.get("axis") is None:
        flat = moved(operand, np.ravel)
        middle = _middle(flat, 0, None)
        return moved(middle, lambda each: each.reshape((1,) * rank if keep else ()))
    (axis,) = axes_of(node, "axis", rank)
    middle = _middle(operand, axis, "int64" if integer(node, ITEM) else None)
    return middle if keep else moved(middle, lambda each: np.squeeze(each, axis))


def _middle(operand: Estimate, axis: int, places: str | None) -> Estimate:
    size = operand.value.shape[axis]
    if not size:
        raise ValueError("there is no middle of no elements")
    at = (size - 1) // 2
    ordered = _in_order(operand, axis, size, largest=False, places=places)
    return moved(ordered, lambda each: np.take(each, [at], axis))
