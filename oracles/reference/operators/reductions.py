"""The reference's reductions, running sums and softmax, with their bounds.

Sums may be added up in any order; products are one factor after another (Higham, lemma 3.1).
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.attribute_values import axes_of, axis_of, flag, text
from relaxcheck.oracles.reference.averages import ONE, average, spread, total
from relaxcheck.oracles.reference.bounds import computed, gamma, unconstrain
from relaxcheck.oracles.reference.estimate import (
    FORMATS,
    OWN_UNIT,
    Errors,
    Estimate,
    ordinary,
    unknown,
)
from relaxcheck.oracles.reference.evaluation import operator


def over(node: Node, operand: Estimate) -> tuple[tuple[int, ...], bool]:
    """The axes reduced, and whether they are kept as axes of size 1."""
    return axes_of(node, "axis", operand.value.ndim), flag(node, "keepdims", False)


@operator("sum")
def _sum(node: Node, operands: list[Estimate]) -> Estimate:
    return total(operands[0], *over(node, operands[0]))


@operator("mean")
def _mean(node: Node, operands: list[Estimate]) -> Estimate:
    return average(operands[0], *over(node, operands[0]))


@operator("variance")
def _variance(node: Node, operands: list[Estimate]) -> Estimate:
    return spread(operands[0], *over(node, operands[0]), one_pass=False)


@operator("std")
def _std(node: Node, operands: list[Estimate]) -> Estimate:
    variance = spread(operands[0], *over(node, operands[0]), one_pass=False)
    unconstrained = unknown(variance)
    value, error = (
        np.where(unconstrained, 0, variance.value),
        np.where(unconstrained, 0, variance.error),
    )
    root = np.sqrt(value)
    # sqrt is steepest at the lower end; below 0 nothing is.
    low = np.sqrt(np.maximum(value - error, 0))
    moved = np.maximum(root - low, np.sqrt(value + error) - root).astype(np.float64)
    return computed(variance.dtype, root, moved, 2, unconstrained=unconstrained)


@operator("max")
def _max(node: Node, operands: list[Estimate]) -> Estimate:
    return extreme(operands[0], *over(node, operands[0]), 1)


@operator("min")
def _min(node: Node, operands: list[Estimate]) -> Estimate:
    return extreme(operands[0], *over(node, operands[0]), -1)


def extreme(operand: Estimate, axes: tuple[int, ...], keep: bool, sign: int) -> Estimate:
    """The largest element over ``axes`` where ``sign`` is 1, the smallest where it is -1."""
    if 0 in (operand.value.shape[axis] for axis in axes):
        raise ValueError("there is no largest or smallest of no elements")
    unconstrained = unknown(operand)
    value = _turned(np.where(unconstrained, 0, operand.value), sign)
    error = np.where(unconstrained, 0, operand.error)
    top = value.max(axes, keepdims=keep)
    high = (value + error).max(axes, keepdims=keep)
    low = (value - error).max(axes, keepdims=keep)
    off = np.maximum(high - top, top - low).astype(np.float64)
    result = Estimate(np.asarray(_turned(top, sign)), np.asarray(off), operand.dtype)
    return unconstrain(result, np.asarray(unconstrained.any(axes, keepdims=keep)))


@operator("prod")
def _prod(node: Node, operands: list[Estimate]) -> Estimate:
    return product(operands[0], *over(node, operands[0]))


def _turned(value: Array, sign: int) -> Array:
    """``value`` in the opposite order where ``sign`` is -1: the least integer has no negative."""
    if sign == 1:
        return value
    return ~value if value.dtype.kind == "i" else -value


def product(operand: Estimate, axes: tuple[int, ...], keep: bool) -> Estimate:
    """The product over ``axes``."""
    if operand.dtype not in FORMATS:
        whole = bounds.wrapped(np.asarray(operand.value.prod(axes, keepdims=keep)), operand.dtype)
        return unconstrain(whole, np.asarray(unknown(operand).any(axes, keepdims=keep)))
    return _products(operand, lambda each: np.asarray(each.prod(axes, keepdims=keep)))


def _products(operand: Estimate, multiply: Callable[[Array], Array]) -> Estimate:
    """``multiply``: products of some elements, each result at least of itself."""
    target = FORMATS[operand.dtype]
    x = ordinary(operand)
    value = multiply(x.value)
    size = np.abs(x.value).astype(np.float64)
    counts = np.log2(multiply(np.full(size.shape, 2.0, np.longdouble))).astype(np.float64)
    reach = multiply(size + x.error)
    grown = multiply(np.maximum(size + x.error, 1))
    error = (reach - multiply(size)) + gamma(counts, target.unit + OWN_UNIT) * reach
    # A partial product below the range, times all that is above 1.
    error = error + counts * target.floor * np.minimum(grown, target.largest)
    unconstrained = (
        multiply((~np.isfinite(operand.value) | ~np.isfinite(operand.error)) * 1.0 + 1) > 1
    )
    unconstrained = unconstrained | ~(grown <= target.largest)
    # Integers whose products are small enough are multiplied without rounding.
    whole = multiply(np.where((x.value == np.rint(x.value)) & (x.error == 0), 1.0, 0.0)) == 1
    exact = whole & (grown <= 2.0**target.precision)
    error = np.where(exact, 0.0, error)
    kept = np.where(unconstrained, 0, value)
    return unconstrain(Estimate(kept, error.astype(np.float64), operand.dtype), unconstrained)


def _running(node: Node, operand: Estimate) -> tuple[Estimate, int, bool]:
    """The operand as a line of numbers or as it is, in the dtype asked for; the axis; exclusive."""
    wanted = node.attributes.get("dtype")
    operand = operand if wanted is None else bounds.cast(operand, text(node, "dtype"))
    exclusive = flag(node, "exclusive", False)
    if node.attributes.get("axis") is None:
        flat = replace(operand, value=operand.value.ravel(), error=operand.error.ravel())
        return flat, 0, exclusive
    return operand, axis_of(node, "axis", operand.value.ndim), exclusive


def _up_to(array: Array, axis: int, exclusive: bool, accumulate: np.ufunc, start: int) -> Array:
    totals: Array = accumulate.accumulate(array, axis)
    if not exclusive:
        return totals
    first = np.full_like(np.take(array, [0] if array.shape[axis] else [], axis), start)
    rest = totals[(slice(None),) * axis + (slice(0, -1),)]
    return np.concatenate([first, rest], axis)


@operator("cumsum")
def _cumsum(node: Node, operands: list[Estimate]) -> Estimate:
    operand, axis, exclusive = _running(node, operands[0])
    ones = replace(ONE, value=ONE.value.astype(operand.value.dtype))
    return bounds.sum_of_products(
        operand, ones, lambda a, b: _up_to(a * b, axis, exclusive, np.add, 0), operand.dtype
    )


@operator("cumprod")
def _cumprod(node: Node, operands: list[Estimate]) -> Estimate:
    operand, axis, exclusive = _running(node, operands[0])

    def multiply(each: Array) -> Array:
        return _up_to(each, axis, exclusive, np.multiply, 1)

    if operand.dtype not in FORMATS:
        touched = multiply(1.0 + unknown(operand)) > 1
        return unconstrain(bounds.wrapped(multiply(operand.value), operand.dtype), touched)
    return _products(operand, multiply)


@operator("argmax")
def _argmax(node: Node, operands: list[Estimate]) -> Estimate:
    return _place(node, operands[0], 1)


@operator("argmin")
def _argmin(node: Node, operands: list[Estimate]) -> Estimate:
    return _place(node, operands[0], -1)


def _place(node: Node, operand: Estimate, sign: int) -> Estimate:
    """The first of equal elements; unconstrained where errors decide, or NaN takes part."""
    keep = flag(node, "keepdims", False)
    value, error = operand.value, operand.error
    if sign < 0:
        # The least integer has no negative.
        value = np.asarray(-value if value.dtype.kind == "f" else ~value)
    unsure = np.isnan(value) | np.isinf(error) if operand.dtype in FORMATS else error > 0
    whole = node.attributes.get("axis") is None
    axis = 0 if whole else axis_of(node, "axis", value.ndim)
    if whole:
        shape = (1,) * value.ndim
        value, error, unsure = value.ravel(), error.ravel(), unsure.ravel()
    else:
        shape = (*value.shape[:axis], 1, *value.shape[axis + 1 :])
    if value.shape[axis] == 0:
        raise ValueError("there is no place of the largest of no elements")
    place = np.expand_dims(value.argmax(axis), axis)
    top = np.take_along_axis(value, place, axis)
    off = np.take_along_axis(error, place, axis)
    with np.errstate(invalid="ignore"):
        rivals = (top - value <= off + error) & (off + error > 0)
    np.put_along_axis(rivals, place, False, axis)
    unconstrained = np.asarray((rivals | unsure).any(axis, keepdims=True))
    chosen = unconstrain(Estimate(place, np.zeros(place.shape), "int64"), unconstrained).value
    bound = np.where(unconstrained, np.inf, 0.0)
    wanted = shape if keep else tuple(n for at, n in enumerate(shape) if at != axis)
    if whole and not keep:
        wanted = ()
    return Estimate(chosen.reshape(wanted), bound.reshape(wanted), "int64")


_STEEPEST = 600.0
"""A score off by more than this may have any share: no relative error bounds it."""


def _exponentials(
    operand: Estimate, axis: int
) -> tuple[Array, Array, Errors, Errors, Errors, float]:
    """Of ordinary scores: less the largest; exponentials; each one's and the sum's relative error.

    Then what the exponential of a score may come to that is off by so much that it may be the
    largest, while its own is 0; 0 for others.

    Source: as ``oracles/reference/softmax.py``, whatever the largest is taken to be, it cancels.
    """
    unit = FORMATS[operand.dtype].unit
    apart = operand.value - operand.value.max(axis, keepdims=True)
    drop = np.abs(apart).astype(np.float64)
    widest = operand.error.max(axis, keepdims=True)
    off = operand.error + widest + unit * (drop + operand.error + widest)
    off = off + 8 * OWN_UNIT * (drop + 1)
    rises = np.exp(np.minimum(apart + off, _STEEPEST)).astype(np.float64)
    rivals = np.where(off > _STEEPEST, rises, 0)
    off = np.minimum(off, _STEEPEST)
    each = np.expm1(off) * (1 + 2 * bounds.LIBM * unit) + 2 * bounds.LIBM * unit
    weights = np.exp(apart)
    share = (weights / weights.sum(axis, keepdims=True)).astype(np.float64)
    summing = float(gamma(operand.value.shape[axis], unit))
    risen = (share * each + rivals).sum(axis, keepdims=True)
    return apart, weights, each, risen * (1 + summing) + summing, rivals, unit


@operator("nn.softmax")
def _softmax(node: Node, operands: list[Estimate]) -> Estimate:
    operand = operands[0]
    axis = axis_of(node, "axis", operand.value.ndim, -1)
    unconstrained = unknown(operand).any(axis, keepdims=True)
    if not operand.value.size:
        return operand
    x = ordinary(operand)
    _, weights, each, whole, rivals, unit = _exponentials(x, axis)
    share = weights / weights.sum(axis, keepdims=True)
    # (1 + each) / (1 - whole), and never above 1.
    sure = whole < 0.5
    relative = np.where(sure, (1 + each) / np.where(sure, 1 - whole, 1) * (1 + unit) - 1, np.inf)
    with np.errstate(invalid="ignore"):
        moved = np.where(share > 0, share * relative, 0).astype(np.float64)
    moved = np.minimum(np.maximum(moved, rivals), 1)
    count = operand.value.shape[axis]
    slack = (count + 2) * FORMATS[operand.dtype].floor
    unconstrained = np.broadcast_to(unconstrained, share.shape)
    return computed(operand.dtype, share, moved + slack, 1, unconstrained=unconstrained)


@operator("nn.log_softmax")
def _log_softmax(node: Node, operands: list[Estimate]) -> Estimate:
    operand = operands[0]
    axis = axis_of(node, "axis", operand.value.ndim, -1)
    unconstrained = unknown(operand).any(axis, keepdims=True)
    if not operand.value.size:
        return operand
    x = ordinary(operand)
    apart, weights, _, whole, _, unit = _exponentials(x, axis)
    sums = np.log(weights.sum(axis, keepdims=True))
    sure = whole < 0.5
    off = np.where(sure, -np.log1p(-np.where(sure, whole, 0)), np.inf)
    widest = x.error.max(axis, keepdims=True)
    # The largest is taken away from each score and added to the logarithm, in either order.
    size = np.abs(apart) + np.abs(sums) + np.abs(x.value) + np.abs(x.value - apart)
    moved = off + x.error + widest + (2 * bounds.LIBM + 4) * unit * size.astype(np.float64)
    unconstrained = np.broadcast_to(unconstrained | ~np.isfinite(moved), apart.shape)
    return computed(
        operand.dtype,
        apart - sums,
        np.where(unconstrained, 0, moved),
        1,
        unconstrained=unconstrained,
    )
