"""Operators that pick elements by number, or put them there.

Numbers count from the end where they are negative. One that is out of range is an invalid input.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from relaxcheck.generators.core.values import Array
from relaxcheck.oracles.onnx.reference.call import Call, axis_of, integers, operator
from relaxcheck.oracles.onnx.reference.values import is_float, moved
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.bounds import gamma, unconstrain
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, ordinary, unknown


def _numbers(indices: Estimate, sizes: Any) -> Array:
    """The ``indices``, counted from the first of as many as ``sizes``, broadcast.

    Raises:
        ValueError: one is not certain, or out of range.
    """
    if indices.error.any():
        raise ValueError("an index is not certain")
    sizes = np.asarray(sizes)
    if ((indices.value < -sizes) | (indices.value >= sizes)).any():
        raise ValueError("an index out of range")
    return np.asarray(np.where(indices.value < 0, indices.value + sizes, indices.value))


@operator("Gather")
def _gather(call: Call) -> Estimate:
    x = call[0]
    axis = axis_of(call.attribute("axis"), x.value.ndim)
    at = _numbers(call[1], x.value.shape[axis])
    return moved(x, lambda each: np.take(each, at, axis))


@operator("GatherElements")
def _gather_elements(call: Call) -> Estimate:
    x = call[0]
    axis = axis_of(call.attribute("axis"), x.value.ndim)
    where = _along(_numbers(call[1], x.value.shape[axis]), axis)
    return moved(x, lambda each: each[where])


def _along(at: Array, axis: int) -> tuple[Array, ...]:
    """The index of ``at`` along ``axis``, and of its own places along the others."""
    grid: list[Array] = [np.asarray(each) for each in np.indices(at.shape)]
    grid[axis] = at
    return tuple(grid)


@operator("GatherND")
def _gather_nd(call: Call) -> Estimate:
    x, indices, batch = call[0], call[1], call.attribute("batch_dims") or 0
    depth = indices.value.shape[-1]
    at = _numbers(indices, x.value.shape[batch : batch + depth])
    lead = np.indices(at.shape[:batch]).reshape(batch, *at.shape[:batch])
    spare = at.ndim - 1 - batch
    first = tuple(each.reshape(*each.shape, *[1] * spare) for each in lead)
    where = (*first, *np.moveaxis(at, -1, 0))
    return moved(x, lambda each: each[where])


_UFUNCS = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def _put(x: Estimate, where: Any, updates: Estimate, how: str) -> Estimate:
    """``x`` with ``updates`` at ``where``, combined as ``how`` says.

    An element that is replaced twice is unconstrained. Sums and products are in any order.
    """
    count = np.zeros(x.value.shape, np.int64)
    np.add.at(count, where, 1)
    lost = unknown(x) & np.ones(x.value.shape, np.bool_) & (count > 0)
    np.logical_or.at(lost, where, unknown(updates))
    if how == "none":
        value, error = x.value.copy(), x.error.copy()
        value[where], error[where] = updates.value, updates.error
        signed = x.signed and updates.signed
        return unconstrain(Estimate(value, error, x.dtype, signed=signed), count > 1)
    touched = replace(ordinary(x), signed=False)
    by = ordinary(updates)
    value = touched.value.copy()
    _UFUNCS[how].at(value, where, by.value)
    if not is_float(x.dtype):
        return unconstrain(bounds.wrapped(value, x.dtype), lost)
    error = _combined_error(touched, where, by, how, count, value)
    result = Estimate(value, error, x.dtype)
    largest = FORMATS[x.dtype].largest if x.dtype in FORMATS else np.inf
    lost = lost | ~(np.abs(value) + error <= largest)
    kept = count == 0
    result = replace(
        result, value=np.where(kept, x.value, value), error=np.where(kept, x.error, error)
    )
    return unconstrain(result, lost & ~kept)


def _combined_error(
    x: Estimate, where: Any, by: Estimate, how: str, count: Array, value: Array
) -> Array:
    size, more = np.abs(x.value).astype(np.float64), np.abs(by.value).astype(np.float64)
    if how in ("max", "min"):
        sides = []
        for side in (-1, 1):
            moved_by = x.value + side * x.error
            _UFUNCS[how].at(moved_by, where, by.value + side * by.error)
            sides.append(np.abs(moved_by - value))
        return np.maximum(*sides).astype(np.float64)
    ufunc: Any = _UFUNCS[how]
    high, plain = size + x.error, size.copy()
    ufunc.at(high, where, more + by.error)
    ufunc.at(plain, where, more)
    # The order is free, so partial products may be larger than the product.
    grown = np.maximum(size + x.error, 1)
    np.multiply.at(grown, where, np.maximum(more + by.error, 1))
    form = FORMATS[x.dtype]
    own = np.where(count > 0, gamma(count + 1, form.unit) * high, 0)
    floor = count * form.floor * (grown if how == "mul" else 1)
    if how == "add":
        off = x.error.copy()
        np.add.at(off, where, by.error)
        return np.asarray(off + own + floor)
    return np.asarray((high - plain) + own + floor)


@operator("ScatterElements")
def _scatter_elements(call: Call) -> Estimate:
    x = call[0]
    axis = axis_of(call.attribute("axis"), x.value.ndim)
    where = _along(_numbers(call[1], x.value.shape[axis]), axis)
    return _put(x, where, call[2], call.attribute("reduction") or "none")


operator("Scatter")(_scatter_elements)


@operator("ScatterND")
def _scatter_nd(call: Call) -> Estimate:
    x, indices = call[0], call[1]
    at = _numbers(indices, x.value.shape[: indices.value.shape[-1]])
    # Updates hold a slice for each index.
    where = tuple(np.moveaxis(at, -1, 0))
    return _put(x, where, call[2], call.attribute("reduction") or "none")


@operator("TensorScatter")
def _tensor_scatter(call: Call) -> Estimate:
    x, updates, begins = call[0], call[1], call.optional(2)
    axis = axis_of(call.attribute("axis"), x.value.ndim)
    batch, length = x.value.shape[0], x.value.shape[axis]
    first = np.zeros(batch, np.int64) if begins is None else np.array(integers(begins))
    at = list(np.indices(updates.value.shape))
    at[axis] = at[axis] + first[at[0]]
    if call.attribute("mode") == "circular":
        at[axis] = at[axis] % length
    elif at[axis].size and (at[axis].min() < 0 or at[axis].max() >= length):
        raise ValueError("an update beyond the end")
    return _put(x, tuple(at), updates, "none")


@operator("Compress")
def _compress(call: Call) -> Estimate:
    x, axis = call[0], call.attribute("axis")
    kept = np.array(integers(call[1]), np.bool_)
    size = x.value.size if axis is None else x.value.shape[axis]
    if kept.size > size:
        raise ValueError(f"{kept.size} truth values for {size}")
    places = np.flatnonzero(kept)
    if axis is None:
        return moved(x, lambda each: each.ravel()[places])
    return moved(x, lambda each: np.take(each, places, axis))


@operator("NonZero")
def _non_zero(call: Call) -> Estimate:
    x = call[0]
    if ((x.error > 0) & ~(np.abs(x.value) > x.error)).any():
        raise ValueError("an element may be 0 or not")
    # Of a scalar there is one element, and no axis to number it along.
    value = np.stack(np.nonzero(np.atleast_1d(x.value)))
    value = value[: x.value.ndim]
    return Estimate(value.astype(np.int64), np.zeros(value.shape), "int64")


@operator("OneHot")
def _one_hot(call: Call) -> Estimate:
    """A number out of range gives nothing but the first value."""
    indices, depth, values = call[0], call[1], call[2]
    count = int(depth.value.ravel()[0])
    if depth.error.any() or indices.error.any():
        raise ValueError("an index is not certain")
    at = np.trunc(indices.value).astype(np.int64) if is_float(indices.dtype) else indices.value
    rank = at.ndim + 1
    axis = axis_of(call.attribute("axis"), rank)
    inside = (at >= -count) & (at < count)
    at = np.expand_dims(np.where(at < 0, at + count, at), axis)
    line = np.arange(count).reshape([-1 if each == axis else 1 for each in range(rank)])
    hot = (at == line) & np.expand_dims(inside, axis)
    return moved(values, lambda each: np.where(hot, each[1], each[0]))


@operator("Unique")
def _unique(call: Call) -> tuple[Estimate, ...]:
    """The elements, or slices, that differ; where each occurs first; which one each is; counts."""
    x, axis = call[0], call.attribute("axis")
    if x.error.any() or np.isnan(x.value.astype(np.longdouble)).any():
        raise ValueError("of elements that are not certain, or NaN")
    array = x.value.ravel() if axis is None else np.moveaxis(x.value, axis, 0)
    rows = array.reshape(array.shape[0], -1)
    found: dict[tuple[Any, ...], int] = {}
    first: list[int] = []
    inverse: list[int] = []
    for at, row in enumerate(map(tuple, rows.tolist())):
        if row not in found:
            found[row] = len(first)
            first.append(at)
        inverse.append(found[row])
    order = list(range(len(first)))
    if call.flag("sorted"):
        order.sort(key=list(found).__getitem__)
    rank = {number: at for at, number in enumerate(order)}
    places = np.array([first[each] for each in order], np.int64)
    which = np.array([rank[each] for each in inverse], np.int64)
    counts = np.bincount(which, minlength=len(order)) if which.size else np.zeros(0, np.int64)
    kept = moved(
        replace(x, signed=False),
        lambda each: each.ravel()[places] if axis is None else np.take(each, places, axis),
    )
    numbers = (np.asarray(each, np.int64) for each in (places, which, counts))
    return kept, *(Estimate(each, np.zeros(each.shape), "int64") for each in numbers)
