"""Gradients that divide by a number of elements, which TVM takes for a number.

A symbolic dimension is none: Python fails to make it one. Over no elements the variance divides by
0, in Python.
"""

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import Body
from relaxcheck.fixes.lowerings.derivatives.shared import (
    FILE,
    KEY,
    count_of,
    differentiated,
    program,
)
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr

MEAN = "relax.mean"
VARIANCE = "relax.variance"
CROSS = "relax.nn.cross_entropy_with_logits"


def mean_grad(orig_var: Expr, orig_call: Call, output_grad: Expr, ctx: BlockBuilder) -> list[Expr]:
    """The gradient of mean: that of the result, divided by the number of elements."""
    operand, axis = orig_call.args[0], orig_call.attrs.axis
    count = count_of(operand, axis, tvm_api.dtype_of(operand))
    grad = relax.op.divide(output_grad, count)
    if axis and not bool(orig_call.attrs.keepdims):
        grad = relax.op.expand_dims(grad, axis)
    return [relax.op.broadcast_to(grad, relax.ShapeExpr(tvm_api.shape_of(operand)))]


def variance_grad(
    orig_var: Expr, orig_call: Call, output_grad: Expr, ctx: BlockBuilder
) -> list[Expr]:
    """The gradient of variance: twice the difference from the mean, divided by the number."""
    operand, axis = orig_call.args[0], orig_call.attrs.axis
    dtype = tvm_api.dtype_of(operand)
    grad = relax.op.divide(output_grad, count_of(operand, axis, dtype))
    if axis and not bool(orig_call.attrs.keepdims):
        grad = relax.op.expand_dims(grad, axis)
    apart = relax.op.subtract(operand, relax.op.mean(operand, axis, keepdims=True))
    twice = relax.op.multiply(relax.const(2, dtype), apart)
    return [relax.op.multiply(grad, twice)]


def cross_entropy_with_logits_grad(
    orig_var: Expr, orig_call: Call, output_grad: Expr, ctx: BlockBuilder
) -> list[Expr]:
    """The gradient of the cross entropy: each operand is that of the other, times -1."""
    predictions, labels = orig_call.args
    grad = relax.op.negative(output_grad)
    if len(tvm_api.shape_of(predictions)) > 1:
        rows = count_of(predictions, [0], tvm_api.dtype_of(predictions))
        grad = relax.op.divide(grad, rows)
    return [relax.op.multiply(grad, labels), relax.op.multiply(grad, predictions)]


def _goes_through(operator: str, *shapes: probes.Shape) -> bool:
    make = {
        MEAN: lambda x: relax.op.mean(x, 0),
        VARIANCE: lambda x: relax.op.variance(x, 0),
        CROSS: relax.op.nn.cross_entropy_with_logits,
    }[operator]
    return probes.goes_through(differentiated, program(make, *shapes))


def takes_symbols(operator: str) -> bool:
    """True if the gradient over a symbolic dimension is made."""
    shape = (tvm_api.shape_var("n"), 2)
    return _goes_through(operator, *[shape] * (1 + (operator == CROSS)))


FIX = Fix(
    name="mean_gradients",
    operators=(MEAN, VARIANCE, CROSS),
    fault=(
        "Gradient fails on means, variances and cross entropies over symbolic dimensions, and on"
        " variances of nothing: it makes a Python number of each dimension, and divides by it"
    ),
    issue=None,
    parts=(
        FaultPart("means", lambda: not takes_symbols(MEAN)),
        FaultPart("variances", lambda: not takes_symbols(VARIANCE)),
        FaultPart("nothing", lambda: not _goes_through(VARIANCE, (0, 2))),
        FaultPart("cross entropies", lambda: not takes_symbols(CROSS)),
    ),
    attributes=(
        OperatorAttribute(MEAN, KEY, lambda original: mean_grad),
        OperatorAttribute(VARIANCE, KEY, lambda original: variance_grad),
        OperatorAttribute(CROSS, KEY, lambda original: cross_entropy_with_logits_grad),
    ),
    after="triu_gradient",
    patch=(
        Body(FILE, mean_grad),
        Body(FILE, variance_grad),
        Body(FILE, cross_entropy_with_logits_grad),
    ),
)
