"""Interpolation of images with symbolic sizes, in float64, or to one element.

TOPI tests whether an integer scale divides the size, which it assumes to be a number. Its
expression for aligned corners of a symbolic size is simplified to an integer immediate of a float
dtype. To align the corners of one element it divides by 0. It casts every element to float32,
whatever the dtype of the tensor.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import relax, topi

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.lowerings.images import resizing
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, Tensor

UPSTREAM = NewFile("relax/transform/legalize_ops/resize.py")

_AXES = {"NCHW": (2, 3), "NHWC": (1, 2)}


def _in_any_size(original: Legalization) -> Legalization:
    """``original``, except where it fails or is imprecise."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        attrs, sizes = call.attrs, getattr(tvm_api.type_of(call.args[1]), "values", None)
        data, dtype, axes = call.args[0], tvm_api.dtype_of(call), _AXES.get(str(attrs.layout))
        if sizes is not None and tvm_api.has_shape(data) and dtype != tvm_api.dtype_of(data):
            # TOPI ignores the requested dtype and returns that of the image.
            resized = builder.emit(lower(builder, builder.normalize(_of_own_dtype(call))))
            return builder.call_te(topi.cast, resized, dtype)
        if (
            not resizing.is_resized_here(attrs)
            or axes is None
            or sizes is None
            or not tvm_api.has_shape(data)
        ):
            return original(builder, call)
        own = [tvm_api.shape_of(data)[axis] for axis in axes]
        if "float" not in dtype:
            if not resizing.rounding_of(attrs):
                return original(builder, call)
        elif not resizing.needs_any_size(attrs, dtype, own, sizes):
            return original(builder, call)

        def compute(tensor: Tensor, sizes: Any) -> Tensor:
            return resizing.resized(tensor, list(sizes), axes, attrs)

        return builder.call_te(compute, data, list(sizes), primfunc_name_hint="resize2d")

    return lower


def _of_own_dtype(call: Call) -> Call:
    """``call`` with a result of the dtype of its image."""
    attrs = call.attrs
    return relax.op.image.resize2d(
        *call.args,
        roi=tuple(map(float, attrs.roi)),
        layout=str(attrs.layout),
        method=str(attrs.method),
        coordinate_transformation_mode=str(attrs.coordinate_transformation_mode),
        rounding_method=str(attrs.rounding_method),
        cubic_alpha=float(attrs.cubic_alpha),
        cubic_exclude=int(attrs.cubic_exclude),
        extrapolation_value=float(attrs.extrapolation_value),
    )


_LARGE = 1e100
"""Beyond float32; its square is within float64."""


_IMAGE = np.array([[[[1, 2], [3, 4]]]], "float32")


def resizes_symbols() -> bool:
    """True if an image of symbolic size is resized to a static size."""
    call = _resizing((1, 1), "float32", "nearest_neighbor", "asymmetric")
    return probes.computes(call, [_IMAGE], _IMAGE[..., :1, :1])


def aligns_corners() -> bool:
    """True if an image of symbolic size is resized with aligned corners."""
    call = _resizing((None, None), "float32", "linear", "align_corners")
    return probes.computes(call, [_IMAGE], _IMAGE)


def aligns_one_element() -> bool:
    """True if an image is resized with aligned corners to one element, its first."""
    call = _resizing((1, 1), "float64", "linear", "align_corners")
    return probes.computes(call, [_IMAGE.astype("float64")], _IMAGE[..., :1, :1])


def resizes_float64() -> bool:
    """True if values beyond float32 are kept."""
    image = _IMAGE.astype("float64") * _LARGE
    call = _resizing((2, 2), "float64", "nearest_neighbor", "asymmetric")
    return probes.computes(call, [image], image)


def resizes_integers() -> bool:
    """True if nearest interpolation keeps an integer that float32 does not have."""
    call = _resizing((2, 2), "int32", "nearest_neighbor", "asymmetric")
    odd = 2**24 + 1
    lowered = probes.lowered(call)
    if lowered is None:
        return False
    array = np.full((1, 1, 2, 2), odd, "int32")
    run = tvm_api.compiled(lowered[0])
    return bool((run(array, np.zeros((1, 1, 2, 2), lowered[1])) == odd).all())


def resizes_to_another_dtype() -> bool:
    """True if the result has the requested dtype, which is that of its type."""
    x = _IMAGE
    module = probes.program(
        lambda image: relax.op.image.resize2d(
            image, relax.ShapeExpr([4, 4]), method="linear", layout="NCHW", out_dtype="float16"
        ),
        x.shape,
    )
    return probes.run(module, x).dtype == "float16"


def _resizing(size: Sequence[Any], dtype: str, *mode: str) -> Call:
    """The call that resizes an image of one symbolic size n, or of 2 by 2."""
    method, coordinates = mode
    n = tvm_api.shape_var("n") if dtype == "float32" else 2
    return probes.one_call(
        lambda x: relax.op.image.resize2d(
            x,
            relax.ShapeExpr([n if dim is None else dim for dim in size]),
            method=method,
            coordinate_transformation_mode=coordinates,
            rounding_method="floor",
            layout="NCHW",
        ),
        (1, 1, n, n),
        dtypes=(dtype,),
    )


FIX = Fix(
    name="resize",
    operators=("relax.image.resize2d",),
    fault=(
        "an image of symbolic size is not resized to a static size, or with aligned corners; no"
        " image is resized to one element with aligned corners; float64 and integers are rounded to"
        " float32; the requested dtype is ignored"
    ),
    issue=None,
    parts=(
        FaultPart("symbolic sizes", lambda: not resizes_symbols()),
        FaultPart("aligned corners", lambda: not aligns_corners()),
        FaultPart("one element", lambda: not aligns_one_element()),
        FaultPart("float64", lambda: not resizes_float64()),
        FaultPart("integers", lambda: not resizes_integers()),
        FaultPart("other dtypes", lambda: not resizes_to_another_dtype()),
    ),
    attributes=(OperatorAttribute("relax.image.resize2d", LEGALIZE, _in_any_size),),
    single=("relax.image.resize2d",),
    after="normalization",
    patch=(Wrapping("relax.image.resize2d", _in_any_size),),
)
