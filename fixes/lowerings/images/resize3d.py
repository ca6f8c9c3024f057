"""Interpolation of volumes with symbolic sizes, in float64, or to one place.

As for images: TOPI's expression for aligned corners of a symbolic size is simplified to an integer
immediate of a float dtype, it divides by the number of places less one, and it casts every element
to float32, whatever the dtype of the tensor.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor

UPSTREAM = NewFile("relax/transform/legalize_ops/resize3d.py")

OPERATOR = "relax.image.resize3d"

_COORDINATES = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel")
_ROUNDINGS = ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")
"""TOPI lowers other methods, coordinates and roundings."""

_AXES = {"NCDHW": (2, 3, 4), "NDHWC": (1, 2, 3)}


def _in_any_size(original: Legalization) -> Legalization:
    """``original``, except for nearest and linear interpolation where it fails or is imprecise."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        data, attrs = call.args[0], call.attrs
        sizes = getattr(tvm_api.type_of(call.args[1]), "values", None)
        coordinates, method = str(attrs.coordinate_transformation_mode), str(attrs.method)
        rounding = _rounding(method, coordinates, str(attrs.rounding_method))
        axes = _AXES.get(str(attrs.layout))
        if (
            coordinates not in _COORDINATES
            or rounding not in ("", *_ROUNDINGS)
            or axes is None
            or sizes is None
            or not tvm_api.has_shape(data)
            or "float" not in tvm_api.dtype_of(data)
        ):
            return original(builder, call)
        own = [tvm_api.shape_of(data)[axis] for axis in axes]
        numbers = all(tvm_api.as_int(size) is not None for size in (*sizes, *own))
        single = coordinates == "align_corners" and 1 in map(tvm_api.as_int, sizes)
        if numbers and not single and tvm_api.dtype_of(data) != "float64":
            return original(builder, call)

        def compute(tensor: Tensor, sizes: Any) -> Tensor:
            return _resized(tensor, list(sizes), axes, coordinates, rounding)

        return builder.call_te(compute, data, list(sizes), primfunc_name_hint="resize3d")

    return lower


def _rounding(method: str, coordinates: str, rounding: str) -> str:
    """The rounding of the nearest neighbour; empty for linear, the method's name for others."""
    if method != "nearest_neighbor":
        return "" if method == "linear" else method
    # TOPI takes none for floor.
    return rounding or ("floor" if coordinates == "asymmetric" else "round")


def _resized(
    data: Tensor, sizes: list[PrimExpr], axes: Sequence[int], coordinates: str, rounding: str
) -> Tensor:
    """The nearest elements by ``rounding``, else the means of eight."""
    own = tvm_api.dtype_of(data)
    dtype = "float64" if own == "float64" else "float32"
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
                lines.append(_around(place[axis], count, size, coordinates, dtype))
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


def _around(
    place: PrimExpr, size: PrimExpr, places: PrimExpr, coordinates: str, dtype: str
) -> list[tuple[PrimExpr, PrimExpr]]:
    """The elements before and after the coordinate of ``place``, each with its share."""
    one, zero = tirx.const(1, dtype), tirx.const(0, dtype)
    last, out = size.astype(dtype) - one, places.astype(dtype)
    if coordinates == "align_corners":
        coordinate = place.astype(dtype) * (last / tirx.max(out - one, one))
    elif coordinates == "asymmetric":
        # TVM simplifies a float over itself to an integer immediate of a float dtype.
        coordinate = place.astype(dtype) * (size.astype(dtype) / tirx.max(out, one))
    else:
        half = tirx.const(0.5, dtype)
        coordinate = (place.astype(dtype) + half) * (size.astype(dtype) / out) - half
        if coordinates == "pytorch_half_pixel":
            coordinate = tirx.Select(places > 1, coordinate, zero)
    coordinate = tirx.max(tirx.min(coordinate, last), zero)
    first = tirx.floor(coordinate)
    before, share = first.astype("int64"), coordinate - first
    return [(before, one - share), (tirx.min(before + 1, size - 1), share)]


_VOLUME = np.array([[[[[1, 2], [3, 4]]]]], "float32")
_LARGE = 1e100
"""Beyond float32; its square is within float64."""


def aligns_corners() -> bool:
    """True if a volume of symbolic size is resized with aligned corners."""
    n = tvm_api.shape_var("n")
    return probes.computes(_resizing((1, n, n), n, "float32"), [_VOLUME], _VOLUME)


def aligns_one_element() -> bool:
    """True if a volume is resized with aligned corners to one element, its first."""
    call = _resizing((1, 1, 1), 2, "float32")
    return probes.computes(call, [_VOLUME], _VOLUME[..., :1, :1])


def resizes_float64() -> bool:
    """True if values beyond float32 are kept."""
    volume = _VOLUME.astype("float64") * _LARGE
    call = _resizing((1, 2, 2), 2, "float64", "half_pixel")
    return probes.computes(call, [volume], volume)


def _resizing(size: Sequence[Any], n: Any, dtype: str, mode: str = "align_corners") -> Call:
    return probes.one_call(
        lambda x: relax.op.image.resize3d(
            x, relax.ShapeExpr(list(size)), coordinate_transformation_mode=mode
        ),
        (1, 1, 1, n, n),
        dtypes=(dtype,),
    )


FIX = Fix(
    name="resize3d",
    operators=(OPERATOR,),
    fault=(
        "a volume of symbolic size is not resized with aligned corners; no volume is resized to one"
        " place with aligned corners; float64 is rounded to float32"
    ),
    issue=None,
    parts=(
        FaultPart("aligned corners", lambda: not aligns_corners()),
        FaultPart("one element", lambda: not aligns_one_element()),
        FaultPart("float64", lambda: not resizes_float64()),
    ),
    attributes=(OperatorAttribute(OPERATOR, LEGALIZE, _in_any_size),),
    single=(OPERATOR,),
    after="normalization",
    patch=(Wrapping(OPERATOR, _in_any_size),),
)
