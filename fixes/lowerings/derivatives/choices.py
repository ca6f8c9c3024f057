"""The gradient of where, whose operands broadcast: TVM's has the shape of the result."""

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import Body
from relaxcheck.fixes.lowerings.derivatives.shared import (
    FILE,
    KEY,
    fitted,
    program,
    shapes,
)
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr

OPERATOR = "relax.where"


def where_grad(orig_var: Expr, orig_call: Call, output_grad: Expr, ctx: BlockBuilder) -> list[Expr]:
    """The gradient of where: that of the result where an operand was chosen, and 0 elsewhere."""
    condition, left, right = orig_call.args
    zero = relax.const(0, tvm_api.dtype_of(left))
    return [
        relax.op.grad.no_grad(condition),
        fitted(ctx, relax.op.where(condition, output_grad, zero), left),
        fitted(ctx, relax.op.where(condition, zero, output_grad), right),
    ]


def fits_operands() -> bool:
    """True if the gradient in an operand that is broadcast has the shape of the operand."""
    module = program(relax.op.where, (2, 3), (3,), (2, 3), dtypes=("bool", "float32", "float32"))
    return shapes(module)[:1] == [[3]]


FIX = Fix(
    name="where_gradient",
    operators=(OPERATOR,),
    fault="the gradient of where in an operand that is broadcast has the shape of the result",
    issue=None,
    parts=(FaultPart("broadcast operands", lambda: not fits_operands()),),
    attributes=(OperatorAttribute(OPERATOR, KEY, lambda original: where_grad),),
    after="pool_backward",
    patch=(Body(FILE, where_grad),),
)
