"""Softmax and its kin, and the largest elements in order."""

from dataclasses import replace
from math import prod

import numpy as np

from relaxcheck.generators.core.values import Array
from relaxcheck.oracles.onnx.reference.call import Call, axis_of, integers, operator, relax
from relaxcheck.oracles.onnx.reference.values import moved, whole
from relaxcheck.oracles.reference.bounds import unconstrain
from relaxcheck.oracles.reference.estimate import Estimate, unknown

_ONE_AXIS = 13
"""The version from which softmax is along an axis; before it, along all from the axis on."""


def _along(call: Call, name: str) -> Estimate:
    x, axis = call[0], call.attribute("axis")
    shape = x.value.shape
    if call.since >= _ONE_AXIS:
        return _row(name, x, axis_of(axis, len(shape)))
    first = axis + len(shape) if axis < 0 else axis
    flat = (prod(shape[:first]), prod(shape[first:]))
    rows = _row(name, moved(x, lambda each: each.reshape(flat)), 1)
    return moved(rows, lambda each: each.reshape(shape))


def _row(name: str, x: Estimate, axis: int) -> Estimate:
    if x.value.ndim == 0:
        raise ValueError("of a scalar")
    if name != "hardmax":
        return replace(_weights(name, x, axis), signed=False)
    if not x.value.size:
        return x
    place = relax("argmax", x, axis=axis, keepdims=True)
    line = [-1 if at == axis else 1 for at in range(x.value.ndim)]
    hot = place.value == np.arange(x.value.shape[axis]).reshape(line)
    value = hot.astype(x.value.dtype)
    result = Estimate(value, np.zeros(value.shape), x.dtype)
    return unconstrain(result, np.broadcast_to(unknown(place), value.shape))


_NOTHING = 40_000
"""An element that far below the largest has weight 0 in every format."""


def _weights(name: str, x: Estimate, axis: int) -> Estimate:
    """Softmax or its logarithm. An element of -infinity, as masks add it, has weight 0.

    Rows of such elements alone are unconstrained.
    """
    masked = np.isneginf(x.value.astype(np.longdouble))
    if not masked.any():
        return relax(name, x, axis=axis)
    others = np.where(masked, np.inf, x.value).min(axis, keepdims=True)
    largest = np.where(masked, -np.inf, x.value).max(axis, keepdims=True)
    least = np.minimum(others, largest).astype(np.longdouble)
    # A large number absorbs a difference that is not as large.
    low = np.where(np.isfinite(least), least - np.abs(least) - _NOTHING, 0)
    shown = np.where(masked, low, x.value)
    result = relax(name, replace(x, value=shown), axis=axis)
    ruled = masked & ~masked.all(axis, keepdims=True) & np.isfinite(result.error)
    sure = np.longdouble(0 if name == "nn.softmax" else -np.inf)
    result = replace(
        result,
        value=np.where(ruled, sure, result.value),
        error=np.where(ruled, 0.0, result.error),
    )
    return unconstrain(result, np.broadcast_to(masked.all(axis, keepdims=True), x.value.shape))


@operator("Softmax")
def _softmax(call: Call) -> Estimate:
    return _along(call, "nn.softmax")


@operator("LogSoftmax")
def _log_softmax(call: Call) -> Estimate:
    return _along(call, "nn.log_softmax")


@operator("Hardmax")
def _hardmax(call: Call) -> Estimate:
    """1 for the first largest element, 0 for others."""
    return _along(call, "hardmax")


@operator("TopK")
def _top_k(call: Call) -> tuple[Estimate, ...]:
    """The largest or smallest; of equal ones the first, as versions since 10 say.

    Unconstrained are indices where errors decide, and all where NaN takes part, or where no order
    is asked for.
    """
    x = call[0]
    (count,) = integers(call[1]) if len(call.operands) > 1 else (call.attribute("k"),)
    axis = axis_of(call.attribute("axis"), x.value.ndim)
    largest = call.attribute("largest") in (None, 1)
    ordered = call.attribute("sorted") in (None, 1)
    if count > x.value.shape[axis]:
        raise ValueError(f"{count} of {x.value.shape[axis]}")
    # The least integer has no negative.
    opposite = -x.value if x.value.dtype.kind == "f" else ~x.value
    key = opposite if largest else x.value
    order = np.argsort(key, axis, kind="stable")
    first = np.take(order, np.arange(count), axis)
    values = moved(x, lambda each: np.take_along_axis(each, first, axis))
    open_ = np.isnan(x.value) | np.isinf(x.error) if key.dtype.kind == "f" else np.isinf(x.error)
    lost = np.broadcast_to(open_.any(axis, keepdims=True), first.shape)
    if x.error.any():
        # Errors may exchange neighbours: a value is as near as the widest error.
        widest = x.error.max(axis, keepdims=True)
        values = replace(values, error=np.maximum(values.error, widest))
        lost = lost | _near(x, order, count, axis, widest)
    if not ordered:
        lost = np.ones_like(lost)
        values = unconstrain(values, lost)
    values = unconstrain(values, np.broadcast_to(open_.any(axis, keepdims=True), first.shape))
    return values, unconstrain(whole(first), lost)


def _near(x: Estimate, order: Array, count: int, axis: int, widest: Array) -> Array:
    """Places whose value another element of the line may have as well."""
    line = np.take_along_axis(x.value, order, axis)
    gaps = np.abs(np.diff(line, axis=axis)) <= 2 * widest
    edge = np.zeros_like(np.take(gaps, [0], axis)) if gaps.shape[axis] else None
    if edge is None:
        return np.zeros(np.take(line, np.arange(count), axis).shape, np.bool_)
    near = np.concatenate([edge, gaps], axis) | np.concatenate([gaps, edge], axis)
    return np.take(near, np.arange(count), axis)
