"""Aligned regions of interest in float16, which TOPI computes, and returns, in float32."""

from tvm import relax, topi

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, Tensor

UPSTREAM = NewFile("relax/transform/legalize_ops/roi_align.py")

OPERATOR = "relax.vision.roi_align"


def _in_its_dtype(original: Legalization) -> Legalization:
    """``original``, but TOPI's result of float16 is cast to it."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        data, rois = call.args
        dtype, attrs = tvm_api.dtype_of(data), call.attrs
        if dtype != "float16" or not tvm_api.has_shape(data) or not tvm_api.has_shape(rois):
            return original(builder, call)

        def align(images: Tensor, boxes: Tensor) -> Tensor:
            pooled = topi.vision.roi_align(
                images,
                boxes,
                attrs.pooled_size,
                attrs.spatial_scale,
                mode=str(attrs.mode),
                sample_ratio=int(attrs.sample_ratio),
                aligned=bool(attrs.aligned),
                layout=str(attrs.layout),
            )
            return topi.cast(pooled, dtype)

        return builder.call_te(align, data, rois, primfunc_name_hint="roi_align")

    return lower


def keeps_float16() -> bool:
    """True if float16 is lowered to a kernel of float16 results."""
    call = probes.one_call(
        lambda x, rois: relax.op.vision.roi_align(x, rois, (1, 1), 1.0, sample_ratio=1),
        *((1, 1, 1, 2), (1, 5)),
        dtypes=("float16", "float16"),
    )
    lowered = probes.lowered(call)
    return lowered is not None and lowered[1] == "float16"


FIX = Fix(
    name="roi_align",
    operators=(OPERATOR,),
    fault="roi_align of float16 is lowered to a kernel of float32 results",
    issue=None,
    parts=(FaultPart("float16", lambda: not keeps_float16()),),
    attributes=(OperatorAttribute(OPERATOR, LEGALIZE, _in_its_dtype),),
    after="normalization",
    patch=(Wrapping(OPERATOR, _in_its_dtype),),
)
