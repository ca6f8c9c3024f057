"""The gradient of cumsum, which TVM makes without a look at ``exclusive``."""

from typing import Any

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import Body
from relaxcheck.fixes.lowerings.derivatives.shared import FILE, KEY, gradients, program
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr

OPERATOR = "relax.cumsum"


def cumsum_grad(
    orig_var: Expr, orig_call: Call, output_grad: Expr, ctx: BlockBuilder
) -> list[Expr]:
    """The gradient of cumsum: at each element the sum over the results that it is part of."""
    operand, axis = orig_call.args[0], orig_call.attrs.axis
    shape, dtype = tvm_api.shape_of(operand), tvm_api.dtype_of(operand)
    # Without an axis the result is a vector.
    along = 0 if axis is None else int(axis)
    before = relax.op.cumsum(output_grad, along)
    grad = relax.op.subtract(relax.op.sum(output_grad, along, keepdims=True), before)
    if not bool(orig_call.attrs.exclusive):
        grad = relax.op.add(grad, output_grad)
    if tvm_api.dtype_of(orig_var) != dtype:
        grad = relax.op.astype(grad, dtype)
    if axis is not None:
        return [grad]
    if 0 in map(tvm_api.as_int, shape):
        # To a reshape, 0 is the size that the dimension has already.
        return [relax.op.zeros_like(operand)]
    return [relax.op.reshape(grad, relax.ShapeExpr(shape))]


def excludes_elements() -> bool:
    """True if no element has a share in the sum before it."""
    module = program(lambda x: relax.op.cumsum(x, 0, exclusive=True), (3,))
    (made,) = gradients(module, np.ones(3, "float32"))
    wanted: Any = np.array([2, 1, 0])
    return np.array_equal(made, wanted)


FIX = Fix(
    name="cumsum_gradient",
    operators=(OPERATOR,),
    fault="the gradient of an exclusive cumsum is that of an inclusive one",
    issue=None,
    parts=(FaultPart("exclusive", lambda: not excludes_elements()),),
    attributes=(OperatorAttribute(OPERATOR, KEY, lambda original: cumsum_grad),),
    after="where_gradient",
    patch=(Body(FILE, cumsum_grad),),
)
