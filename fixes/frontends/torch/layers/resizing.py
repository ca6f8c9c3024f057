"""Interpolation along spatial axes, one after the other, at the places where PyTorch samples.

Nearest neighbours of ``nearest`` are at ``floor(i * scale)``, those of ``nearest-exact`` at the
centre of the place. A scale that a program states counts, where it does not fit the sizes exactly.
PyTorch leaves it aside in two cases: linear interpolation copies an axis that keeps its size, and
its kernel for small planes takes the sizes alone where nearest neighbours keep or double an axis.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from tvm import tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.computing import bounded, computed, filled
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.torch.probing import differs
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/torch/resizing.py")

_SHARPNESS = -0.75
"""The coefficient of PyTorch's cubic kernel."""

_SMALL_PLANE = 128
"""The largest sum of height and width for which PyTorch has its kernel for small planes."""


@dataclass(frozen=True, slots=True)
class Axis:
    """The sampling of one axis: its number, the new ``size``, the stated ``factor`` if any."""

    number: int
    size: PrimExpr
    factor: float | None
    method: str
    aligns: bool


def convert_upsample(node: Node) -> Expr:
    """``input`` in another size, of which 1, 2 or 3 axes are spatial.

    Raises:
        OpNotImplemented: a size is that of a symbol, times a factor that is not an integer.
    """
    name = node.operator.partition(".")[0].strip("_")
    method = next(each for each in ("nearest_exact", "nearest", "cubic", "linear") if each in name)
    data = node.argument("input" if node.operator.endswith("vec") else "self")
    rank = operands.rank_of(data) - 2
    factors = stated_factors(node, rank)
    sizes = node.argument("output_size")
    if sizes is None:
        dims = tvm_api.shape_of(data)[2:]
        sizes = [_scaled(node, *each) for each in zip(dims, factors, strict=True)]
    aligns = method in ("linear", "cubic") and bool(node.argument("align_corners"))
    dtype = tvm_api.dtype_of(data)
    inner = dtype if method.startswith("nearest") else operands.inner_dtype(dtype)
    result = operands.cast(node, data, inner)
    wholes = [tvm_api.integer(size) if isinstance(size, int) else size for size in sizes]
    is_small = method == "nearest" and _is_small_plane(wholes)
    for number, (size, factor) in enumerate(zip(wholes, factors, strict=True), 2):
        before = tvm_api.shape_of(data)[number]
        keeps = tvm_api.proves_equal(before, size)
        if keeps and (method == "linear" or is_small):
            continue
        if is_small and tvm_api.proves_equal(before * 2, size):
            factor = None
        result = _resized(node, result, Axis(number, size, factor, method, aligns))
    return operands.cast(node, result, dtype)


def _is_small_plane(sizes: Sequence[PrimExpr]) -> bool:
    """True if PyTorch has its kernel for small planes make an image of ``sizes``."""
    known = [tvm_api.as_int(size) for size in sizes]
    whole = [size for size in known if size is not None]
    return len(sizes) == len(whole) == 2 and sum(whole) <= _SMALL_PLANE


def stated_factors(node: Node, rank: int) -> list[float | None]:
    """The stated factor of each spatial axis; PyTorch takes those above 0 alone."""
    if node.operator.endswith("vec"):
        stated = node.argument("scale_factors")
        several = [None] * rank if stated is None else list(stated)
    elif rank == 1:
        several = [node.argument("scales")]
    else:
        several = [node.argument(name) for name in ("scales_d", "scales_h", "scales_w")[-rank:]]
    return [None if factor is None or factor <= 0 else float(factor) for factor in several]


def _scaled(node: Node, size: PrimExpr, factor: float | None) -> Any:
    assert factor is not None, "a program states sizes or factors"
    known = tvm_api.as_int(size)
    if known is not None:
        return math.floor(known * factor)
    if factor != int(factor):
        raise refuse(node.operator, size=tvm_api.show([size]), scale_factors=factor)
    return size * int(factor)


def _resized(node: Node, data: Expr, axis: Axis) -> Expr:
    """``data`` with one axis sampled anew."""
    before = tvm_api.shape_of(data)[axis.number]
    if axis.factor is None and tvm_api.proves_equal(before, axis.size):
        return data

    def compute(source: Tensor, sizes: Sequence[PrimExpr]) -> Tensor:
        shape = [*source.shape[: axis.number], sizes[0], *source.shape[axis.number + 1 :]]
        wide = "float64" if tvm_api.dtype_of(source) == "float64" else "float32"
        step = _step(axis, source.shape[axis.number], sizes[0], wide)
        if None in map(tvm_api.as_int, (source.shape[axis.number], sizes[0])):
            # As a tensor: TVM fails on a quotient of symbols that several expressions share.
            step = _alone(step)
        return filled(shape, lambda at: _sampled(source, axis, step, at), "resized")

    return computed(node, compute, data, [axis.size])


def _sampled(source: Tensor, axis: Axis, step: PrimExpr, at: Sequence[PrimExpr]) -> PrimExpr:
    """The element at the place ``at`` of the result, whose places are ``step`` apart."""
    before = source.shape[axis.number]
    place = at[axis.number]
    wide = "float64" if tvm_api.dtype_of(source) == "float64" else "float32"

    def element(index: PrimExpr) -> PrimExpr:
        where = [*at[: axis.number], bounded(index, before), *at[axis.number + 1 :]]
        return source[tuple(where)]

    def decimal(value: float) -> PrimExpr:
        return tirx.const(value, wide)

    if axis.method == "nearest":
        return element(tirx.floor(place.astype(wide) * step).astype("int64"))
    middle = (place.astype(wide) + decimal(0.5)) * step
    if axis.method == "nearest_exact":
        return element(tirx.floor(middle).astype("int64"))
    exact = place.astype(wide) * step if axis.aligns else middle - decimal(0.5)
    if axis.method == "linear":
        exact = tirx.max(exact, decimal(0))
    first = tirx.floor(exact)
    apart = exact - first
    index = first.astype("int64")
    weights = _linear if axis.method == "linear" else _cubic
    total: PrimExpr = tirx.const(0, wide)
    for offset, weight in weights(apart, decimal):
        total = total + element(index + tvm_api.integer(offset)) * weight
    return total


def _alone(value: PrimExpr) -> PrimExpr:
    """``value``, computed once for all elements."""
    return filled([1], lambda at: value, "step")[0]


def _step(axis: Axis, before: PrimExpr, after: PrimExpr, wide: str) -> PrimExpr:
    """The distance in the source of neighbours in the result."""
    one = tvm_api.integer(1)
    if axis.aligns:
        # With one place in the result, the distance does not count.
        gaps = tirx.max(after - one, one)
        return (before - one).astype(wide) / gaps.astype(wide)
    if axis.factor is not None:
        return tirx.const(1 / axis.factor, wide)
    return before.astype(wide) / after.astype(wide)


Weights = list[tuple[int, PrimExpr]]


def _linear(apart: PrimExpr, decimal: Callable[[float], PrimExpr]) -> Weights:
    return [(0, decimal(1) - apart), (1, apart)]


def _cubic(apart: PrimExpr, decimal: Callable[[float], PrimExpr]) -> Weights:
    """The weights of the four nearest elements."""

    def inner(x: PrimExpr) -> PrimExpr:
        high, low = decimal(_SHARPNESS + 2), decimal(_SHARPNESS + 3)
        return (high * x - low) * x * x + decimal(1)

    def outer(x: PrimExpr) -> PrimExpr:
        a = [decimal(_SHARPNESS * factor) for factor in (1, 5, 8, 4)]
        return ((a[0] * x - a[1]) * x + a[2]) * x - a[3]

    one, two = decimal(1), decimal(2)
    return [
        (-1, outer(apart + one)),
        (0, inner(apart)),
        (1, inner(one - apart)),
        (2, outer(two - apart)),
    ]


CONVERSIONS: dict[str, Convert] = dict.fromkeys(
    [
        f"{name}.{kind}"
        for name in (
            *("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d"),
            *("_upsample_nearest_exact1d", "_upsample_nearest_exact2d"),
            *("_upsample_nearest_exact3d", "upsample_linear1d", "upsample_bilinear2d"),
            *("upsample_trilinear3d", "upsample_bicubic2d"),
        )
        for kind in ("vec", "default")
    ],
    convert_upsample,
)

_DATA = np.arange(6, dtype=np.float32).reshape(1, 1, 2, 3) ** 2

FIX = Fix(
    name="torch_resizing",
    operators=tuple(CONVERSIONS),
    fault="nearest interpolation of PyTorch programs is at half pixels; other forms are missing",
    issue=None,
    parts=(
        FaultPart("nearest", partial(differs, "upsample_nearest2d.vec", _DATA, [3, 5], None)),
        FaultPart(
            "factors",
            partial(differs, "upsample_bilinear2d.vec", _DATA, None, False, [1.7, 1.7]),
        ),
        FaultPart("lines", partial(differs, "upsample_linear1d.vec", _DATA[0], [5], True, None)),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="torch_normalization",
    patch=patch(CONVERSIONS),
)
