"""Operators that give their elements other places, and compute nothing.

Each result is gathered: an index array says which element stands where.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import ml_dtypes
import numpy as np

from relaxcheck.generators.core.program import ITEM, Node, ShapeValue
from relaxcheck.generators.core.values import FOREIGN, numpy_dtype
from tests.measure.quality.control.operator import (
    FLOATS,
    Array,
    Type,
    UnknownShape,
    axes_of,
    axis_of,
    number,
    one_dtype,
    operator,
    refuse,
    text,
    whole,
    wholes,
)
from tests.measure.quality.control.summation import Freedom


def along(x: Array, axis: int, places: Sequence[int] | Array) -> Array:
    """``x`` with the elements at ``places`` along ``axis``, in their order."""
    index: list[Any] = [slice(None)] * x.ndim
    index[axis] = np.asarray(places, np.int64)
    result: Array = x[tuple(index)]
    return result


def replaced(shape: Sequence[int], axis: int, *sizes: int) -> tuple[int, ...]:
    """``shape`` with ``sizes`` in place of that of ``axis``."""
    return (*shape[:axis], *sizes, *shape[axis + 1 :])


def _target(node: Node, operands: Sequence[Type]) -> tuple[int, ...]:
    """The shape asked for: an attribute, or the value of the second operand."""
    if len(operands) < 2:
        return wholes(node, "shape")
    if operands[1].values is None:
        raise UnknownShape(node.name)
    return operands[1].values


def _infer_reshape(node: Node, operands: Sequence[Type]) -> Type:
    x, target = operands[0], _target(node, operands)
    if target.count(-1) > 1 or min(target, default=0) < -1:
        raise refuse(node, f"shape {list(target)} has more than one dimension left open")
    rest = prod(size for size in target if size != -1)
    if -1 in target:
        if rest == 0 or x.size % rest:
            raise refuse(node, f"shape {list(target)} does not divide {x.size} elements")
        target = tuple(x.size // rest if size == -1 else size for size in target)
    elif rest != x.size:
        raise refuse(node, f"shape {list(target)} has {rest} elements, the operand {x.size}")
    return Type(target, x.dtype)


@operator("reshape", _infer_reshape)
def _reshape(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    target = tuple(operands[1].tolist()) if len(operands) > 1 else wholes(node, "shape")
    if -1 in target:
        rest = prod(size for size in target if size != -1)
        target = tuple(operands[0].size // rest if size == -1 else size for size in target)
    return operands[0].ravel().reshape(target)


@operator("flatten", lambda node, operands: Type((operands[0].size,), operands[0].dtype))
def _flatten(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    return operands[0].ravel()


def _infer_batch_flatten(node: Node, operands: Sequence[Type]) -> Type:
    (x,) = operands
    return Type((x.shape[0], prod(x.shape[1:])), x.dtype)


@operator("nn.batch_flatten", _infer_batch_flatten)
def _batch_flatten(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    (x,) = operands
    return x.ravel().reshape(x.shape[0], prod(x.shape[1:]))


def _permutation(node: Node, rank: int) -> tuple[int, ...]:
    if node.attributes.get("axes") is None:
        return tuple(range(rank))[::-1]
    axes = axes_of(node, rank, "axes")
    if len(axes) != rank:
        raise refuse(node, f"axes {list(axes)} of a tensor of rank {rank}")
    return axes


def _infer_permuted(node: Node, operands: Sequence[Type]) -> Type:
    (x,) = operands
    return Type(tuple(x.shape[axis] for axis in _permutation(node, x.rank)), x.dtype)


@operator("permute_dims", _infer_permuted)
def _permute_dims(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    return operands[0].transpose(_permutation(node, operands[0].ndim))


def _infer_squeeze(node: Node, operands: Sequence[Type]) -> Type:
    (x,) = operands
    if node.attributes.get("axis") is None:
        return Type(tuple(size for size in x.shape if size != 1), x.dtype)
    axes = axes_of(node, x.rank)
    for axis in axes:
        if x.shape[axis] != 1:
            raise refuse(node, f"axis {axis} has the size {x.shape[axis]}, not 1")
    return Type(tuple(n for axis, n in enumerate(x.shape) if axis not in axes), x.dtype)


@operator("squeeze", _infer_squeeze)
def _squeeze(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    (x,) = operands
    return x.reshape(_infer_squeeze(node, [Type(x.shape, x.dtype.name)]).shape)


def _infer_expanded(node: Node, operands: Sequence[Type]) -> Type:
    (x,) = operands
    axes = axes_of(node, x.rank + len(wholes(node, "axis")))
    sizes = iter(x.shape)
    return Type(
        tuple(1 if axis in axes else next(sizes) for axis in range(x.rank + len(axes))), x.dtype
    )


@operator("expand_dims", _infer_expanded)
def _expand_dims(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    (x,) = operands
    return x.reshape(_infer_expanded(node, [Type(x.shape, x.dtype.name)]).shape)


def _infer_broadcast(node: Node, operands: Sequence[Type]) -> Type:
    x, target = operands[0], _target(node, operands)
    fits = len(target) >= x.rank and all(
        size in (1, wanted) for size, wanted in zip(x.shape[::-1], target[::-1], strict=False)
    )
    if not fits:
        raise refuse(node, f"the shape {list(x.shape)} does not broadcast to {list(target)}")
    return Type(target, x.dtype)


@operator("broadcast_to", _infer_broadcast)
def _broadcast_to(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    x = operands[0]
    target = tuple(operands[1].tolist()) if len(operands) > 1 else wholes(node, "shape")
    x = x.reshape((1,) * (len(target) - x.ndim) + x.shape)
    for axis, (size, wanted) in enumerate(zip(x.shape, target, strict=True)):
        if size != wanted:
            x = along(x, axis, [0] * wanted)
    return x


def _infer_concat(node: Node, operands: Sequence[Type]) -> Type:
    first, dtype = operands[0], one_dtype(node, operands)
    axis = axis_of(node, first.rank, default=0)
    for each in operands:
        if each.rank != first.rank:
            raise refuse(node, f"the ranks of the operands differ: {first.rank} and {each.rank}")
        if replaced(each.shape, axis) != replaced(first.shape, axis):
            shapes = f"{list(first.shape)} and {list(each.shape)}"
            raise refuse(node, f"the shapes {shapes} differ in a dimension other than axis {axis}")
    total = sum(each.shape[axis] for each in operands)
    return Type(replaced(first.shape, axis, total), dtype)


@operator("concat", _infer_concat)
def _concat(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    return _joined(operands, axis_of(node, operands[0].ndim, default=0))


def _joined(parts: Sequence[Array], axis: int) -> Array:
    total = sum(each.shape[axis] for each in parts)
    result = np.empty(replaced(parts[0].shape, axis, total), parts[0].dtype)
    first = 0
    for each in parts:
        index = (*[slice(None)] * axis, slice(first, first + each.shape[axis]))
        result[index] = each
        first += each.shape[axis]
    return result


def _infer_stack(node: Node, operands: Sequence[Type]) -> Type:
    first, dtype = operands[0], one_dtype(node, operands)
    axis = axis_of(node, first.rank + 1, default=0)
    for each in operands:
        if each.shape != first.shape:
            shapes = f"{list(first.shape)} and {list(each.shape)}"
            raise refuse(node, f"the shapes of the operands differ: {shapes}")
    return Type((*first.shape[:axis], len(operands), *first.shape[axis:]), dtype)


@operator("stack", _infer_stack)
def _stack(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    axis, shape = axis_of(node, operands[0].ndim + 1, default=0), operands[0].shape
    thin = (*shape[:axis], 1, *shape[axis:])
    return _joined([each.reshape(thin) for each in operands], axis)


def _section(node: Node, x: Type) -> tuple[int, int, int]:
    """Axis, first place and end of the item that ``node`` is."""
    axis, item = axis_of(node, x.rank, default=0), whole(node, ITEM)
    size, wanted = x.shape[axis], node.attributes.get("indices_or_sections")
    if isinstance(wanted, int):
        if wanted < 1:
            raise refuse(node, f"indices_or_sections {wanted} is below 1")
        length = -(-size // wanted)
        return axis, min(item * length, size), min((item + 1) * length, size)
    cuts = [0, *wholes(node, "indices_or_sections"), size]
    first, end = min(cuts[item], size), min(cuts[item + 1], size)
    return axis, first, max(first, end)


def _infer_split(node: Node, operands: Sequence[Type]) -> Type:
    (x,) = operands
    axis, first, end = _section(node, x)
    return Type(replaced(x.shape, axis, end - first), x.dtype)


@operator("split", _infer_split)
def _split(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    (x,) = operands
    axis, first, end = _section(node, Type(x.shape, x.dtype.name))
    return along(x, axis, range(first, end))


def _infer_flip(node: Node, operands: Sequence[Type]) -> Type:
    axes_of(node, operands[0].rank)
    return operands[0]


@operator("flip", _infer_flip)
def _flip(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    (x,) = operands
    for axis in axes_of(node, x.ndim):
        x = along(x, axis, range(x.shape[axis])[::-1])
    return x


def _infer_repeat(node: Node, operands: Sequence[Type]) -> Type:
    (x,), count = operands, whole(node, "repeats")
    if count < 1:
        raise refuse(node, f"repeats {count} is below 1")
    if node.attributes.get("axis") is None:
        return Type((x.size * count,), x.dtype)
    axis = axis_of(node, x.rank)
    return Type(replaced(x.shape, axis, x.shape[axis] * count), x.dtype)


@operator("repeat", _infer_repeat)
def _repeat(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    (x,), count = operands, whole(node, "repeats")
    flat = node.attributes.get("axis") is None
    x, axis = (x.ravel(), 0) if flat else (x, axis_of(node, x.ndim))
    return along(x, axis, np.arange(x.shape[axis] * count) // count)


def _infer_tile(node: Node, operands: Sequence[Type]) -> Type:
    (x,), counts = operands, wholes(node, "repeats")
    if min(counts, default=1) < 1:
        raise refuse(node, f"repeats {list(counts)} has a number below 1")
    rank = max(len(counts), x.rank)
    sizes = (1,) * (rank - x.rank) + x.shape
    times = (1,) * (rank - len(counts)) + counts
    return Type(tuple(n * c for n, c in zip(sizes, times, strict=True)), x.dtype)


@operator("tile", _infer_tile)
def _tile(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    (x,) = operands
    shape = _infer_tile(node, [Type(x.shape, x.dtype.name)]).shape
    x = x.reshape((1,) * (len(shape) - x.ndim) + x.shape)
    for axis, size in enumerate(shape):
        if size != x.shape[axis]:
            x = along(x, axis, np.arange(size) % x.shape[axis])
    return x


_MIRRORS = ("reflect", "replicate", "circular")


def _padding(node: Node, x: Type) -> tuple[list[tuple[int, int]], str]:
    """The numbers of elements before and after along each axis, and the mode."""
    width, mode = wholes(node, "pad_width"), text(node, "pad_mode", "constant")
    if len(width) != 2 * x.rank:
        raise refuse(node, f"pad_width {list(width)} has {len(width)} numbers for rank {x.rank}")
    if mode not in ("constant", *_MIRRORS):
        raise refuse(node, f"pad_mode {mode!r} is unknown")
    pairs = list(zip(width[::2], width[1::2], strict=True))
    if min(width, default=0) < 0:
        raise refuse(node, f"pad_width {list(width)} is negative")
    for size, pair in zip(x.shape, pairs, strict=True):
        most = {"reflect": size - 1, "circular": size, "replicate": max(pair) * bool(size)}
        if max(pair) > max(most.get(mode, max(pair)), 0):
            raise refuse(node, f"pad_width {pair} by {mode} on {size} elements")
    return pairs, mode


def _infer_pad(node: Node, operands: Sequence[Type]) -> Type:
    (x,) = operands
    pairs, _ = _padding(node, x)
    return Type(tuple(b + n + a for n, (b, a) in zip(x.shape, pairs, strict=True)), x.dtype)


@operator("nn.pad", _infer_pad)
def _pad(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    (x,) = operands
    pairs, mode = _padding(node, Type(x.shape, x.dtype.name))
    fill = np.array(number(node, "pad_value", 0.0)).astype(x.dtype)
    for axis, (before, after) in enumerate(pairs):
        size = x.shape[axis]
        away = np.arange(-before, size + after)
        if mode == "constant" or not size:
            inside = (away >= 0) & (away < size)
            # An empty axis has no element to put anywhere.
            wide = along(x, axis, np.where(inside, away, 0)) if size else None
            shape = replaced(x.shape, axis, len(away))
            shown = inside.reshape((-1, *[1] * (x.ndim - axis - 1)))
            x = np.full(shape, fill) if wide is None else np.where(shown, wide, fill)
        elif mode == "replicate":
            x = along(x, axis, np.clip(away, 0, size - 1))
        elif mode == "circular":
            x = along(x, axis, away % size)
        else:
            x = along(x, axis, size - 1 - np.abs(size - 1 - np.abs(away)))
    return x


_CAST = (*FLOATS, *(name for name in FOREIGN if name not in FLOATS))
"""The floating-point formats of casts."""


def _infer_cast(node: Node, operands: Sequence[Type]) -> Type:
    return Type(operands[0].shape, text(node, "dtype", ""))


@operator("astype", _infer_cast)
def _astype(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    (x,), dtype = operands, text(node, "dtype", "")
    if dtype == "bool":
        return x != 0
    if x.dtype.name in _CAST and dtype not in _CAST:
        # Beyond the integers there is no result that is wrong.
        info = np.iinfo(dtype)
        inside = np.where(np.isfinite(x.astype(np.float64)), x.astype(np.longdouble), 0)
        inside = np.clip(np.trunc(inside), info.min, info.max)
        held: Array = np.array([int(each) for each in inside.ravel().tolist()], np.dtype(dtype))
        return held.reshape(x.shape)
    kind = numpy_dtype(dtype)
    if dtype in _CAST and kind.itemsize < 4:
        # NumPy and ml_dtypes round some of these to float32 first.
        known, wide = ml_dtypes.finfo(kind), x.astype(np.longdouble)
        usual = np.where(np.isfinite(wide), wide, 0)
        least = np.frexp(np.longdouble(float(known.smallest_subnormal)))[1] - 1
        step = np.maximum(np.frexp(usual)[1] - int(known.nmant) - 1, least)
        near = np.ldexp(np.rint(np.ldexp(usual, -step)), step)
        x = np.where(np.isfinite(wide), np.copysign(near, wide), wide).astype(np.float64)
    return x.astype(kind)


def _infer_match_cast(node: Node, operands: Sequence[Type]) -> Type:
    (x,), dtype, stated = operands, text(node, "dtype", ""), node.attributes.get("shape")
    shape = stated.dims if isinstance(stated, ShapeValue) else wholes(node, "shape")
    if isinstance(stated, ShapeValue) and len(shape) == x.rank:
        # Symbols that the program counts have any size.
        shape = tuple(n if isinstance(d, str) else d for d, n in zip(shape, x.shape, strict=True))
    if (x.shape, x.dtype) != (shape, dtype):
        raise refuse(node, f"shape {list(x.shape)} of {x.dtype} is not {list(shape)} of {dtype}")
    return x


@operator("match_cast", _infer_match_cast)
def _match_cast(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    return operands[0]
