"""The coordinates and the kernels of resizing, along a single axis.

Coordinates are computed in float64. With sizes, place x lies at x * size / places: the quotient of
both would round a coordinate that is an integer to one that is not.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tvm import te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.computing import Indices, bounded, filled
from relaxcheck.fixes.tvm_api import PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/onnx/kernels.py")

INNER = "float64"
"""The dtype of coordinates."""

CROP = "tf_crop_and_resize"


def number(value: float | PrimExpr) -> PrimExpr:
    """``value`` as a coordinate."""
    if isinstance(value, int | float):
        return tirx.const(value, INNER)
    return value.astype(INNER)


@dataclass(frozen=True, slots=True)
class Line:
    """An axis within a function of TIR: its number, its ``size``, the number of ``places`` after.

    ``scale`` is the factor between them, None where the sizes decide. ``first`` and ``last`` are
    the ends of the window of interest, as shares of the axis.
    """

    number: int
    size: PrimExpr
    places: PrimExpr
    scale: PrimExpr | None
    first: PrimExpr
    last: PrimExpr

    def at_scale(self, x: PrimExpr) -> PrimExpr:
        """``x`` over the scale."""
        if self.scale is None and tvm_api.as_int(self.size) == 1:
            # TVM's analysis of integers dies of a quotient of two that were cast.
            return x * number(2.0) / (number(self.places) * number(2.0))
        if self.scale is None:
            return x * number(self.size) / number(self.places)
        return x / self.scale

    @property
    def narrow(self) -> PrimExpr:
        """The scale, 1 at most."""
        scale = number(self.places) / number(self.size) if self.scale is None else self.scale
        return tirx.min(scale, number(1.0))

    @property
    def length(self) -> PrimExpr:
        """The size after scaling, before it is rounded."""
        return number(self.places) if self.scale is None else self.scale * number(self.size)


def coordinate(line: Line, mode: str, at: PrimExpr) -> PrimExpr:
    """The coordinate of the place ``at``, by the transformation ``mode``."""
    x, half, one = number(at), number(0.5), number(1.0)
    last = number(line.size) - one
    match mode:
        case "half_pixel":
            return line.at_scale(x + half) - half
        case "half_pixel_symmetric":
            shift = number(line.size) * half * (one - number(line.places) / line.length)
            return shift + line.at_scale(x + half) - half
        case "pytorch_half_pixel":
            several = line.places > tvm_api.integer(1)
            return tirx.Select(several, line.at_scale(x + half) - half, number(0.0))
        case "align_corners":
            return x * last / _not_zero(line.length - one) * _if_several(line)
        case "tf_half_pixel_for_nn":
            return line.at_scale(x + half)
        case "tf_crop_and_resize":
            spread = (line.last - line.first) * last
            inner = x * spread / _not_zero(line.length - one) * _if_several(line)
            return line.first * last + inner + spread * half * (one - _if_several(line))
    return line.at_scale(x)


def _not_zero(value: PrimExpr) -> PrimExpr:
    """``value``, or 1 in place of 0: TVM refuses a quotient by a constant 0 that is not used."""
    return tirx.Select(value != number(0.0), value, number(1.0))


def _if_several(line: Line) -> PrimExpr:
    """1, or 0 if the axis has a single place."""
    return tirx.Select(line.length != number(1.0), number(1.0), number(0.0))


COORDINATES = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_half_pixel_for_nn",
    CROP,
)

Rounding = Callable[[PrimExpr], PrimExpr]

ROUNDINGS: dict[str, Rounding] = {
    "round_prefer_floor": lambda x: tirx.ceil(x - number(0.5)),
    "round_prefer_ceil": lambda x: tirx.floor(x + number(0.5)),
    "floor": tirx.floor,
    "ceil": tirx.ceil,
}

SIMPLE = "simple"
"""The rounding of opset 10, as in ONNX Runtime: up where the result is smaller, else down."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """The shares of the elements around a coordinate.

    ``curve`` is a function of distances, 0 from ``reach`` on. ``stretched``: it is wider where the
    result is smaller. ``inside``: elements outside of the axis have no share.
    """

    curve: Callable[[PrimExpr], PrimExpr]
    reach: int
    stretched: bool
    inside: bool

    @property
    def divides(self) -> bool:
        """True if the shares are divided by their sum."""
        return self.stretched or self.inside


def linear(distance: PrimExpr) -> PrimExpr:
    """The share of linear interpolation."""
    return tirx.max(number(1.0) - distance, number(0.0))


def cubic(alpha: float) -> Callable[[PrimExpr], PrimExpr]:
    """The share of cubic convolution (R. G. Keys, 1981)."""

    def curve(x: PrimExpr) -> PrimExpr:
        a, two, three = number(alpha), number(2.0), number(3.0)
        near = ((a + two) * x - (a + three)) * x * x + number(1.0)
        far = ((a * x - number(5.0) * a) * x + number(8.0) * a) * x - number(4.0) * a
        outside = tirx.Select(x < two, far, number(0.0))
        return tirx.Select(x <= number(1.0), near, outside)

    return curve


def nearest(source: Tensor, line: Line, mode: str, rounding: str) -> Tensor:
    """``source`` with the nearest element at each place of the axis."""

    def element(indices: Indices) -> PrimExpr:
        near = _rounded(line, coordinate(line, mode, indices[line.number]), rounding)
        place = list(indices)
        place[line.number] = bounded(near.astype("int64"), line.size)
        return source[tuple(place)]

    return filled(_shape(source, line), element, "nearest")


def _rounded(line: Line, x: PrimExpr, rounding: str) -> PrimExpr:
    if rounding != SIMPLE:
        return ROUNDINGS[rounding](x)
    return tirx.Select(line.narrow < number(1.0), tirx.ceil(x), tirx.floor(x))


def _shape(source: Tensor, line: Line) -> list[PrimExpr]:
    shape = list(source.shape)
    shape[line.number] = line.places
    return shape


def taps(line: Line, kernel: Kernel) -> PrimExpr:
    """The number of elements that may have a share."""
    if not kernel.stretched:
        return tvm_api.integer(2 * kernel.reach)
    wide = tirx.ceil(number(float(kernel.reach)) / line.narrow)
    return tvm_api.integer(2) * wide.astype("int64")


def blended(source: Tensor, line: Line, mode: str, kernel: Kernel, count: PrimExpr) -> Tensor:
    """``source`` with a weighted sum of the ``count`` elements around each place of the axis."""
    narrow = line.narrow if kernel.stretched else number(1.0)
    half = tirx.floordiv(count, tvm_api.integer(2))
    dtype = tvm_api.dtype_of(source)

    def tap(at: PrimExpr, k: PrimExpr) -> PrimExpr:
        below = tirx.floor(coordinate(line, mode, at)).astype("int64")
        return below - half + tvm_api.integer(1) + k

    def weight(at: PrimExpr, k: PrimExpr) -> PrimExpr:
        here = tap(at, k)
        share = kernel.curve(narrow * tirx.abs(number(here) - coordinate(line, mode, at)))
        if not kernel.inside:
            return share
        outside = tirx.any(here < tvm_api.integer(0), here >= line.size)
        return tirx.Select(outside, number(0.0), share)

    weights = te.compute((line.places, count), weight, name="weights")
    k = te.reduce_axis((0, count), "k")
    total = te.compute((line.places,), lambda at: te.sum(weights[at, k.var], axis=k), name="total")

    def element(indices: Indices) -> PrimExpr:
        at = indices[line.number]
        tapped = te.reduce_axis((0, count), "tap")
        place = list(indices)
        place[line.number] = bounded(tap(at, tapped.var), line.size)
        share = weights[at, tapped.var]
        if kernel.divides:
            share = share / total[at]
        # An infinite element without a share is not to make a NaN.
        product = tirx.if_then_else(
            share != number(0.0), source[tuple(place)] * share.astype(dtype), tirx.const(0, dtype)
        )
        return te.sum(product, axis=tapped)

    return filled(_shape(source, line), element, "blended")
