"""Operators that pick elements by index: gathers and slices."""

from collections.abc import Sequence

import numpy as np

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import (
    Array,
    Type,
    UnknownShape,
    axes_of,
    axis_of,
    operator,
    refuse,
    text,
    whole,
    wholes,
)
from tests.measure.quality.control.operators.movement import along, replaced
from tests.measure.quality.control.summation import Freedom


def _whole_numbers(node: Node, indices: Type) -> None:
    if not indices.dtype.startswith(("int", "uint")):
        raise refuse(node, f"the dtype of the indices is {indices.dtype}, not an integer's")


def _inside(indices: Array, size: int) -> Array:
    """``indices``, all of which are below ``size``: programs with others are not drawn."""
    if ((indices < 0) | (indices >= size)).any():
        raise AssertionError(f"an index is not below {size}")
    return indices.astype(np.int64)


def _taken_axis(node: Node, x: Type) -> int:
    if node.attributes.get("axis") is None:
        if x.rank != 1:
            raise refuse(node, f"axis is missing, and the tensor has rank {x.rank}")
        return 0
    return axis_of(node, x.rank)


def _infer_take(node: Node, operands: Sequence[Type]) -> Type:
    x, indices = operands
    _whole_numbers(node, indices)
    if text(node, "mode", "fast") != "fast":
        raise NotImplementedError("take in a mode other than fast")
    return Type(replaced(x.shape, _taken_axis(node, x), *indices.shape), x.dtype)


@operator("take", _infer_take)
def _take(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    x, indices = operands
    axis = _taken_axis(node, Type(x.shape, x.dtype.name))
    flat = along(x, axis, _inside(indices, x.shape[axis]).ravel())
    return flat.reshape(replaced(x.shape, axis, *indices.shape))


def _infer_gather_elements(node: Node, operands: Sequence[Type]) -> Type:
    x, indices = operands
    _whole_numbers(node, indices)
    axis = axis_of(node, x.rank, default=0)
    if indices.rank != x.rank:
        raise refuse(node, f"the indices have rank {indices.rank}, the data {x.rank}")
    for at, (size, most) in enumerate(zip(indices.shape, x.shape, strict=True)):
        if at != axis and size > most:
            raise refuse(node, f"dimension {at} of the indices is {size}, above {most}")
    return Type(indices.shape, x.dtype)


@operator("gather_elements", _infer_gather_elements)
def _gather_elements(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    x, indices = operands
    axis = axis_of(node, x.ndim, default=0)
    places = list(np.ogrid[tuple(slice(size) for size in indices.shape)])
    places[axis] = _inside(indices, x.shape[axis])
    return x[tuple(places)]


def _infer_gather_nd(node: Node, operands: Sequence[Type]) -> Type:
    x, indices = operands
    _whole_numbers(node, indices)
    batch = whole(node, "batch_dims", 0)
    depth = indices.shape[-1] if indices.rank else 0
    if not 0 <= batch < max(indices.rank, 1) or batch + depth > x.rank:
        raise refuse(node, f"batch_dims {batch} and indices of depth {depth} for rank {x.rank}")
    if indices.shape[:batch] != x.shape[:batch]:
        raise refuse(node, f"the first {batch} dimensions (batch_dims) differ")
    return Type((*indices.shape[:-1], *x.shape[batch + depth :]), x.dtype)


@operator("gather_nd", _infer_gather_nd)
def _gather_nd(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    """One result after the other."""
    x, indices = operands
    batch, depth = whole(node, "batch_dims", 0), indices.shape[-1]
    outer = indices.shape[:-1]
    result = np.empty((*outer, *x.shape[batch + depth :]), x.dtype)
    for place in np.ndindex(*outer):
        wanted = tuple(int(each) for each in indices[place])
        for axis, each in enumerate(wanted, batch):
            _inside(np.array(each), x.shape[axis])
        result[place] = x[(*place[:batch], *wanted)]
    return result


def _places(size: int, begin: int, end: int, stride: int) -> list[int]:
    """The places of a slice along an axis of ``size``, as Python's and NumPy's slices have it."""
    if begin < 0:
        begin += size
    if end < 0:
        end += size
    low, high = (0, size) if stride > 0 else (-1, size - 1)
    begin, end = (min(max(each, low), high) for each in (begin, end))
    return list(range(begin, end, stride))


def _slices(node: Node, rank: int) -> list[tuple[int, int, int, int]]:
    """Axis, begin, end and stride of each axis that is sliced."""
    axes = axes_of(node, rank, "axes")
    begin, end = wholes(node, "begin"), wholes(node, "end")
    strides = wholes(node, "strides", (1,) * len(axes)) or (1,) * len(axes)
    lengths = {len(each) for each in (axes, begin, end, strides)}
    if len(lengths) != 1:
        raise refuse(node, f"axes, begin, end and strides have the lengths {sorted(lengths)}")
    if 0 in strides:
        raise refuse(node, f"strides {list(strides)} has a 0")
    return list(zip(axes, begin, end, strides, strict=True))


def _infer_strided_slice(node: Node, operands: Sequence[Type]) -> Type:
    x = operands[0]
    shape = x.shape
    for axis, *ends in _slices(node, x.rank):
        shape = replaced(shape, axis, len(_places(x.shape[axis], *ends)))
    return Type(shape, x.dtype)


@operator("strided_slice", _infer_strided_slice)
def _strided_slice(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    x = operands[0]
    for axis, *ends in _slices(node, x.ndim):
        x = along(x, axis, _places(x.shape[axis], *ends))
    return x


def _infer_dynamic(node: Node, operands: Sequence[Type]) -> Type:
    x, *lists = operands
    for name, each in zip(("begin", "end", "strides"), lists, strict=True):
        if each.dtype != "int64":
            raise refuse(node, f"the dtype of {name} is {each.dtype}, not int64")
        if each.shape != (x.rank,):
            raise refuse(node, f"{name} has the shape {list(each.shape)}, not [{x.rank}]")
    values = [each.values for each in lists]
    if None in values:
        raise UnknownShape(node.name)
    rows = zip(x.shape, *(each or () for each in values), strict=True)
    return Type(tuple(len(_places(*row)) for row in rows), x.dtype)


@operator("dynamic_strided_slice", _infer_dynamic)
def _dynamic_strided_slice(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    x, *lists = operands
    for axis, ends in enumerate(zip(*(each.tolist() for each in lists), strict=True)):
        x = along(x, axis, _places(x.shape[axis], *ends))
    return x
