"""Operators that move, join, cut and repeat elements."""

import itertools
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from relaxcheck.generators.core.values import Array
from relaxcheck.oracles.onnx.reference.call import (
    Call,
    axes_of,
    axis_of,
    constant,
    integers,
    operator,
    shape_of,
)
from relaxcheck.oracles.onnx.reference.operators.casting import converted
from relaxcheck.oracles.onnx.reference.values import joined, moved
from relaxcheck.oracles.reference.bounds import unconstrain
from relaxcheck.oracles.reference.estimate import Estimate


@operator("Reshape")
def _reshape(call: Call) -> Estimate:
    """0 keeps a dimension, unless ``allowzero``; -1 is what the others leave."""
    old, wanted = shape_of(call[0]), list(call.integers("shape") or ())
    if not call.flag("allowzero"):
        if any(size == 0 and at >= len(old) for at, size in enumerate(wanted)):
            raise ValueError(f"shape {wanted} keeps a dimension that {old} lacks")
        wanted = [old[at] if size == 0 else size for at, size in enumerate(wanted)]
    if wanted.count(-1) > 1 or min(wanted, default=0) < -1:
        raise ValueError(f"shape {wanted}")
    rest = prod(size for size in wanted if size != -1)
    if -1 in wanted and rest == 0:
        raise ValueError(f"any size fits in {wanted}")
    return moved(call[0], lambda each: each.reshape(wanted))


@operator("Flatten")
def _flatten(call: Call) -> Estimate:
    shape, axis = shape_of(call[0]), call.attribute("axis")
    axis = axis + len(shape) if axis < 0 else axis
    return moved(call[0], lambda each: each.reshape(prod(shape[:axis]), prod(shape[axis:])))


@operator("Transpose")
def _transpose(call: Call) -> Estimate:
    axes = call.attribute("perm")
    return moved(call[0], lambda each: each.transpose(axes))


@operator("Squeeze")
def _squeeze(call: Call) -> Estimate:
    axes = call.integers("axes")
    places = None if axes is None else axes_of(axes, call[0].value.ndim)
    return moved(call[0], lambda each: np.squeeze(each, places))


@operator("Unsqueeze")
def _unsqueeze(call: Call) -> Estimate:
    axes = call.integers("axes") or ()
    return moved(call[0], lambda each: np.expand_dims(each, axes))


@operator("Expand")
def _expand(call: Call) -> Estimate:
    shape = np.broadcast_shapes(shape_of(call[0]), integers(call[1]))
    return moved(call[0], lambda each: np.broadcast_to(each, shape))


@operator("Tile")
def _tile(call: Call) -> Estimate:
    repeats = integers(call[1])
    return moved(call[0], lambda each: np.tile(each, repeats))


@operator("Concat")
def _concat(call: Call) -> Estimate:
    axis = axis_of(call.attribute("axis"), call[0].value.ndim)
    return joined(call.tensors, lambda each: np.concatenate(each, axis))


@operator("Split")
def _split(call: Call) -> tuple[Estimate, ...]:
    x = call[0]
    axis = axis_of(call.attribute("axis"), x.value.ndim)
    return parts(x, axis, _sections(call, x.value.shape[axis]))


def _sections(call: Call, size: int) -> tuple[int, ...]:
    stated = call.integers("split")
    if stated is not None:
        if sum(stated) != size or len(stated) != len(call.node.outputs):
            raise ValueError(f"parts of {stated} of {size}")
        return stated
    count = call.attribute("num_outputs") or len(call.node.outputs)
    section = -(-size // count)
    if size % count and call.since < 18:
        raise ValueError(f"{count} equal parts of {size}")
    rest = size - section * (count - 1)
    if rest < 0:
        raise ValueError(f"{count} parts of {size}")
    return (section,) * (count - 1) + (rest,)


def parts(x: Estimate, axis: int, sizes: tuple[int, ...]) -> tuple[Estimate, ...]:
    """``x`` cut along ``axis`` into parts of ``sizes``."""
    ends = np.cumsum((0, *sizes)).tolist()
    return tuple(
        moved(x, lambda each, a=start, b=end: _between(each, axis, a, b))  # type: ignore[misc]
        for start, end in itertools.pairwise(ends)
    )


def _between(array: Array, axis: int, start: int, end: int) -> Array:
    return array[(slice(None),) * axis + (slice(start, end),)]


_CLAMPED = 13
"""The version of ``Slice`` that says where bounds are moved to."""


@operator("Slice")
def _slice(call: Call) -> Estimate:
    """Bounds beyond an axis are moved to its ends: backwards, a start to the last element.

    NumPy moves a start before the first element to none, when it steps backwards; before opset 13
    the schema refers to NumPy and does not say which.
    """
    x = call[0]
    starts, ends = call.integers("starts") or (), call.integers("ends") or ()
    axes = call.integers("axes")
    places = axes_of(tuple(range(len(starts))) if axes is None else axes, x.value.ndim)
    strides = call.integers("steps") or (1,) * len(starts)
    for axis, start, end, step in zip(places, starts, ends, strides, strict=True):
        size = x.value.shape[axis]
        chosen = range(*slice(start, end, step).indices(size))
        if step < 0 and start < -size and size:
            if call.since < _CLAMPED:
                raise ValueError("a start before the first element, backwards")
            chosen = range(0, chosen.stop, step)
        x = moved(x, _taking(list(chosen), axis))
    return x


def _taking(places: Any, axis: int) -> Callable[[Array], Array]:
    at = np.asarray(places, np.int64)
    return lambda each: np.take(each, at, axis)


_MODES = {"constant": "constant", "reflect": "reflect", "edge": "edge", "wrap": "wrap"}


@operator("Pad")
def _pad(call: Call) -> Estimate:
    x, rank = call[0], call[0].value.ndim
    stated = call.integers("pads") or ()
    axes = call.integers("axes")
    places = axes_of(tuple(range(rank)) if axes is None else axes, rank)
    if len(stated) != 2 * len(places):
        raise ValueError(f"pads {stated} of {len(places)} axes")
    pads = [(0, 0)] * rank
    for at, axis in enumerate(places):
        pads[axis] = stated[at], stated[at + len(places)]
    mode = call.attribute("mode")
    cropped = _cropped(x, pads)
    grown = [(max(a, 0), max(b, 0)) for a, b in pads]
    if mode == "constant":
        return _surrounded(call, cropped, grown)
    if any(min(each) < 0 for each in pads):
        # Some copy what is left, others what was there before elements were cut off.
        padded = np.pad(np.zeros(cropped.value.shape, np.bool_), grown, constant_values=True)
        return unconstrain(_surrounded(call, cropped, grown), padded)
    _check_room(mode, x.value.shape, grown)
    return moved(x, lambda each: np.pad(each, grown, mode=_MODES[mode]))  # type: ignore[call-overload]


def _check_room(mode: str, shape: tuple[int, ...], pads: list[tuple[int, int]]) -> None:
    """Raise ``ValueError`` where padding takes more elements than there are: left undefined."""
    for size, (before, after) in zip(shape, pads, strict=True):
        most = {"reflect": size - 1, "wrap": size}.get(mode, max(before, after) if size else 0)
        if max(before, after) > max(most, 0):
            raise ValueError(f"mode {mode} with pads {before}, {after} of {size}")


def _cropped(x: Estimate, pads: list[tuple[int, int]]) -> Estimate:
    for axis, (before, after) in enumerate(pads):
        size = x.value.shape[axis]
        kept = range(max(-before, 0), size - max(-after, 0))
        x = moved(x, _taking(list(kept), axis))
    return x


def _surrounded(call: Call, x: Estimate, pads: list[tuple[int, int]]) -> Estimate:
    fill = call.named("constant_value")
    if fill is None:
        number = call.attribute("value") if "value" in call.schema.attributes else 0.0
        fill = converted(constant(number, x), x.dtype)
    fill = moved(fill, lambda each: each.reshape(()))
    return Estimate(
        np.pad(x.value, pads, constant_values=fill.value[()]),
        np.pad(x.error, pads, constant_values=fill.error[()]),
        x.dtype,
        signed=x.signed,
    )


@operator("DepthToSpace")
def _depth_to_space(call: Call) -> Estimate:
    block, first = call.attribute("blocksize"), call.attribute("mode") == "CRD"
    batch, channels, height, width = shape_of(call[0])
    outer = channels // block**2
    split = (outer, block, block) if first else (block, block, outer)
    order = (0, 1, 4, 2, 5, 3) if first else (0, 3, 4, 1, 5, 2)
    return moved(
        call[0],
        lambda each: (
            each.reshape(batch, *split, height, width)
            .transpose(order)
            .reshape(batch, outer, height * block, width * block)
        ),
    )


@operator("SpaceToDepth")
def _space_to_depth(call: Call) -> Estimate:
    block = call.attribute("blocksize")
    batch, channels, height, width = shape_of(call[0])
    high, wide = height // block, width // block
    order = (0, 1, 3, 5, 2, 4) if call.attribute("mode") == "CRD" else (0, 3, 5, 1, 2, 4)
    return moved(
        call[0],
        lambda each: (
            each.reshape(batch, channels, high, block, wide, block)
            .transpose(order)
            .reshape(batch, channels * block**2, high, wide)
        ),
    )


@operator("ReverseSequence")
def _reverse_sequence(call: Call) -> Estimate:
    x, lengths = call[0], integers(call[1])
    time, batch = call.attribute("time_axis"), call.attribute("batch_axis")

    def turned(array: Array) -> Array:
        result = np.moveaxis(array, (batch, time), (0, 1)).copy()
        for at, length in enumerate(lengths):
            result[at, :length] = result[at, :length][::-1].copy()
        return np.moveaxis(result, (0, 1), (batch, time))

    return moved(x, turned)


@operator("Trilu")
def _trilu(call: Call) -> Estimate:
    x, diagonal = call[0], call.optional(1)
    shift = 0 if diagonal is None else integers(diagonal)[0]
    rows, columns = x.value.shape[-2:]
    place = np.arange(columns) - np.arange(rows)[:, None]
    kept = place >= shift if call.flag("upper") else place <= shift
    return moved(x, lambda each: np.where(kept, each, np.zeros((), each.dtype)))


@operator("CenterCropPad")
def _center_crop_pad(call: Call) -> Estimate:
    """What is cut off, or put around, is the smaller half before."""
    x, wanted = call[0], integers(call[1])
    axes = call.attribute("axes")
    places = axes_of(tuple(range(x.value.ndim)) if axes is None else axes, x.value.ndim)
    for axis, size in zip(places, wanted, strict=True):
        own = x.value.shape[axis]
        if size <= own:
            start = (own - size) // 2
            x = moved(x, _taking(range(start, start + size), axis))
        else:
            pads = [(0, 0)] * x.value.ndim
            pads[axis] = (size - own) // 2, size - own - (size - own) // 2
            x = moved(x, lambda each, by=pads: np.pad(each, by))  # type: ignore[misc]
    return x
