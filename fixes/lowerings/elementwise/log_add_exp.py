"""The logarithm of a sum of two exponentials.

TVM computes log(exp(x1) + exp(x2)) as it is written: exp overflows from 88.8 on in float32, where
the result is the operand itself, and underflows from -104 on. The larger operand is taken out of
the sum: max + log1p(exp(-|x1 - x2|)). Sixteen bits are computed in float32.
"""

from typing import Any

import numpy as np
from tvm import relax, te, tirx, topi

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.broadcast_elements import element
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor

UPSTREAM = NewFile("relax/transform/legalize_ops/log_add_exp.py")

OPERATOR = "relax.log_add_exp"


def _stable(original: Legalization) -> Legalization:
    """``original`` for floating-point tensors, with the larger operand outside the sum."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        dtype = tvm_api.dtype_of(call)
        if not ("float" in dtype and all(map(tvm_api.has_shape, call.args))):
            return original(builder, call)
        wide = "float64" if dtype == "float64" else "float32"

        def compute(left: Tensor, right: Tensor) -> Tensor:
            shape = list(topi.subtract(left, right).shape)

            def sum_of(*at: PrimExpr) -> PrimExpr:
                x1, x2 = (element(each, at, shape).astype(wide) for each in (left, right))
                return _sum(x1, x2, wide).astype(dtype)

            return te.compute(shape, sum_of, name="log_add_exp")

        return builder.call_te(compute, *call.args, primfunc_name_hint="log_add_exp")

    return lower


def _sum(left: Any, right: Any, dtype: str) -> Any:
    """The larger one, and what the smaller one adds to it; NaN where either is."""
    # Not max and min: of NaN and a number they may be the number.
    most, least = tirx.Select(left > right, left, right), tirx.Select(left > right, right, left)
    # Equal infinities leave no difference, but NaN.
    gap = tirx.Select(tvm_api.equal(left, right), tirx.const(0, dtype), least - most)
    return most + tirx.log1p(tirx.exp(gap))


def is_finite() -> bool:
    """True if exponentials that overflow or underflow do not show."""
    x1, x2 = (np.array(values, "float32") for values in ((200, -200, 1), (100, -201, 0)))
    call = probes.one_call(relax.op.log_add_exp, (3,), (3,))
    return probes.computes(call, [x1, x2], np.logaddexp(x1, x2))


FIX = Fix(
    name="log_add_exp",
    operators=(OPERATOR,),
    fault="log_add_exp is infinite where the exponential of an operand overflows or underflows",
    issue=None,
    parts=(FaultPart("overflow", lambda: not is_finite()),),
    attributes=(OperatorAttribute(OPERATOR, LEGALIZE, _stable),),
    after="elementary_functions",
    patch=(Wrapping(OPERATOR, _stable),),
)
