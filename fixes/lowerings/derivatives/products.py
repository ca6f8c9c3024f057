"""The gradient of matmul, whose result may have a dtype of its own.

TVM multiplies the gradient of the result with the operands, whatever their dtypes.
"""

import importlib
from typing import Any

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import Body
from relaxcheck.fixes.lowerings.derivatives.shared import FILE, KEY, differentiated, program
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr

_MODULE: Any = importlib.import_module("tvm.relax.op._op_gradient")
_ORIGINAL = _MODULE.matmul_grad

OPERATOR = "relax.matmul"


def matmul_grad(
    orig_var: Expr, orig_call: Call, output_grad: Expr, ctx: BlockBuilder
) -> list[Expr]:
    """Like TVM's, of the result's gradient in the dtype of the operands."""
    dtype = tvm_api.dtype_of(orig_call.args[0])
    if tvm_api.dtype_of(orig_var) != dtype:
        output_grad = ctx.normalize(relax.op.astype(output_grad, dtype))
    result: list[Expr] = _ORIGINAL(orig_var, orig_call, output_grad, ctx)
    return result


def takes_dtypes() -> bool:
    """True if a product of another dtype than its operands' is differentiated."""
    module = program(lambda x, y: relax.op.matmul(x, y, "float64"), (2, 3), (3, 2))
    return probes.goes_through(differentiated, module)


FIX = Fix(
    name="matmul_gradient",
    operators=(OPERATOR,),
    fault="Gradient fails on a matmul with an out_dtype: it multiplies two dtypes",
    issue=None,
    parts=(FaultPart("out_dtype", lambda: not takes_dtypes()),),
    attributes=(OperatorAttribute(OPERATOR, KEY, lambda original: matmul_grad),),
    after="concat_gradient",
    patch=(Body(FILE, matmul_grad),),
)
