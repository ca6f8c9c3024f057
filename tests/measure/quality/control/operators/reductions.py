"""Sums, products, extremes and their places, running sums, softmax."""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import (
    FLOATS,
    Array,
    Type,
    axes_of,
    axis_of,
    flag,
    one_dtype,
    operator,
    refuse,
)
from tests.measure.quality.control.rounding import computed_in, constant, function
from tests.measure.quality.control.summation import Freedom, reduced, running


def _infer(node: Node, operands: Sequence[Type], dtype: str | None = None) -> Type:
    (x,) = operands
    axes = axes_of(node, x.rank)
    return Type(without(x.shape, axes, flag(node, "keepdims", False)), dtype or x.dtype)


def _infer_float(node: Node, operands: Sequence[Type]) -> Type:
    return _infer(node, operands, one_dtype(node, operands, FLOATS))


def _infer_extreme(node: Node, operands: Sequence[Type]) -> Type:
    (x,) = operands
    if any(x.shape[axis] == 0 for axis in axes_of(node, x.rank)):
        raise refuse(node, f"axis: no elements to choose from in shape {list(x.shape)}")
    return _infer(node, operands)


def without(shape: Sequence[int], axes: Sequence[int], keep: bool) -> tuple[int, ...]:
    """``shape`` without ``axes``, or with size 1 along them."""
    sizes = ((axis in axes, size) for axis, size in enumerate(shape))
    return tuple(1 if gone else size for gone, size in sizes if keep or not gone)


def leading(x: Array, axes: Sequence[int]) -> Array:
    """``x`` with ``axes`` as one axis, in front of the others."""
    others = [axis for axis in range(x.ndim) if axis not in axes]
    count = prod(x.shape[axis] for axis in axes)
    return x.transpose(*axes, *others).reshape(count, *(x.shape[axis] for axis in others))


def mean(values: Array, freedom: Freedom) -> Array:
    """The mean of ``values`` over their first axis, in their dtype."""
    count = constant(len(values), values)
    total = reduced(values, freedom)
    if freedom.choice(("quotient", "product")) == "quotient":
        return total / count
    return total * (constant(1, values) / count)


def variance(values: Array, freedom: Freedom) -> Array:
    """The mean squared difference from the mean over the first axis, in two passes."""
    apart = values - mean(values, freedom)
    return mean(apart * apart, freedom)


Reduction = Callable[[Array, Freedom], Array]
"""Of values along their first axis, in their dtype."""


def _declare(name: str, infer: Any, reduce: Reduction, *, widens: bool = True) -> None:
    @operator(name, infer)
    def compute(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
        (x,) = operands
        axes = axes_of(node, x.ndim)
        shape = without(x.shape, axes, flag(node, "keepdims", False))
        values = leading(x, axes)
        if not widens or x.dtype.name not in FLOATS:
            return reduce(values, freedom).reshape(shape)
        reduced = computed_in(x.dtype, freedom, values, compute=lambda each: reduce(each, freedom))
        return reduced.reshape(shape)


def _root(values: Array, freedom: Freedom) -> Array:
    return np.sqrt(variance(values, freedom))


def _extreme(pick: np.ufunc, among_numbers: np.ufunc) -> Reduction:
    def reduce(values: Array, freedom: Freedom) -> Array:
        chosen = pick if freedom.choice(("all", "numbers")) == "all" else among_numbers
        result: Array = chosen.reduce(values, axis=0)
        return result

    return reduce


_declare("sum", _infer, reduced)
_declare("prod", _infer, lambda values, freedom: reduced(values, freedom, np.multiply))
_declare("mean", _infer_float, mean)
_declare("variance", _infer_float, variance)
_declare("std", _infer_float, _root)
_declare("max", _infer_extreme, _extreme(np.maximum, np.fmax), widens=False)
_declare("min", _infer_extreme, _extreme(np.minimum, np.fmin), widens=False)


def _infer_place(node: Node, operands: Sequence[Type]) -> Type:
    (x,) = operands
    axes = range(x.rank) if node.attributes.get("axis") is None else (axis_of(node, x.rank),)
    if any(x.shape[axis] == 0 for axis in axes):
        raise refuse(node, f"axis: no elements to choose from in shape {list(x.shape)}")
    return Type(without(x.shape, tuple(axes), flag(node, "keepdims", False)), "int64")


def _declare_place(name: str, beats: Callable[[Array, Array], Array]) -> None:
    @operator(name, _infer_place)
    def compute(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
        """The first of equal elements, one after the other."""
        (x,) = operands
        everywhere = node.attributes.get("axis") is None
        axes = tuple(range(x.ndim)) if everywhere else (axis_of(node, x.ndim),)
        values = leading(x, axes)
        place, best = np.zeros(values.shape[1:], np.int64), values[0]
        for at, each in enumerate(values[1:], 1):
            better = beats(each, best)
            place, best = np.where(better, at, place), np.where(better, each, best)
        return place.reshape(without(x.shape, axes, flag(node, "keepdims", False)))


_declare_place("argmax", np.greater)
_declare_place("argmin", np.less)


def _infer_running(node: Node, operands: Sequence[Type]) -> Type:
    (x,) = operands
    dtype = str(node.attributes.get("dtype") or x.dtype)
    if node.attributes.get("axis") is None:
        return Type((x.size,), dtype)
    axis_of(node, x.rank)
    return Type(x.shape, dtype)


def _declare_running(name: str, combine: np.ufunc) -> None:
    @operator(name, _infer_running)
    def compute(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
        x = operands[0]
        x = x.astype(np.dtype(str(node.attributes.get("dtype") or x.dtype.name)))
        flat = node.attributes.get("axis") is None
        x = x.reshape(-1) if flat else x
        axis = 0 if flat else axis_of(node, x.ndim)
        values = np.moveaxis(x, axis, 0)
        if flag(node, "exclusive", False):
            first = np.full((1, *values.shape[1:]), combine.identity, x.dtype)
            values = np.concatenate([first, values])[: len(values)]
        return np.moveaxis(running(values, freedom, combine), 0, axis)


_declare_running("cumsum", np.add)
_declare_running("cumprod", np.multiply)


def _infer_along(node: Node, operands: Sequence[Type]) -> Type:
    (x,) = operands
    axis_of(node, x.rank, default=-1)
    return Type(x.shape, one_dtype(node, operands, FLOATS))


def _declare_along(name: str, reduce: Reduction) -> None:
    @operator(name, _infer_along)
    def compute(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
        (x,) = operands
        if not x.size:
            return x
        axis = axis_of(node, x.ndim, default=-1)
        values = np.moveaxis(x, axis, 0)
        reduced = computed_in(x.dtype, freedom, values, compute=lambda each: reduce(each, freedom))
        return np.moveaxis(reduced, 0, axis)


def _softmax(values: Array, freedom: Freedom) -> Array:
    weights = function(np.exp, values - np.maximum.reduce(values, axis=0), freedom)
    total = reduced(weights, freedom)
    if freedom.choice(("quotient", "product")) == "quotient":
        return weights / total
    return weights * (constant(1, values) / total)


def _log_softmax(values: Array, freedom: Freedom) -> Array:
    top = np.maximum.reduce(values, axis=0)
    total = reduced(function(np.exp, values - top, freedom), freedom)
    logarithm = function(np.log, total, freedom)
    if freedom.choice(("twice", "once")) == "twice":
        return (values - top) - logarithm
    return values - (top + logarithm)


_declare_along("nn.softmax", _softmax)
_declare_along("nn.log_softmax", _log_softmax)
