"""Interpolation of images and volumes along some of their axes, in any size and in float64."""

from collections.abc import Sequence
from itertools import product
from typing import Any

from tvm import te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.tvm_api import PrimExpr, Tensor

UPSTREAM = NewFile("relax/transform/legalize_ops/resizing.py")

COORDINATES = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel")
ROUNDINGS = ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")


def rounding_of(attrs: Any) -> str:
    """The rounding of the nearest neighbour; empty for other methods."""
    if str(attrs.method) != "nearest_neighbor":
        return ""
    asymmetric = str(attrs.coordinate_transformation_mode) == "asymmetric"
    # TOPI takes none for floor.
    return str(attrs.rounding_method) or ("floor" if asymmetric else "round")


def is_resized_here(attrs: Any) -> bool:
    """True if ``resized`` has this method, with these coordinates and this rounding."""
    return (
        str(attrs.method) in ("nearest_neighbor", "linear", "cubic")
        and str(attrs.coordinate_transformation_mode) in COORDINATES
        and rounding_of(attrs) in ("", *ROUNDINGS)
    )


def needs_any_size(attrs: Any, dtype: str, own: Sequence[PrimExpr], sizes: Any) -> bool:
    """True if TOPI does not resize floats of ``own`` spatial sizes, or rounds them to float32."""
    numbers = all(tvm_api.as_int(size) is not None for size in (*sizes, *own))
    corners = str(attrs.coordinate_transformation_mode) == "align_corners"
    # TOPI divides by the number of places less one.
    return not numbers or dtype == "float64" or (corners and 1 in map(tvm_api.as_int, sizes))


def resized(data: Tensor, sizes: list[PrimExpr], axes: Sequence[int], attrs: Any) -> Tensor:
    """The nearest elements, or sums of those around that are weighted by distance."""
    if str(attrs.method) == "cubic":
        return _convolved(data, sizes, axes, attrs)
    own = tvm_api.dtype_of(data)
    dtype = "float64" if own == "float64" else "float32"
    coordinates, rounding = str(attrs.coordinate_transformation_mode), rounding_of(attrs)
    shape = list(data.shape)
    for axis, size in zip(axes, sizes, strict=True):
        shape[axis] = size

    def element(*place: PrimExpr) -> PrimExpr:
        lines = []
        for axis, size in zip(axes, sizes, strict=True):
            count = data.shape[axis]
            if rounding:
                lines.append([(_nearest(place[axis], count, size, coordinates, rounding), None)])
            else:
                coordinate = _coordinate(place[axis], count, size, coordinates, dtype)
                lines.append(_around(coordinate, count))
        total: Any = None
        for taps in product(*lines):
            at = list(place)
            for axis, (number, _) in zip(axes, taps, strict=True):
                at[axis] = number
            value = data[tuple(at)]
            if rounding:
                return value
            value = value.astype(dtype)
            for _, share in taps:
                value = value * share
            total = value if total is None else total + value
        return total.astype(own)

    return te.compute(shape, element, name="resize")


def _nearest(
    place: PrimExpr, size: PrimExpr, places: PrimExpr, coordinates: str, rounding: str
) -> PrimExpr:
    """The element next to the coordinate of ``place``, a quotient of integers."""
    if coordinates == "align_corners":
        above, below = place * (size - 1), tirx.max(places - 1, 1)
    elif coordinates == "asymmetric":
        above, below = place * size, places
    else:
        above, below = (2 * place + 1) * size - places, 2 * places
        if coordinates == "pytorch_half_pixel":
            above = tirx.Select(places > 1, above, tvm_api.integer_like(above, 0))
    if rounding == "ceil":
        above = above + below - 1
    elif rounding != "floor":
        ahead = below if rounding == "round_prefer_ceil" else below - 1
        above, below = 2 * above + ahead, 2 * below
    return tirx.max(tirx.min(tvm_api.floordiv(above, below), size - 1), 0)


def _coordinate(
    place: PrimExpr, size: PrimExpr, places: PrimExpr, coordinates: str, dtype: str
) -> PrimExpr:
    """The coordinate of ``place`` among ``size`` elements."""
    one = tirx.const(1, dtype)
    out = places.astype(dtype)
    if coordinates == "align_corners":
        return place.astype(dtype) * ((size.astype(dtype) - one) / tirx.max(out - one, one))
    if coordinates == "asymmetric":
        # TVM simplifies a float over itself to an integer immediate of a float dtype.
        return place.astype(dtype) * (size.astype(dtype) / tirx.max(out, one))
    half = tirx.const(0.5, dtype)
    middle = (place.astype(dtype) + half) * (size.astype(dtype) / out) - half
    if coordinates == "pytorch_half_pixel":
        return tirx.Select(places > 1, middle, tirx.const(0, dtype))
    return middle


def _around(coordinate: PrimExpr, size: PrimExpr) -> list[tuple[PrimExpr, PrimExpr]]:
    """The elements before and after ``coordinate``, each with its share."""
    dtype = tvm_api.dtype_of(coordinate)
    one = tirx.const(1, dtype)
    coordinate = tirx.max(tirx.min(coordinate, size.astype(dtype) - one), tirx.const(0, dtype))
    first = tirx.floor(coordinate)
    before, share = first.astype("int64"), coordinate - first
    return [(before, one - share), (tirx.min(before + 1, size - 1), share)]


def _convolved(data: Tensor, sizes: list[PrimExpr], axes: Sequence[int], attrs: Any) -> Tensor:
    """Sums of the four elements along each axis that are around a coordinate.

    Their numbers and weights are tables: written out, each of 64 products repeats three weights.
    """
    own = tvm_api.dtype_of(data)
    dtype = "float64" if own == "float64" else "float32"
    tables = [
        _numbers_and_weights(data.shape[axis], size, attrs, dtype)
        for axis, size in zip(axes, sizes, strict=True)
    ]
    taps = [te.reduce_axis((0, 4), name=f"tap{axis}") for axis in axes]
    shape = list(data.shape)
    for axis, size in zip(axes, sizes, strict=True):
        shape[axis] = size

    def element(*place: PrimExpr) -> PrimExpr:
        at, share = list(place), tirx.const(1, dtype)
        for axis, tap, (numbers, weights) in zip(axes, taps, tables, strict=True):
            at[axis] = numbers[place[axis], tap]
            share = share * weights[place[axis], tap]
        return te.sum(data[tuple(at)].astype(dtype) * share, axis=taps)

    total = te.compute(shape, element, name="convolve")
    return te.compute(shape, lambda *place: total[place].astype(own), name="resize")


def _numbers_and_weights(
    size: PrimExpr, places: PrimExpr, attrs: Any, dtype: str
) -> tuple[Tensor, Tensor]:
    """Of each place the four elements around its coordinate, and their cubic convolution.

    Source: R. G. Keys, "Cubic convolution interpolation for digital image processing", 1981.
    """
    alpha, coordinates = float(attrs.cubic_alpha), str(attrs.coordinate_transformation_mode)

    def number(value: float) -> PrimExpr:
        return tirx.const(value, dtype)

    def first(place: PrimExpr) -> PrimExpr:
        return tirx.floor(_coordinate(place, size, places, coordinates, dtype)) - number(1)

    def weight(place: PrimExpr, tap: PrimExpr) -> PrimExpr:
        at = first(place) + tap.astype(dtype)
        distance = tirx.abs(_coordinate(place, size, places, coordinates, dtype) - at)
        inner = number(alpha + 2) * distance - number(alpha + 3)
        near = inner * distance * distance + number(1)
        outer = (distance - number(5)) * distance + number(8)
        far = (outer * distance - number(4)) * number(alpha)
        share = tirx.Select(distance <= number(1), near, far)
        if int(attrs.cubic_exclude) != 1:
            return share
        is_inside = tirx.all(at >= number(0), at < size.astype(dtype))
        return tirx.Select(is_inside, share, number(0))

    numbers = te.compute(
        (places, 4),
        lambda place, tap: tirx.max(
            tirx.min(first(place).astype("int64") + tap.astype("int64"), size - 1), 0
        ),
        name="number",
    )
    weights = te.compute((places, 4), weight, name="weight")
    if int(attrs.cubic_exclude) != 1:
        return numbers, weights
    whole = te.compute(
        (places, 4),
        lambda place, tap: (
            weights[place, tap]
            / (weights[place, 0] + weights[place, 1] + weights[place, 2] + weights[place, 3])
        ),
        name="share",
    )
    return numbers, whole
