"""Pooled regions whose scaled corners are negative halves.

A comment in TOPI's ``roi_pool`` says that corners are rounded as by C's ``round``, ties away from
zero. It takes the floor of a corner plus a half, which rounds -0.5 to 0 and not to -1.
"""

import numpy as np
from tvm import relax, te, tirx, topi

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor

UPSTREAM = NewFile("relax/transform/legalize_ops/roi_pool.py")

OPERATOR = "relax.vision.roi_pool"


def _of_rounded_corners(original: Legalization) -> Legalization:
    """TOPI's ``roi_pool`` of corners that are scaled and rounded beforehand."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        data, rois = call.args
        if not tvm_api.has_shape(data) or not tvm_api.has_shape(rois):
            return original(builder, call)
        scale = float(call.attrs.spatial_scale)

        def pool(images: Tensor, boxes: Tensor) -> Tensor:
            corners = _rounded(boxes, scale)
            return topi.vision.roi_pool(
                images, corners, call.attrs.pooled_size, 1.0, str(call.attrs.layout)
            )

        return builder.call_te(pool, data, rois, primfunc_name_hint="roi_pool")

    return lower


def _rounded(rois: Tensor, scale: float) -> Tensor:
    """The rows of ``rois`` with their corners in pixels, ties away from zero."""
    dtype = tvm_api.dtype_of(rois)

    def element(row: PrimExpr, column: PrimExpr) -> PrimExpr:
        place = rois[row, column]
        scaled, half = place * tirx.const(scale, dtype), tirx.const(0.5, dtype)
        up, down = tirx.floor(scaled + half), tirx.ceil(scaled - half)
        corner = tirx.if_then_else(scaled < tirx.const(0, dtype), down, up)
        return tirx.if_then_else(column == 0, place, corner)

    return te.compute(rois.shape, element, name="corners")


def rounds_negative_halves() -> bool:
    """True if a box from -0.5 to 1 has three columns, and its first third none of the image's."""
    call = probes.one_call(
        lambda x, rois: relax.op.vision.roi_pool(x, rois, (1, 3), 1.0), (1, 1, 1, 2), (1, 5)
    )
    image, box = np.array([[[[3, 4]]]], "float32"), np.array([[0, -0.5, 0, 1, 0]], "float32")
    return probes.computes(call, [image, box], np.array([[[[0, 3, 4]]]]))


FIX = Fix(
    name="roi_pool",
    operators=(OPERATOR,),
    fault="roi_pool rounds a scaled corner of -0.5 to 0, not away from zero as its comment says",
    issue=None,
    parts=(FaultPart("negative halves", lambda: not rounds_negative_halves()),),
    attributes=(OperatorAttribute(OPERATOR, LEGALIZE, _of_rounded_corners),),
    after="normalization",
    patch=(Wrapping(OPERATOR, _of_rounded_corners),),
)
