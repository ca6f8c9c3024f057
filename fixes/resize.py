"""Interpolation of images whose sizes are symbolic, of float64, or to one element.

TOPI asks whether an integer scale divides a size of which it takes for granted that it is a number;
what it computes of a symbolic size to align corners, the simplifier turns into an integer immediate
of a float dtype; to align the corners of one element it divides by 0; and it casts every element
to float32, whatever the tensor has.
"""

from typing import Any

from tvm import te, tirx

from fixes import probes_of_lowerings as probes
from fixes import tvm_api
from fixes.fix import LEGALIZE, Fix, OperatorAttribute, Part
from fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor

_NEAREST = ("nearest_neighbor", "asymmetric", "floor")
_LINEAR = {("linear", "half_pixel"): False, ("linear", "align_corners"): True}
"""Whether corners are aligned; elsewhere the middles of elements are where they are in the whole.

The other methods are left to TOPI.
"""


def _in_any_size(original: Legalization) -> Legalization:
    """``original``, but for nearest and linear interpolation that it cannot do, or not as it is."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        attrs, sizes = call.attrs, getattr(tvm_api.type_of(call.args[1]), "values", None)
        method = (str(attrs.method), str(attrs.coordinate_transformation_mode))
        nearest = (*method, str(attrs.rounding_method)) == _NEAREST
        data = call.args[0]
        if (
            not (nearest or method in _LINEAR)
            or str(attrs.layout) != "NCHW"
            or str(attrs.out_dtype or "") not in ("", "void", tvm_api.dtype_of(data))
            or sizes is None
            or not tvm_api.has_shape(data)
        ):
            return original(builder, call)
        spatial = [*sizes, *tvm_api.shape_of(data)[2:]]
        wide = tvm_api.dtype_of(data) == "float64"
        numbers = all(tvm_api.as_int(size) is not None for size in spatial)
        # TOPI divides by one element less than there are of them.
        one = _LINEAR.get(method, False) and 1 in map(tvm_api.as_int, sizes)
        if "float" not in tvm_api.dtype_of(data):
            if not nearest:
                return original(builder, call)
        elif numbers and not wide and not one:
            return original(builder, call)

        def compute(tensor: Tensor, sizes: Any) -> Tensor:
            if nearest:
                return _nearest(tensor, list(sizes))
            return _linear(tensor, list(sizes), _LINEAR[method])

        return builder.call_te(compute, data, list(sizes), primfunc_name_hint="resize2d")

    return lower


def _nearest(data: Tensor, sizes: list[PrimExpr]) -> Tensor:
    """The element that a place's coordinate is in, in integers."""
    height, width = data.shape[2:]

    def element(n: PrimExpr, c: PrimExpr, y: PrimExpr, x: PrimExpr) -> PrimExpr:
        down = tvm_api.floordiv(y * height, sizes[0])
        return data[n, c, down, tvm_api.floordiv(x * width, sizes[1])]

    return te.compute((*data.shape[:2], *sizes), element, name="resize")


def _linear(data: Tensor, sizes: list[PrimExpr], corners: bool) -> Tensor:
    """The four elements around a place's coordinate, each by how near it is."""
    own = tvm_api.dtype_of(data)
    dtype = "float64" if own == "float64" else "float32"

    def around(axis: int, place: PrimExpr) -> tuple[PrimExpr, PrimExpr, PrimExpr]:
        """The element at or before the coordinate of ``place``, the next one, and its share."""
        size, out = data.shape[2 + axis], sizes[axis]
        last = size.astype(dtype) - tirx.const(1, dtype)
        if corners:
            step = last / tirx.max(out.astype(dtype) - tirx.const(1, dtype), tirx.const(1, dtype))
            coordinate = place.astype(dtype) * step
        else:
            half = tirx.const(0.5, dtype)
            step = size.astype(dtype) / out.astype(dtype)
            coordinate = (place.astype(dtype) + half) * step - half
        coordinate = tirx.max(tirx.min(coordinate, last), tirx.const(0, dtype))
        first = tirx.floor(coordinate)
        before = first.astype("int64")
        return before, tirx.min(before + 1, size - 1), coordinate - first

    def element(n: PrimExpr, c: PrimExpr, y: PrimExpr, x: PrimExpr) -> PrimExpr:
        top, bottom, down = around(0, y)
        left, right, along = around(1, x)

        def row(at: PrimExpr) -> PrimExpr:
            one, other = (data[n, c, at, column].astype(dtype) for column in (left, right))
            return one * (tirx.const(1, dtype) - along) + other * along

        value = row(top) * (tirx.const(1, dtype) - down) + row(bottom) * down
        return value.astype(own)

    return te.compute((*data.shape[:2], *sizes), element, name="resize")


FIX = Fix(
    name="resize",
    operators=("relax.image.resize2d",),
    fault=(
        "an image of symbolic size is not resized to a size that is a number, nor with its corners"
        " aligned; nor any to one element with its corners aligned; one of float64, or of integers,"
        " is rounded to float32"
    ),
    issue=None,
    parts=(
        Part("symbolic sizes", lambda: not probes.resizes_symbols()),
        Part("aligned corners", lambda: not probes.aligns_corners()),
        Part("one element", lambda: not probes.aligns_one_element()),
        Part("float64", lambda: not probes.resizes_float64()),
        Part("integers", lambda: not probes.resizes_integers()),
    ),
    attributes=(OperatorAttribute("relax.image.resize2d", LEGALIZE, _in_any_size),),
)
