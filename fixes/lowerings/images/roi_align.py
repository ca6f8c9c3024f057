"""Aligned regions of interest in float16, which TOPI computes, and returns, in float32."""

import numpy as np
from tvm import relax, topi

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization

UPSTREAM = NewFile("relax/transform/legalize_ops/roi_align.py")

OPERATOR = "relax.vision.roi_align"


def _in_its_dtype(original: Legalization) -> Legalization:
    """``original``, whose result is cast to the dtype that the call is typed with."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        dtype = tvm_api.dtype_of(call)
        pooled = builder.normalize(original(builder, call))
        if not tvm_api.has_shape(call.args[0]) or tvm_api.dtype_of(pooled) == dtype:
            return pooled
        return builder.call_te(topi.cast, builder.emit(pooled), dtype)

    return lower


def keeps_float16() -> bool:
    """True if the result of float16 is float16."""
    image, box = np.array([[[[1, 3]]]], "float16"), np.array([[0, 0, 0, 1, 1]], "float16")
    module = probes.program(
        lambda x, rois: relax.op.vision.roi_align(x, rois, (1, 1), 1.0),
        *(image.shape, box.shape),
        dtypes=("float16", "float16"),
    )
    result = probes.run(module, image, box)
    return result.dtype == "float16" and bool((result == 2).all())


FIX = Fix(
    name="roi_align",
    operators=(OPERATOR,),
    fault="roi_align of float16 is lowered to a kernel of float32 results",
    issue=None,
    parts=(FaultPart("float16", lambda: not keeps_float16()),),
    attributes=(OperatorAttribute(OPERATOR, LEGALIZE, _in_its_dtype),),
    single=(OPERATOR,),
    after="normalization",
    patch=(Wrapping(OPERATOR, _in_its_dtype),),
)
