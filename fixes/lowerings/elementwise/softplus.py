"""Softplus without overflow.

TOPI computes log(1 + exp(beta * x)) as it is written. Below 0 the sum is rounded to 1 and every
digit is lost; in float16 exp overflows from 11.1 on, while the threshold is 20. Taking the larger
of beta * x and 0 out of the logarithm avoids both. Sixteen bits are computed in float32.
"""

from typing import Any

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor

UPSTREAM = NewFile("relax/transform/legalize_ops/softplus.py")

OPERATOR = "relax.nn.softplus"


def _stable(original: Legalization) -> Legalization:
    """Softplus with what is above 0 outside the logarithm."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        dtype = tvm_api.dtype_of(call)
        wide = "float64" if dtype == "float64" else "float32"
        beta, threshold = (
            tirx.const(float(value), wide) for value in (call.attrs.beta, call.attrs.threshold)
        )

        def compute(data: Tensor) -> Tensor:
            def element(*at: PrimExpr) -> Any:
                value = data(*at).astype(wide)
                scaled = beta * value
                zero = tirx.const(0, wide)
                above = tirx.Select(scaled > zero, scaled, zero)
                size = tirx.Select(scaled > zero, scaled, -scaled)
                smooth = (above + tirx.log1p(tirx.exp(-size))) / beta
                return tirx.Select(scaled > threshold, value, smooth).astype(dtype)

            return te.compute(data.shape, element, name="softplus")

        return builder.call_te(compute, call.args[0], primfunc_name_hint="softplus")

    return lower


def is_finite() -> bool:
    """True if the softplus of 15 in float16 is 15."""
    call = probes.one_call(relax.op.nn.softplus, (1,), dtypes=("float16",))
    fifteen = np.full(1, 15, "float16")
    return probes.computes(call, [fifteen], fifteen)


def keeps_digits() -> bool:
    """True if the softplus of -30 is not 0."""
    function = probes.lowered(probes.one_call(relax.op.nn.softplus, (1,)))
    if function is None:
        return False
    low = np.full(1, -30, "float32")
    return bool(tvm_api.compiled(function[0])(low, np.zeros(1, "float32"))[0] > 0)


FIX = Fix(
    name="softplus",
    operators=(OPERATOR,),
    fault=(
        "softplus of float16 is infinite from 11.1 to its threshold; below 0 it loses its digits,"
        " and is 0 from -17 on in float32"
    ),
    issue=None,
    parts=(
        FaultPart("overflow", lambda: not is_finite()),
        FaultPart("digits", lambda: not keeps_digits()),
    ),
    attributes=(OperatorAttribute(OPERATOR, LEGALIZE, _stable),),
    one_fault=True,
    after="unsigned_sign",
    patch=(Wrapping(OPERATOR, _stable),),
)
