"""The reference's operators that move, repeat, pick or make elements, and compute nothing."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from relaxcheck.generators.core.program import ITEM, Node, ShapeValue
from relaxcheck.oracles.answer import Array, OutOfBounds
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.attribute_values import axes_of, integer, integers, number, text
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, exact
from relaxcheck.oracles.reference.evaluation import operator, same_dtype

_PAD_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def moved(operand: Estimate, move: Callable[[Array], Array]) -> Estimate:
    """``operand`` with value and error moved alike."""
    return replace(operand, value=move(operand.value), error=move(operand.error))


def joined(
    node: Node, operands: Sequence[Estimate], join: Callable[[list[Array]], Array]
) -> Estimate:
    """Several operands of one dtype as one, values and errors joined alike."""
    same_dtype(node, operands)
    value = join([each.value for each in operands])
    error = join([each.error for each in operands])
    signed = all(each.signed for each in operands)
    return replace(operands[0], value=value, error=error, signed=signed)


def _target(node: Node, operands: list[Estimate]) -> tuple[int, ...]:
    """The shape that a node is given: an attribute, or the value of its second operand."""
    if len(operands) > 1:
        return tuple(operands[1].value.tolist())
    return integers(node, "shape")


@operator("reshape")
def _reshape(node: Node, operands: list[Estimate]) -> Estimate:
    shape = _target(node, operands)
    # NumPy takes any negative number for the one that it finds by itself.
    if min(shape, default=0) < -1:
        raise ValueError(f"a dimension of {min(shape)}")
    return moved(operands[0], lambda each: each.reshape(shape))


@operator("flatten")
def _flatten(node: Node, operands: list[Estimate]) -> Estimate:
    return moved(operands[0], np.ravel)


@operator("nn.batch_flatten")
def _batch_flatten(node: Node, operands: list[Estimate]) -> Estimate:
    first, *rest = operands[0].value.shape
    return moved(operands[0], lambda each: each.reshape(first, prod(rest)))


@operator("squeeze")
def _squeeze(node: Node, operands: list[Estimate]) -> Estimate:
    has_axes = node.attributes.get("axis") is not None
    axes = axes_of(node, "axis", operands[0].value.ndim) if has_axes else None
    return moved(operands[0], lambda each: np.squeeze(each, axes))


@operator("expand_dims")
def _expand_dims(node: Node, operands: list[Estimate]) -> Estimate:
    return moved(operands[0], lambda each: np.expand_dims(each, integers(node, "axis")))


@operator("broadcast_to")
def _broadcast_to(node: Node, operands: list[Estimate]) -> Estimate:
    shape = _target(node, operands)
    return moved(operands[0], lambda each: np.broadcast_to(each, shape))


@operator("concat")
def _concat(node: Node, operands: list[Estimate]) -> Estimate:
    axis = integer(node, "axis", 0)
    return joined(node, operands, lambda each: np.concatenate(each, axis))


@operator("stack")
def _stack(node: Node, operands: list[Estimate]) -> Estimate:
    axis = integer(node, "axis", 0)
    return joined(node, operands, lambda each: np.stack(each, axis))


@operator("split")
def _split(node: Node, operands: list[Estimate]) -> Estimate:
    """Item ``item``: of sections of ``ceil(size / count)``, the last smaller; or between cuts."""
    axis, item = integer(node, "axis", 0), integer(node, ITEM)
    size = operands[0].value.shape[axis]
    wanted = node.attributes["indices_or_sections"]
    if isinstance(wanted, int):
        section = -(-size // wanted)
        begin, end = item * section, (item + 1) * section
    else:
        cuts = (0, *integers(node, "indices_or_sections"), size)
        begin, end = cuts[item : item + 2]
    part = slice(min(begin, size), min(end, size))
    return moved(operands[0], lambda each: np.moveaxis(np.moveaxis(each, axis, 0)[part], 0, axis))


@operator("flip")
def _flip(node: Node, operands: list[Estimate]) -> Estimate:
    return moved(operands[0], lambda each: np.flip(each, integer(node, "axis")))


@operator("repeat")
def _repeat(node: Node, operands: list[Estimate]) -> Estimate:
    axis = None if node.attributes.get("axis") is None else integer(node, "axis")
    return moved(operands[0], lambda each: np.repeat(each, integer(node, "repeats"), axis))


@operator("tile")
def _tile(node: Node, operands: list[Estimate]) -> Estimate:
    return moved(operands[0], lambda each: np.tile(each, integers(node, "repeats")))


@operator("take")
def _take(node: Node, operands: list[Estimate]) -> Estimate:
    axis = None if node.attributes.get("axis") is None else integer(node, "axis")
    if axis is None and operands[0].value.ndim != 1:
        raise ValueError("take without an axis wants a vector")
    if text(node, "mode", "fast") != "fast":
        raise ValueError("only indices in bounds are defined here")
    places = in_bounds(operands[1], operands[0].value.shape[axis or 0])
    return moved(operands[0], lambda each: np.take(each, places, axis))


def places_of(operand: Estimate) -> Array:
    """``operand`` as places in a tensor. Raises ``ValueError`` if its dtype is no integer's."""
    if operand.value.dtype.kind not in "iu":
        raise ValueError(f"places of {operand.dtype} are no integers")
    return operand.value


def in_bounds(indices: Estimate, size: int) -> Array:
    """``indices`` as places in an axis of ``size``. Raises ``OutOfBounds``."""
    places = places_of(indices)
    outside = places[(places < 0) | (places >= size)]
    if outside.size:
        raise OutOfBounds(f"the index {outside.flat[0]} is outside of an axis of {size}")
    return places


@operator("gather_elements")
def _gather_elements(node: Node, operands: list[Estimate]) -> Estimate:
    axis = integer(node, "axis", 0)
    places = in_bounds(operands[1], operands[0].value.shape[axis])
    kept = tuple(
        slice(None) if at == axis % places.ndim else slice(size)
        for at, size in enumerate(places.shape)
    )
    return moved(operands[0], lambda each: np.take_along_axis(each[kept], places, axis))


@operator("gather_nd")
def _gather_nd(node: Node, operands: list[Estimate]) -> Estimate:
    """``indices[..., :]`` are places on the axes after the first ``batch_dims``."""
    batch = integer(node, "batch_dims", 0)
    data, places = operands[0].value, operands[1].value
    depth = places.shape[-1]
    for at in range(depth):
        in_bounds(replace(operands[1], value=places[..., at]), data.shape[batch + at])
    grids = np.ix_(*(np.arange(size) for size in places.shape[:batch]))
    outer = [
        np.broadcast_to(
            grid.reshape(grid.shape + (1,) * (places.ndim - 1 - batch)), places.shape[:-1]
        )
        for grid in grids
    ]
    index = (*outer, *(places[..., at] for at in range(depth)))
    return moved(operands[0], lambda each: each[index])


@operator("strided_slice")
def _strided_slice(node: Node, operands: list[Estimate]) -> Estimate:
    axes = integers(node, "axes")
    strides = integers(node, "strides") if node.attributes.get("strides") else (1,) * len(axes)
    begin, end = integers(node, "begin"), integers(node, "end")
    return _sliced(operands[0], axes, begin, end, strides)


@operator("dynamic_strided_slice")
def _dynamic_strided_slice(node: Node, operands: list[Estimate]) -> Estimate:
    begin, end, strides = (places_of(each).tolist() for each in operands[1:4])
    return _sliced(operands[0], range(operands[0].value.ndim), begin, end, strides)


def _sliced(
    operand: Estimate,
    axes: Sequence[int],
    begin: Sequence[int],
    end: Sequence[int],
    strides: Sequence[int],
) -> Estimate:
    """Slices as NumPy means them: negative indices from the end, all clipped to the bounds."""
    parts = [slice(None)] * operand.value.ndim
    for axis, first, last, step in zip(axes, begin, end, strides, strict=True):
        parts[axis] = slice(first, last, step)
    return moved(operand, lambda each: each[tuple(parts)])


@operator("nn.pad")
def _pad(node: Node, operands: list[Estimate]) -> Estimate:
    width = integers(node, "pad_width")
    pairs = list(zip(width[::2], width[1::2], strict=True))
    mode = text(node, "pad_mode", "constant")
    operand = operands[0]
    for size, pair in zip(operand.value.shape, pairs, strict=True):
        most = {"reflect": size - 1, "circular": size, "replicate": max(pair) if size else 0}
        if max(pair) > max(most.get(mode, max(pair)), 0):
            raise ValueError(f"{mode} padding of {max(pair)} on {size} elements")
    if mode != "constant":
        return moved(operand, lambda each: np.pad(each, pairs, mode=_PAD_MODES[mode]))  # type: ignore[call-overload]
    fill = (
        bounds.cast(exact(np.array(number(node, "pad_value", 0.0)), "float64"), operand.dtype)
        if operand.dtype in FORMATS
        else exact(np.array(int(number(node, "pad_value", 0.0))), operand.dtype)
    )
    return replace(
        operand,
        value=np.pad(operand.value, pairs, constant_values=fill.value[()]),
        error=np.pad(operand.error, pairs),
    )


@operator("astype")
def _astype(node: Node, operands: list[Estimate]) -> Estimate:
    dtype, operand = text(node, "dtype"), operands[0]
    if dtype == "bool":
        unsure = (np.abs(operand.value) <= operand.error) & (operand.error > 0)
        return Estimate((operand.value != 0).astype(np.int64), np.where(unsure, np.inf, 0.0), dtype)
    if operand.dtype in FORMATS and dtype not in FORMATS:
        return _truncated(operand, dtype)
    return bounds.cast(operand, dtype)


def _truncated(operand: Estimate, dtype: str) -> Estimate:
    """Towards zero; unconstrained beyond the integer's range, or on both sides of an integer."""
    info = np.iinfo(dtype)
    kept = np.isfinite(operand.value) & np.isfinite(operand.error)
    value = np.where(kept, operand.value, 0)
    low, high = (np.trunc(value + side * operand.error) for side in (-1, 1))
    # -0.5 is cut to 0, which an unsigned integer holds; 2**bits - 1 may be no longdouble.
    kept &= (
        (low == high) & (value > info.min - 1) & (value < np.ldexp(1, info.bits - (info.min < 0)))
    )
    whole = np.where(kept, np.trunc(value), 0)
    # An unsigned integer beyond int64 is held as that which wraps around to it.
    whole = np.where(whole >= 2.0**63, whole - 2.0**64, whole).astype(np.int64)
    return Estimate(whole, np.where(kept, 0.0, np.inf), dtype)


@operator("match_cast")
def _match_cast(node: Node, operands: list[Estimate]) -> Estimate:
    operand, stated = operands[0], node.attributes.get("shape")
    shape = stated.dims if isinstance(stated, ShapeValue) else integers(node, "shape")
    # A symbol that the program counts has any size.
    fits = len(shape) == operand.value.ndim and all(
        isinstance(dim, str) or dim == size
        for dim, size in zip(shape, operand.value.shape, strict=True)
    )
    if not fits or operand.dtype != text(node, "dtype"):
        raise ValueError(f"{operand.dtype} {operand.value.shape} is no {shape}")
    return operand


@operator("shape_of")
def _shape_of(node: Node, operands: list[Estimate]) -> Estimate:
    return exact(np.array(operands[0].value.shape, np.int64), "int64")


@operator("shape_to_tensor")
def _shape_to_tensor(node: Node, operands: list[Estimate]) -> Estimate:
    return operands[0]


@operator("zeros")
def _zeros(node: Node, operands: list[Estimate]) -> Estimate:
    return _constant(node, 0)


@operator("ones")
def _ones(node: Node, operands: list[Estimate]) -> Estimate:
    return _constant(node, 1)


@operator("full")
def _full(node: Node, operands: list[Estimate]) -> Estimate:
    return _constant(node, number(node, "fill_value"))


def _constant(node: Node, value: float) -> Estimate:
    dtype, shape = text(node, "dtype"), integers(node, "shape")
    if dtype in FORMATS:
        return bounds.cast(exact(np.full(shape, value, np.float64), "float64"), dtype)
    return exact(np.full(shape, value, np.int64), dtype)


@operator("where")
def _where(node: Node, operands: list[Estimate]) -> Estimate:
    condition, *chosen = operands
    if condition.dtype != "bool":
        raise ValueError(f"a condition of {condition.dtype}")
    unsure = np.isinf(condition.error)
    both = joined(node, chosen, lambda each: np.where(condition.value != 0, *each))
    # ONNX Runtime's Where adds what it takes to zeros, which turns a negative zero.
    both = replace(both, signed=False)
    if not unsure.any():
        return both
    return replace(
        both, value=np.where(unsure, 0, both.value), error=np.where(unsure, np.inf, both.error)
    )
