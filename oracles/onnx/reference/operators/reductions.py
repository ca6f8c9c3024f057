"""Reductions over axes, which an attribute or, in later versions, an input gives."""

from math import isqrt, prod

import numpy as np

from relaxcheck.oracles.onnx.reference.call import Call, axes_of, axis_of, operator, relax
from relaxcheck.oracles.onnx.reference.norms import extreme_over, norm
from relaxcheck.oracles.onnx.reference.values import is_float, limits, moved
from relaxcheck.oracles.reference.averages import average, total
from relaxcheck.oracles.reference.bounds import computed, unconstrain
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, ordinary, unknown
from relaxcheck.oracles.reference.functions import UNITS
from relaxcheck.oracles.reference.operators.reductions import product

_EMPTY_DEFINED = 18
"""The version that says what a reduction of no elements gives."""


def _axes(call: Call) -> tuple[tuple[int, ...], bool]:
    """The axes to reduce, and whether they stay, of size 1."""
    rank = call[0].value.ndim
    axes = call.integers("axes")
    if not axes and not (call.flag("noop_with_empty_axes")):
        axes = tuple(range(rank))
    return axes_of(axes or (), rank), call.flag("keepdims")


def _is_empty(call: Call, axes: tuple[int, ...]) -> bool:
    return 0 in (call[0].value.shape[axis] for axis in axes)


def _defined(call: Call, axes: tuple[int, ...], result: Estimate) -> Estimate:
    """``result``, unconstrained where it is of no elements and the version does not define that."""
    defined = call.since >= _EMPTY_DEFINED or (
        call.node.operator == "ReduceSum" and call.since >= 13
    )
    return result if defined or not _is_empty(call, axes) else _open(result)


def _open(result: Estimate) -> Estimate:
    return unconstrain(result, np.ones(result.value.shape, np.bool_))


@operator("ReduceSum")
def _sum(call: Call) -> Estimate:
    axes, keep = _axes(call)
    return _defined(call, axes, total(call[0], axes, keep))


@operator("ReduceProd")
def _prod(call: Call) -> Estimate:
    axes, keep = _axes(call)
    return _defined(call, axes, product(call[0], axes, keep))


@operator("ReduceMean")
def _mean(call: Call) -> Estimate:
    x, (axes, keep) = call[0], _axes(call)
    if is_float(x.dtype):
        return average(x, axes, keep)
    count = prod(x.value.shape[axis] for axis in axes)
    if not count:
        return _open(total(x, axes, keep))
    summed = np.asarray(x.value.sum(axes, keepdims=keep))
    low, high = limits(x.dtype)
    # A sum of int64 wraps around; the longest type holds it but for roundings.
    size = x.value.astype(np.longdouble).sum(axes, keepdims=keep)
    open_ = (size < low) | (size > high) | np.asarray(unknown(x).any(axes, keepdims=keep))
    # A fraction is rounded down by some, and towards 0 by others.
    open_ = open_ | ((summed % count != 0) & (summed < 0))
    return unconstrain(Estimate(summed // count, np.zeros(summed.shape), x.dtype), open_)


@operator("ReduceMax")
def _max(call: Call) -> Estimate:
    axes, keep = _axes(call)
    return _defined(call, axes, extreme_over(call[0], axes, keep, largest=True))


@operator("ReduceMin")
def _min(call: Call) -> Estimate:
    axes, keep = _axes(call)
    return _defined(call, axes, extreme_over(call[0], axes, keep, largest=False))


@operator("ReduceL1")
def _l1(call: Call) -> Estimate:
    axes, keep = _axes(call)
    return _defined(call, axes, total(relax("abs", call[0]), axes, keep))


@operator("ReduceSumSquare")
def _sum_square(call: Call) -> Estimate:
    axes, keep = _axes(call)
    return _defined(call, axes, total(_square(call[0]), axes, keep))


def _square(x: Estimate) -> Estimate:
    return relax("multiply", x, x)


@operator("ReduceL2")
def _l2(call: Call) -> Estimate:
    x, (axes, keep) = call[0], _axes(call)
    if is_float(x.dtype):
        root = norm(x, 2, lambda each: np.asarray(each.sum(axes, keepdims=keep)))
        return _defined(call, axes, root)
    return _defined(call, axes, _whole_root(x, axes, keep))


def _whole_root(x: Estimate, axes: tuple[int, ...], keep: bool) -> Estimate:
    """The root of integers where it is one; a fraction is cut off, or rounded."""
    wide = x.value.astype(object)
    squares = np.asarray(np.sum(np.asarray(wide * wide, object), axes, keepdims=keep), object)
    roots = np.array([isqrt(int(each)) for each in squares.ravel()], object)
    roots = roots.reshape(squares.shape)
    _, high = limits(x.dtype)
    open_ = np.asarray((roots * roots != squares) | (squares > high), np.bool_)
    open_ = open_ | np.asarray(unknown(x).any(axes, keepdims=keep))
    value = np.where(open_, 0, roots).astype(np.int64)
    return unconstrain(Estimate(value, np.zeros(value.shape), x.dtype), open_)


@operator("ReduceLogSum")
def _log_sum(call: Call) -> Estimate:
    x, (axes, keep) = call[0], _axes(call)
    summed = total(x, axes, keep)
    if is_float(x.dtype):
        return _defined(call, axes, relax("log", summed))
    return _open(summed)


@operator("ReduceLogSumExp")
def _log_sum_exp(call: Call) -> Estimate:
    """Off by a few roundings absolutely, and of the largest element, which is taken away first."""
    x, (axes, keep) = call[0], _axes(call)
    if not is_float(x.dtype):
        return _open(total(x, axes, keep))
    if _is_empty(call, axes):
        value = np.full(total(x, axes, keep).value.shape, -np.longdouble(np.inf))
        return _defined(call, axes, Estimate(value, np.zeros(value.shape), x.dtype))
    kept = ordinary(x)
    top = kept.value.max(axes, keepdims=True)
    summed = np.exp(kept.value - top).sum(axes, keepdims=True)
    value = np.asarray((top + np.log(summed)).reshape(_shape(x, axes, keep)))
    count = prod(x.value.shape[axis] for axis in axes)
    off = kept.error.max(axes, keepdims=keep)
    size = np.abs(kept.value).max(axes, keepdims=keep).astype(np.float64)
    unit = FORMATS[x.dtype].unit
    moved_by = off + unit * (2 * size + count + 2 * UNITS)
    lost = np.asarray(unknown(x).any(axes, keepdims=keep))
    return computed(x.dtype, value, np.asarray(moved_by), UNITS, unconstrained=lost)


def _shape(x: Estimate, axes: tuple[int, ...], keep: bool) -> tuple[int, ...]:
    return tuple(
        1 if at in axes else size for at, size in enumerate(x.value.shape) if keep or at not in axes
    )


@operator("ArgMax")
def _argmax(call: Call) -> Estimate:
    return place_of_extreme(call, "argmax")


@operator("ArgMin")
def _argmin(call: Call) -> Estimate:
    return place_of_extreme(call, "argmin")


def place_of_extreme(call: Call, name: str) -> Estimate:
    """The first of equal elements, or the last where the attribute says so."""
    x, keep = call[0], call.flag("keepdims")
    axis = axis_of(call.attribute("axis"), x.value.ndim)
    if not x.value.ndim:
        return Estimate(np.zeros((), np.int64), np.zeros(()), "int64")
    if not call.flag("select_last_index"):
        return relax(name, x, axis=axis, keepdims=keep)
    turned = relax(name, moved(x, lambda each: np.flip(each, axis)), axis=axis, keepdims=keep)
    last = x.value.shape[axis] - 1
    return Estimate(np.where(np.isinf(turned.error), 0, last - turned.value), turned.error, "int64")
