"""Images sampled by grids in float16, by reflection in one element, and without minutes of LLVM.

TOPI computes a float16 image's samples in float32 and returns them so. It divides by the number of
elements less one to reflect between aligned corners. It writes every coordinate out wherever one is
read: a reflected bicubic sample reads 64 of them, and LLVM takes from 20 seconds to minutes.
"""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor

UPSTREAM = NewFile("relax/transform/legalize_ops/grid_sample.py")

OPERATOR = "relax.image.grid_sample"

_LAYOUTS = ("NCHW", "NCDHW")
_PADDINGS = ("zeros", "border", "reflection")
_OFFSETS = {"nearest": (0,), "bilinear": (0, 1), "bicubic": (-1, 0, 1, 2)}
"""The elements that each method meets, from the one at or before a coordinate."""


def _with_coordinates_first(original: Legalization) -> Legalization:
    """``original`` of float32 and float64 where nothing is reflected.

    Otherwise the numbers and shares of the elements along each axis are computed first.
    """

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        data, grid = call.args
        attrs, dtype = call.attrs, tvm_api.dtype_of(data)
        method, padding = str(attrs.method), str(attrs.padding_mode)
        plain = padding != "reflection" and dtype in ("float32", "float64")
        if (
            plain
            or method not in _OFFSETS
            or padding not in _PADDINGS
            or (method == "bicubic" and str(attrs.layout) != "NCHW")
            or str(attrs.layout) not in _LAYOUTS
            or not tvm_api.has_shape(data)
            or not tvm_api.has_shape(grid)
        ):
            return original(builder, call)
        aligned = bool(attrs.align_corners)

        def compute(images: Tensor, places: Tensor) -> Tensor:
            return sampled(images, places, method, padding, aligned)

        return builder.call_te(compute, data, grid, primfunc_name_hint="grid_sample")

    return lower


def sampled(images: Tensor, grid: Tensor, method: str, padding: str, aligned: bool) -> Tensor:
    """Samples of ``images`` (batch, channels, axes) at places of ``grid``.

    The grid is (batch, a coordinate for each axis, places), the coordinate of the last axis first.
    There may be any number of axes. The nearest elements may be of any dtype.
    """
    own, offsets = tvm_api.dtype_of(images), _OFFSETS[method]
    measure = own if "float" in own else tvm_api.dtype_of(grid)
    dtype = "float64" if measure == "float64" else "float32"
    sizes, out = images.shape[2:], grid.shape[2:]
    rank = len(sizes)
    bring = partial(_brought, padding=padding, aligned=aligned, dtype=dtype)
    lines = []
    for axis, size in enumerate(sizes):
        at = _coordinates(grid, rank - 1 - axis, size, aligned, dtype)
        if method != "bicubic":
            at = _each(at, partial(bring, size=size), dtype)
        low = _each(at, tirx.nearbyint if method == "nearest" else tirx.floor, dtype)
        lines.append([_tap(at, low, step, size, method, bring) for step in offsets])

    def element(n: PrimExpr, c: PrimExpr, *place: PrimExpr) -> PrimExpr:
        if method == "nearest":
            # The element itself: large integers do not survive a conversion to a float.
            numbers = [number[(n, *place)] for ((number, _),) in lines]
            inside = tirx.all(*(number >= 0 for number in numbers))
            return tirx.if_then_else(inside, images[(n, c, *numbers)], tirx.const(0, own))
        total = tirx.const(0, dtype)
        for taps in product(*lines):
            numbers = [number[(n, *place)] for number, _ in taps]
            share = tirx.const(1, dtype)
            for _, shares in taps:
                share = share * shares[(n, *place)]
            inside = tirx.all(*(number >= 0 for number in numbers))
            value = images[(n, c, *numbers)].astype(dtype) * share
            total = total + tirx.if_then_else(inside, value, tirx.const(0, dtype))
        return total.astype(own)

    return te.compute((*images.shape[:2], *out), element, name="grid_sample")


def _each(tensor: Tensor, function: Callable[[PrimExpr], PrimExpr], dtype: str) -> Tensor:
    """``function`` of each element."""
    return te.compute(tensor.shape, lambda *at: function(tensor[at]).astype(dtype))


def _coordinates(grid: Tensor, row: int, size: PrimExpr, aligned: bool, dtype: str) -> Tensor:
    """The coordinates along an axis of ``size`` elements, (batch, places)."""
    count, one, two = size.astype(dtype), tirx.const(1, dtype), tirx.const(2, dtype)

    def coordinate(n: PrimExpr, *place: PrimExpr) -> PrimExpr:
        x = grid[(n, row, *place)].astype(dtype) + one
        return x * (count - one) / two if aligned else (x * count - one) / two

    return te.compute((grid.shape[0], *grid.shape[2:]), coordinate, name="coordinates")


def _brought(x: PrimExpr, size: PrimExpr, *, padding: str, aligned: bool, dtype: str) -> PrimExpr:
    """A coordinate brought back to the elements, where the padding does so."""
    last, zero = size.astype(dtype) - tirx.const(1, dtype), tirx.const(0, dtype)
    if padding == "zeros":
        return x
    if padding == "reflection":
        low = tirx.const(0 if aligned else -0.5, dtype)
        one, two = tirx.const(1, dtype), tirx.const(2, dtype)
        # One element has nothing to reflect between its centres.
        whole = two * (tirx.max(last, one) if aligned else last + one)
        far = tirx.abs(x - low)
        turned = far - tirx.floor(far / whole) * whole
        x = tirx.min(turned, whole - turned) + low
    return tirx.max(tirx.min(x, last), zero)


def _tap(
    at: Tensor,
    low: Tensor,
    step: int,
    size: PrimExpr,
    method: str,
    bring: Callable[[PrimExpr, PrimExpr], PrimExpr],
) -> tuple[Tensor, Tensor]:
    """The number of an element for each place, -1 outside, and its share."""
    dtype = tvm_api.dtype_of(at)
    offset, zero = tirx.const(step, dtype), tirx.const(0, dtype)

    def number(*place: PrimExpr) -> PrimExpr:
        there = low[place] + offset
        if method == "bicubic":
            there = bring(there, size)
        inside = tirx.all(there >= zero, there < size.astype(dtype))
        return tirx.if_then_else(inside, there.astype("int64"), tirx.const(-1, "int64"))

    def share(*place: PrimExpr) -> PrimExpr:
        distance = tirx.abs(at[place] - low[place] - offset)
        if method == "nearest":
            return tirx.const(1, dtype)
        if method == "bilinear":
            return tirx.const(1, dtype) - distance
        return _convolution(distance, step, dtype)

    return (
        te.compute(at.shape, number, name="numbers"),
        te.compute(at.shape, share, name="shares"),
    )


def _convolution(distance: PrimExpr, step: int, dtype: str) -> PrimExpr:
    """The cubic convolution of alpha -0.75 (Keys, 1981) at a distance from the element."""
    near = step in (0, 1)
    factors = (1.25, -2.25, 0.0, 1.0) if near else (-0.75, 3.75, -6.0, 3.0)
    value = tirx.const(factors[0], dtype)
    for factor in factors[1:]:
        value = value * distance + tirx.const(factor, dtype)
    return value


_LONG = 25_000
"""Characters of a bilinear kernel's text between those with coordinates written once, and often."""

_PLACE = np.array([[[[3]], [[0]]]], "float32")
"""A place beyond the right edge, in the middle of the rows."""


def keeps_float16() -> bool:
    """True if the result of float16 is float16."""
    image = np.array([[[[1, 3]]]], "float16")
    module = probes.program(
        relax.op.image.grid_sample,
        *(image.shape, _PLACE.shape),
        dtypes=("float16", "float16"),
    )
    result = probes.run(module, image, (_PLACE * 0).astype("float16"))
    return result.dtype == "float16" and bool((result == 2).all())


def reflects_one_element() -> bool:
    """True if the corners of an image of one element are aligned, by reflection."""
    call = _reflected(1, method="bilinear", align_corners=True)
    return probes.computes(call, [np.full((1, 1, 1, 1), 2, "float32"), _PLACE], _TWO)


_TWO = np.full((1, 1, 1, 1), 2.0)


def writes_coordinates_once() -> bool:
    """True if the kernel of a reflected bilinear sample is short.

    A bicubic one grows in the same way, and TVM takes seconds to write it.
    """
    lowered = probes.lowered(_reflected(4, method="bilinear"))
    return lowered is not None and len(lowered[0].script()) < _LONG


def _reflected(size: int, **attributes: Any) -> Call:
    return probes.one_call(
        lambda x, grid: relax.op.image.grid_sample(
            x, grid, padding_mode="reflection", **attributes
        ),
        *((1, 1, 1, size), _PLACE.shape),
    )


FIX = Fix(
    name="grid_sample",
    operators=(OPERATOR,),
    fault=(
        "grid_sample of float16 is lowered to a kernel of float32 results; reflection between the"
        " aligned corners of one element divides by 0; a reflected bicubic sample takes LLVM from"
        " 20 seconds to minutes"
    ),
    issue=None,
    parts=(
        FaultPart("float16", lambda: not keeps_float16()),
        FaultPart("one element", lambda: not reflects_one_element()),
        FaultPart("long kernels", lambda: not writes_coordinates_once()),
    ),
    attributes=(OperatorAttribute(OPERATOR, LEGALIZE, _with_coordinates_first),),
    single=(OPERATOR,),
    after="normalization",
    patch=(Wrapping(OPERATOR, _with_coordinates_first),),
)
