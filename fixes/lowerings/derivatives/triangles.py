"""The gradient of triu, of which TVM makes one for two arguments, and fails an internal check."""

from tvm import relax

from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import Body
from relaxcheck.fixes.lowerings.derivatives.shared import FILE, KEY, differentiated, program
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr

OPERATOR = "relax.triu"


def triu_grad(orig_var: Expr, orig_call: Call, output_grad: Expr, ctx: BlockBuilder) -> list[Expr]:
    """The gradient of triu: that of the result above the diagonal, and 0 elsewhere."""
    # The number of the diagonal is an argument or, in earlier releases, an attribute.
    if len(orig_call.args) == 1:
        return [relax.op.triu(output_grad, orig_call.attrs.k)]
    diagonal = orig_call.args[1]
    return [relax.op.triu(output_grad, diagonal), relax.op.grad.no_grad(diagonal)]


def has_gradient() -> bool:
    """True if a triangle is differentiated."""
    return probes.goes_through(differentiated, program(lambda x: relax.op.triu(x, 0), (2, 2)))


FIX = Fix(
    name="triu_gradient",
    operators=(OPERATOR,),
    fault="Gradient fails an internal check on triu: there is one gradient for two arguments",
    issue=None,
    parts=(FaultPart("arguments", lambda: not has_gradient()),),
    attributes=(OperatorAttribute(OPERATOR, KEY, lambda original: triu_grad),),
    after="cumsum_gradient",
    patch=(Body(FILE, triu_grad),),
)
