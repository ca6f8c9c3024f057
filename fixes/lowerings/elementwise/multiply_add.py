"""A lowering of ``ewise_fma``, which TVM has none for.

The product is added by separate operations, which LLVM may contract.
"""

import numpy as np
from tvm import relax, topi

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, legalization, refuse
from relaxcheck.fixes.framework.patch import NewFile, Override
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Tensor

UPSTREAM = NewFile("relax/transform/legalize_ops/multiply_add.py")

OPERATOR = "relax.ewise_fma"


def _lower(builder: BlockBuilder, call: Call) -> Expr:
    """Compute x1 * x2 + x3."""
    if not all(map(tvm_api.has_shape, call.args)):
        raise refuse(OPERATOR, operands="of unknown shape")

    def compute(x1: Tensor, x2: Tensor, x3: Tensor) -> Tensor:
        return topi.add(topi.multiply(x1, x2), x3)

    return builder.call_te(compute, *call.args, primfunc_name_hint="ewise_fma")


def is_lowered() -> bool:
    """True if 2 * 3 + 4 is 10."""
    call = probes.one_call(relax.op.ewise_fma, (1,), (1,), (1,))
    numbers = [np.full(1, number, "float32") for number in (2, 3, 4)]
    return probes.computes(call, numbers, np.full(1, 10))


FIX = Fix(
    name="multiply_add",
    operators=(OPERATOR,),
    fault="ewise_fma is not lowered: no legalization is registered",
    issue=None,
    parts=(FaultPart("the missing lowering", lambda: not is_lowered()),),
    attributes=legalization(OPERATOR, _lower),
    after="softplus",
    patch=(Override((OPERATOR,), LEGALIZE, _lower, wraps=False, registered=False),),
)
