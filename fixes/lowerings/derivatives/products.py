"""The gradient of matmul, whose result may have a dtype of its own.

TVM multiplies the gradient of the result with the operands, whatever their dtypes.
"""

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import Body
from relaxcheck.fixes.lowerings.derivatives.shared import (
    FILE,
    KEY,
    differentiated,
    fitted,
    program,
)
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr

OPERATOR = "relax.matmul"


def _turned(matrix: Expr, rank: int) -> Expr:
    """``matrix``, of ``rank`` axes, with its last two exchanged."""
    return relax.op.permute_dims(matrix, [*range(rank - 2), rank - 1, rank - 2])


def matmul_grad(
    orig_var: Expr, orig_call: Call, output_grad: Expr, ctx: BlockBuilder
) -> list[Expr]:
    """The gradient of matmul: that of the result times each operand, in the operands' dtype."""
    left, right = orig_call.args
    ranks = [len(tvm_api.shape_of(each)) for each in (left, right)]
    grad, dtype = output_grad, tvm_api.dtype_of(left)
    if tvm_api.dtype_of(orig_var) != dtype:
        grad = relax.op.astype(grad, dtype)
    if ranks == [1, 1]:
        return [relax.op.multiply(grad, right), relax.op.multiply(grad, left)]
    # A vector on the left is a row, one on the right a column.
    row = relax.op.expand_dims(left, 0) if ranks[0] == 1 else left
    column = relax.op.expand_dims(right, 1) if ranks[1] == 1 else right
    if ranks[1] == 1:
        grad = relax.op.expand_dims(grad, -1)
    if ranks[0] == 1:
        grad = relax.op.expand_dims(grad, -2)
    left_grad = relax.op.matmul(grad, _turned(column, max(2, ranks[1])))
    right_grad = relax.op.matmul(_turned(row, max(2, ranks[0])), grad)
    if ranks[0] == 1:
        left_grad = relax.op.squeeze(left_grad, [-2])
    if ranks[1] == 1:
        right_grad = relax.op.squeeze(right_grad, [-1])
    return [fitted(ctx, left_grad, left), fitted(ctx, right_grad, right)]


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
