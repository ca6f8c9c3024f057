"""The sign of unsigned integers.

TOPI chooses among 1, 0 and -1, which no unsigned dtype holds: LegalizeOps raises.
"""

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor

UPSTREAM = NewFile("relax/transform/legalize_ops/unsigned_sign.py")

OPERATOR = "relax.sign"


def _never_negative(original: Legalization) -> Legalization:
    """``original``, except for unsigned integers."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        dtype = tvm_api.dtype_of(call)
        if not dtype.startswith("uint"):
            return original(builder, call)

        def compute(data: Tensor) -> Tensor:
            def element(*at: PrimExpr) -> PrimExpr:
                return tirx.min(data(*at), tirx.const(1, dtype))

            return te.compute(data.shape, element, name="sign")

        return builder.call_te(compute, call.args[0], primfunc_name_hint="tir_sign")

    return lower


def has_unsigned() -> bool:
    """True if the signs of 0, 1 and 255 of uint8 are computed."""
    call = probes.one_call(relax.op.sign, (3,), dtypes=("uint8",))
    return probes.computes(call, [np.array([0, 1, 255], "uint8")], np.array([0, 1, 1]))


FIX = Fix(
    name="unsigned_sign",
    operators=(OPERATOR,),
    fault="the sign of unsigned integers is not computed: the lowering needs -1 in their dtype",
    issue=None,
    parts=(FaultPart("unsigned integers", lambda: not has_unsigned()),),
    attributes=(OperatorAttribute(OPERATOR, LEGALIZE, _never_negative),),
    after="log_add_exp",
    patch=(Wrapping(OPERATOR, _never_negative),),
)
