"""ONNX's MaxUnpool, Col2Im and DeformConv.

TVM takes the places of MaxUnpool for those of the shape that is stated, not of the one that was
pooled, and refuses such a shape at run time. It lacks Col2Im and DeformConv.
"""

import itertools
from collections.abc import Sequence
from math import prod

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.framework.probes import Array
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.computing import bounded, computed, filled, within
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.frontends.onnx.windows.convolution import biased, operands_of
from relaxcheck.fixes.frontends.onnx.windows.geometry import Window
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/onnx/unfolding.py")

Indices = Sequence[PrimExpr]
_ONE = tvm_api.integer(1)


def _numbers(node: Node, name: str, default: Sequence[int]) -> tuple[int, ...]:
    values = tuple(int(value) for value in node.attribute(name, None) or default)
    if len(values) != len(default) or min(values) < min(default):
        why = f"it must have {len(default)} numbers from {min(default)} on"
        raise invalid(node.operator, why, **{name: list(values)})
    return values


def max_unpool(node: Node) -> Expr:
    """Zeros, with each element at its place in the tensor that was pooled.

    A stated shape may be larger than that tensor.

    Raises:
        ValueError: an attribute or a shape is invalid.
    """
    data, places = operands.required(node, 0, "X"), operands.required(node, 1, "I")
    dims = tvm_api.shape_of(data)
    rank = len(dims) - 2
    taps = [int(tap) for tap in node.attribute("kernel_shape", ())]
    if rank < 1 or len(taps) != rank:
        raise invalid(node.operator, f"it must have {rank} numbers", kernel_shape=taps)
    strides = _numbers(node, "strides", [1] * rank)
    pads = _numbers(node, "pads", [0] * (2 * rank))
    pooled = [
        (dim - _ONE) * tvm_api.integer(strides[axis])
        + tvm_api.integer(taps[axis] - pads[axis] - pads[axis + rank])
        for axis, dim in enumerate(dims[2:])
    ]
    full = [*dims[:2], *pooled]
    if node.input(2) is not None:
        full = operands.sizes(node, 2, "output_shape", rank + 2)

    def moved(indices: Tensor, old: list[PrimExpr], new: list[PrimExpr]) -> Tensor:
        """The number in the whole output of each place in the tensor that was pooled."""

        def element(at: Indices) -> PrimExpr:
            left, place, step = indices[tuple(at)], tvm_api.integer(0), _ONE
            for before, after in zip(reversed(old), reversed(new), strict=True):
                place = place + tvm_api.floormod(left, before) * step
                left, step = tvm_api.floordiv(left, before), step * after
            return place

        return filled(indices.shape, element, "places")

    flat = operands.widened(node, places, "int64")
    flat = computed(node, moved, flat, [*dims[:2], *pooled], list(full))
    count: PrimExpr = _ONE
    for size in full:
        count = count * size
    zeros = relax.op.zeros(relax.ShapeExpr([count]), tvm_api.dtype_of(data))
    result = relax.op.scatter_elements(
        node.emit(zeros), _flat(node, flat), _flat(node, data), axis=0
    )
    return operands.reshaped(node, node.emit(result), full)


def _flat(node: Node, value: Expr) -> Expr:
    return node.emit(relax.op.reshape(value, relax.ShapeExpr([-1])))


def col2im(node: Node) -> Expr:
    """The sum, at each place of an image, of the elements of blocks that lie upon it.

    Raises:
        ValueError: an attribute or a shape is invalid.
    """
    data = operands.required(node, 0, "input")
    rank = _length(node, 1, "image_shape")
    image = operands.sizes(node, 1, "image_shape", rank)
    block = operands.sizes(node, 2, "block_shape", rank)
    if operands.rank_of(data) != 3:
        shape = tvm_api.show(tvm_api.shape_of(data))
        raise invalid(node.operator, "it must have 3 dimensions", **{"shape of input": shape})
    strides = _numbers(node, "strides", [1] * rank)
    dilations = _numbers(node, "dilations", [1] * rank)
    pads = _numbers(node, "pads", [0] * (2 * rank))
    dtype = tvm_api.dtype_of(data)
    inner = operands.inner_dtype(dtype)

    def compute(source: Tensor, sizes: list[PrimExpr], taps: list[PrimExpr]) -> Tensor:
        counts = []
        for axis, (size, tap) in enumerate(zip(sizes, taps, strict=True)):
            reach = (tap - _ONE) * tvm_api.integer(dilations[axis])
            room = size + tvm_api.integer(pads[axis] + pads[axis + rank]) - reach - _ONE
            counts.append(tvm_api.floordiv(room, strides[axis]) + _ONE)
        each: PrimExpr = _ONE
        for tap in taps:
            each = each * tap

        def element(indices: Indices) -> PrimExpr:
            number, channel, *place = indices
            inside = [te.reduce_axis((0, tap), f"k{axis}") for axis, tap in enumerate(taps)]
            row, column, there = channel, tvm_api.integer(0), []
            for axis, at in enumerate(place):
                reach = inside[axis].var * tvm_api.integer(dilations[axis])
                start = at + tvm_api.integer(pads[axis]) - reach
                index = tvm_api.floordiv(start, strides[axis])
                there += [within(index, counts[axis])]
                there += [tvm_api.floormod(start, strides[axis]) == tvm_api.integer(0)]
                row, column = row * taps[axis] + inside[axis].var, column * counts[axis] + index
            value = source[number, row, column]
            return te.sum(
                tirx.if_then_else(tirx.all(*there), value, tirx.const(0, inner)), axis=inside
            )

        channels = tvm_api.floordiv(source.shape[1], each)
        return filled([source.shape[0], channels, *sizes], element, "image")

    wide = operands.widened(node, data, inner)
    return operands.widened(node, computed(node, compute, wide, image, block), dtype)


def _length(node: Node, index: int, name: str) -> int:
    """The number of integers in input number ``index``.

    Raises:
        ValueError: the input is left out, or their number is not known.
    """
    known = operands.integers(node, index)
    if known is not None:
        return len(known)
    value = node.input(index)
    if isinstance(value, relax.ShapeExpr):
        return len(value.values)
    dims = tvm_api.shape_of(operands.required(node, index, name))
    count = tvm_api.as_int(dims[0]) if len(dims) == 1 else None
    if count is None:
        shape = tvm_api.show(dims)
        raise invalid(node.operator, "it must have a known size", **{f"shape of {name}": shape})
    return count


def deform_conv(node: Node) -> Expr:
    """A convolution whose taps are moved by offsets, and weighted by a mask.

    Raises:
        ValueError: an attribute or a shape is invalid.
    """
    data, weight, window, groups = operands_of(node)
    offset, mask = operands.required(node, 2, "offset"), operands.optional(node, 4, "mask")
    scattered = int(node.attribute("offset_group", 1))
    dtype = tvm_api.dtype_of(data)
    inner = operands.inner_dtype(dtype)
    wanted = scattered * prod(window.taps) * window.rank
    known = tvm_api.as_int(tvm_api.shape_of(offset)[1])
    if scattered < 1 or known not in (wanted, None):
        why = f"there must be {wanted} offsets at each place"
        shape = tvm_api.show(tvm_api.shape_of(offset))
        raise invalid(node.operator, why, **{"shape of offset": shape, "offset_group": scattered})

    def compute(source: Tensor, factors: Tensor, moves: Tensor, *masks: Tensor) -> Tensor:
        sampled = _sampled(window, source, moves, masks, scattered, inner)
        return _summed(window, sampled, factors, groups)

    tensors = [data, weight, offset, *([] if mask is None else [mask])]
    wide = [operands.widened(node, each, inner) for each in tensors]
    result = biased(node, computed(node, compute, *wide), 3)
    return operands.widened(node, result, dtype)


def _sampled(
    window: Window,
    source: Tensor,
    moves: Tensor,
    masks: Sequence[Tensor],
    scattered: int,
    dtype: str,
) -> Tensor:
    """The samples (N, C, taps as one number, places)."""
    sizes = source.shape[2:]
    places = [window.places(axis, size) for axis, size in enumerate(sizes)]
    count = prod(window.taps)
    each = tvm_api.floordiv(source.shape[1], scattered)

    def element(indices: Indices) -> PrimExpr:
        image, channel, tap, *place = indices
        part = tvm_api.floordiv(channel, each) * tvm_api.integer(count) + tap
        taps: list[PrimExpr] = []
        left = tap
        for size in reversed(window.taps):
            taps.insert(0, tvm_api.floormod(left, size))
            left = tvm_api.floordiv(left, size)
        at = []
        for axis, size in enumerate(sizes):
            row = part * tvm_api.integer(window.rank) + tvm_api.integer(axis)
            moved = moves[(image, row, *place)]
            still = window.position(axis, size, place[axis], taps[axis])
            at.append(still.astype(dtype) + moved)
        value = _interpolated(source, [image, channel], at, dtype)
        return value * masks[0][(image, part, *place)] if masks else value

    shape = [source.shape[0], source.shape[1], tvm_api.integer(count), *places]
    return filled(shape, element, "samples")


def _interpolated(source: Tensor, plane: Indices, at: Indices, dtype: str) -> PrimExpr:
    """The linear interpolation of ``source`` at coordinates; elements outside of it are 0."""
    total = tirx.const(0, dtype)
    sizes = source.shape[len(plane) :]
    for corner in itertools.product((0, 1), repeat=len(at)):
        share, index, inside = tirx.const(1, dtype), [], []
        for up, coordinate, size in zip(corner, at, sizes, strict=True):
            low = tirx.floor(coordinate)
            part = coordinate - low
            share = share * (part if up else tirx.const(1, dtype) - part)
            place = low.astype("int64") + tvm_api.integer(up)
            inside.append(within(place, size))
            index.append(bounded(place, size))
        value = source[(*plane, *index)] * share
        total = total + tirx.if_then_else(tirx.all(*inside), value, tirx.const(0, dtype))
    return total


def _summed(window: Window, samples: Tensor, factors: Tensor, groups: int) -> Tensor:
    """The products of ``samples`` with the weight, summed over taps and the channels of a group."""
    channels = tvm_api.floordiv(samples.shape[1], groups)
    each = tvm_api.floordiv(factors.shape[0], groups)

    def element(indices: Indices) -> PrimExpr:
        image, out, *place = indices
        channel = te.reduce_axis((0, channels), "channel")
        taps = window.reduce_axes()
        tap = tvm_api.integer(0)
        for size, axis in zip(window.taps, taps, strict=True):
            tap = tap * tvm_api.integer(size) + axis.var
        source = tvm_api.floordiv(out, each) * channels + channel.var
        value = samples[(image, source, tap, *place)]
        factor = factors[(out, channel.var, *(axis.var for axis in taps))]
        return te.sum(value * factor, axis=[channel, *taps])

    return filled([samples.shape[0], factors.shape[0], *samples.shape[3:]], element, "deformed")


CONVERSIONS: dict[str, Convert] = {
    "MaxUnpool": max_unpool,
    "Col2Im": col2im,
    "DeformConv": deform_conv,
}


def _mistakes_places() -> bool:
    """True if places are taken for those of a stated shape, or that is refused at run time."""
    inputs: dict[str, Array] = {
        "X": np.array([[[[7]]]], np.float32),
        "I": np.array([[[[3]]]], np.int64),
        "output_shape": np.array([1, 1, 2, 3], np.int64),
    }
    model = node_model("MaxUnpool", inputs, 11, kernel_shape=[2, 2])
    expected = np.array([[[[0, 0, 0], [0, 7, 0]]]], np.float32)
    return fails(model, list(inputs.values()), [expected])


def _lacks_images() -> bool:
    """True if blocks are not summed to an image."""
    inputs: dict[str, Array] = {
        "input": np.array([[[1, 2], [3, 4]]], np.float32),
        "image_shape": np.array([3], np.int64),
        "block_shape": np.array([2], np.int64),
    }
    held = ("image_shape", "block_shape")
    model = node_model("Col2Im", inputs, 18, held=held)
    return fails(model, [inputs["input"]], [np.array([[[1, 2 + 3, 4]]], np.float32)])


def _lacks_deformation() -> bool:
    """True if a deformed convolution is not imported."""
    inputs: dict[str, Array] = {
        "X": np.array([[[[1, 2, 4]]]], np.float32),
        "W": np.ones((1, 1, 1, 1), np.float32),
        "offset": np.array([[[[0, 0, 0]], [[0.5, 1, 0.5]]]], np.float32),
    }
    model = node_model("DeformConv", inputs, 19)
    return fails(model, list(inputs.values()), [np.array([[[[1.5, 4, 2]]]], np.float32)])


FIX = Fix(
    name="onnx_unfolding",
    operators=tuple(CONVERSIONS),
    fault=(
        "ONNX's MaxUnpool takes places for those of the stated shape, which is refused at run time;"
        " Col2Im and DeformConv are not imported"
    ),
    issue=None,
    parts=(
        FaultPart("places", _mistakes_places),
        FaultPart("blocks", _lacks_images),
        FaultPart("deformation", _lacks_deformation),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_convolution",
    patch=patch(CONVERSIONS),
)
