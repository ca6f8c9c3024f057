"""Convolutions over any number of spatial axes, plain and transposed, as descriptions in TE."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tvm import te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.computing import filled, within
from relaxcheck.fixes.frontends.onnx.windows.geometry import Window
from relaxcheck.fixes.tvm_api import PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/onnx/sliding.py")

Indices = Sequence[PrimExpr]
Read = Callable[[Indices], PrimExpr]
"""Reads an element; of a quantized tensor, less its zero point."""


def convolved(
    window: Window, data: Tensor, weight: Tensor, groups: int, reads: tuple[Read, Read], dtype: str
) -> Tensor:
    """The convolution of ``data``, (N, C, spatial), by ``weight``, (O, C / groups, taps).

    ``reads`` give the elements of both, in ``dtype``. Those of the padding are 0.
    """
    sizes = data.shape[2:]
    places = [window.places(axis, size) for axis, size in enumerate(sizes)]
    channels = tvm_api.floordiv(data.shape[1], groups)
    each = tvm_api.floordiv(weight.shape[0], groups)

    def element(indices: Indices) -> PrimExpr:
        image, out, *place = indices
        taps = window.reduce_axes()
        channel = te.reduce_axis((0, channels), "channel")
        first = tvm_api.floordiv(out, each) * channels
        at = [
            window.position(axis, size, place[axis], taps[axis].var)
            for axis, size in enumerate(sizes)
        ]
        inside = tirx.all(*(within(index, size) for index, size in zip(at, sizes, strict=True)))
        value = reads[0]([image, first + channel.var, *at])
        value = tirx.if_then_else(inside, value, tirx.const(0, dtype))
        factor = reads[1]([out, channel.var, *(tap.var for tap in taps)])
        return te.sum(value * factor, axis=[channel, *taps])

    return filled([data.shape[0], weight.shape[0], *places], element, "convolved")


@dataclass(frozen=True, slots=True)
class Spread:
    """A transposed convolution: along each axis the ``before`` that is cut off, and the size."""

    window: Window
    before: tuple[PrimExpr, ...]
    sizes: tuple[PrimExpr, ...]


def transposed(spread: Spread, data: Tensor, weight: Tensor, groups: int) -> Tensor:
    """The transposed convolution of (N, C, spatial) ``data`` by a ``weight`` (C, O / groups, taps).

    An element of the result sums the elements of the data whose windows it lies in.
    """
    window, dtype = spread.window, tvm_api.dtype_of(data)
    channels = tvm_api.floordiv(data.shape[1], groups)
    each = weight.shape[1]

    def element(indices: Indices) -> PrimExpr:
        image, out, *place = indices
        taps = window.reduce_axes()
        channel = te.reduce_axis((0, channels), "channel")
        source = tvm_api.floordiv(out, each) * channels + channel.var
        at, there = [], []
        for axis, size in enumerate(data.shape[2:]):
            stride, dilation = window.strides[axis], window.dilations[axis]
            reach = taps[axis].var * tvm_api.integer(dilation)
            start = place[axis] + spread.before[axis] - reach
            index = tvm_api.floordiv(start, stride)
            at.append(index)
            there.append(within(index, size))
            if stride > 1:
                there.append(tvm_api.floormod(start, stride) == tvm_api.integer(0))
        value = data[(image, source, *at)]
        value = tirx.if_then_else(tirx.all(*there), value, tirx.const(0, dtype))
        factor = weight[(source, tvm_api.floormod(out, each), *(tap.var for tap in taps))]
        return te.sum(value * factor, axis=[channel, *taps])

    shape = [data.shape[0], each * tvm_api.integer(groups), *spread.sizes]
    return filled(shape, element, "transposed")
