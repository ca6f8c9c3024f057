"""Adaptive pooling over one axis to its own size.

Without an output size the result has the size of the data. The lowering hands TOPI that size as an
integer, where TOPI takes a list. Each window is one element, its mean the element itself.
"""

import numpy as np
from tvm import relax, topi

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization

UPSTREAM = NewFile("relax/transform/legalize_ops/own_size.py")

OPERATOR = "relax.nn.adaptive_avg_pool1d"


def _copied(original: Legalization) -> Legalization:
    """``original``, except without an output size and with the output in the data's layout."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        attributes = tvm_api.attribute_values(call.attrs)
        if attributes["output_size"] is not None or str(attributes["out_layout"]) != str(
            attributes["layout"]
        ):
            return original(builder, call)
        name = "adaptive_avg_pool1d"
        return builder.call_te(topi.identity, call.args[0], primfunc_name_hint=name)

    return lower


def pools_to_own_size() -> bool:
    """True if the pool without an output size returns its data."""
    call = probes.one_call(relax.op.nn.adaptive_avg_pool1d, (1, 1, 3))
    array = np.arange(3, dtype="float32").reshape(1, 1, 3)
    return probes.computes(call, [array], array)


FIX = Fix(
    name="own_size",
    operators=(OPERATOR,),
    fault="adaptive_avg_pool1d without an output size is not lowered: an integer is no list",
    issue=None,
    parts=(FaultPart("no output size", lambda: not pools_to_own_size()),),
    attributes=(OperatorAttribute(OPERATOR, LEGALIZE, _copied),),
    after="negative_axes",
    patch=(Wrapping(OPERATOR, _copied),),
)
