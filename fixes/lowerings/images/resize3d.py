"""Interpolation of volumes with symbolic sizes, in float64, or to one place.

As for images: TOPI's expression for aligned corners of a symbolic size is simplified to an integer
immediate of a float dtype, it divides by the number of places less one, and it casts every element
to float32, whatever the dtype of the tensor.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.lowerings.images import resizing
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, Tensor

UPSTREAM = NewFile("relax/transform/legalize_ops/resize3d.py")

OPERATOR = "relax.image.resize3d"

_AXES = {"NCDHW": (2, 3, 4), "NDHWC": (1, 2, 3)}


def _in_any_size(original: Legalization) -> Legalization:
    """``original``, except where it fails or is imprecise."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        data, attrs = call.args[0], call.attrs
        sizes = getattr(tvm_api.type_of(call.args[1]), "values", None)
        axes = _AXES.get(str(attrs.layout))
        if (
            not resizing.is_resized_here(attrs)
            or axes is None
            or sizes is None
            or not tvm_api.has_shape(data)
            or "float" not in tvm_api.dtype_of(data)
        ):
            return original(builder, call)
        own = [tvm_api.shape_of(data)[axis] for axis in axes]
        # TOPI takes the weights along the width for those along the depth.
        inside = str(attrs.method) == "cubic" and int(attrs.cubic_exclude) == 1
        if not (inside or resizing.needs_any_size(attrs, tvm_api.dtype_of(data), own, sizes)):
            return original(builder, call)

        def compute(tensor: Tensor, sizes: Any) -> Tensor:
            return resizing.resized(tensor, list(sizes), axes, attrs)

        return builder.call_te(compute, data, list(sizes), primfunc_name_hint="resize3d")

    return lower


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


def convolves_the_inside() -> bool:
    """True if a volume of two depths and one column is convolved over the elements inside."""
    call = probes.one_call(
        lambda x: relax.op.image.resize3d(
            x, relax.ShapeExpr([4, 1, 1]), method="cubic", cubic_exclude=1
        ),
        (1, 1, 2, 1, 1),
    )
    volume = np.array([0, 6], "float32").reshape(1, 1, 2, 1, 1)
    wanted = np.array([-0.818, 1.377, 4.623, 6.818], "float32").reshape(1, 1, 4, 1, 1)
    return probes.computes(call, [volume], wanted)


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
        " place with aligned corners; float64 is rounded to float32; a cubic convolution over the"
        " elements inside has the weights of the width along the depth"
    ),
    issue=None,
    parts=(
        FaultPart("aligned corners", lambda: not aligns_corners()),
        FaultPart("one element", lambda: not aligns_one_element()),
        FaultPart("float64", lambda: not resizes_float64()),
        FaultPart("the inside alone", lambda: not convolves_the_inside()),
    ),
    attributes=(OperatorAttribute(OPERATOR, LEGALIZE, _in_any_size),),
    after="normalization",
    patch=(Wrapping(OPERATOR, _in_any_size),),
)
