"""Negation of unsigned integers.

TOPI multiplies by -1, which no unsigned dtype holds. The result is the additive inverse modulo 2 to
the power of the bits, as in NumPy and PyTorch.
"""

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor

UPSTREAM = NewFile("relax/transform/legalize_ops/unsigned_negation.py")

OPERATOR = "relax.negative"


def _modular(original: Legalization) -> Legalization:
    """``original``, except for unsigned integers."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        dtype = tvm_api.dtype_of(call)
        if not dtype.startswith("uint"):
            return original(builder, call)

        def compute(data: Tensor) -> Tensor:
            zero, unit = tirx.const(0, dtype), tirx.const(1, dtype)

            def negated(*at: PrimExpr) -> PrimExpr:
                # No step leaves the dtype's range: LLVM may assume that none does.
                inverse = tirx.bitwise_not(data(*at) - unit)
                return tirx.if_then_else(tirx.EQ(data(*at), zero), zero, inverse)

            return te.compute(data.shape, negated, name="negative")

        return builder.call_te(compute, call.args[0], primfunc_name_hint="tir_negative")

    return lower


def negates_unsigned() -> bool:
    """True if 0, 1 and 255 of uint8 are negated."""
    call = probes.one_call(relax.op.negative, (3,), dtypes=("uint8",))
    array = np.array([0, 1, 255], "uint8")
    return probes.computes(call, [array], np.array([0, 255, 1]))


FIX = Fix(
    name="unsigned_negation",
    operators=(OPERATOR,),
    fault="unsigned integers cannot be negated: the lowering multiplies them by -1",
    issue=None,
    parts=(FaultPart("unsigned integers", lambda: not negates_unsigned()),),
    attributes=(OperatorAttribute(OPERATOR, LEGALIZE, _modular),),
    after="own_size",
    patch=(Wrapping(OPERATOR, _modular),),
)
