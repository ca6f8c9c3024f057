"""The gradient of concat, which TVM makes by a split.

A split takes sizes that are numbers, each part longer than nothing, and is no split of one part.
Here each operand gets its slice.
"""

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import Body
from relaxcheck.fixes.lowerings.derivatives.shared import FILE, KEY, differentiated, program
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr

OPERATOR = "relax.concat"


def concat_grad(
    orig_var: Expr, orig_call: Call, output_grad: Expr, ctx: BlockBuilder
) -> list[Expr]:
    """The gradient of concat: in each operand its slice of the result's."""
    axis = orig_call.attrs.axis
    shapes = [field.shape.values for field in tvm_api.type_of(orig_call.args[0]).fields]
    at = 0 if axis is None else int(axis) % len(shapes[0])
    begin, parts = tvm_api.integer(0), []
    for shape in shapes:
        end = begin + shape[at]
        if tvm_api.as_int(begin) is not None:
            part = relax.op.strided_slice(output_grad, [at], [begin], [end])
        else:
            # A slice that begins at a symbol is lowered to a function that is not told the symbol.
            part = relax.op.take(output_grad, relax.op.arange(begin, end, 1, "int64"), at)
        parts.append(part)
        begin = tvm_api.analyzer().simplify(end)
    return [relax.Tuple(parts)]


def _goes_through(*shapes: probes.Shape) -> bool:
    make = program(lambda *tensors: relax.op.concat(list(tensors), 0), *shapes)
    return probes.goes_through(differentiated, make)


def takes_symbols() -> bool:
    """True if the gradient along a symbolic dimension is made."""
    return _goes_through((tvm_api.shape_var("n"),), (2,))


FIX = Fix(
    name="concat_gradient",
    operators=(OPERATOR,),
    fault=(
        "Gradient fails on a concat along a symbolic dimension, of one tensor, or of tensors of no"
        " elements: it splits the gradient of the result at numbers"
    ),
    issue=None,
    parts=(
        FaultPart("symbolic sizes", lambda: not takes_symbols()),
        FaultPart("one tensor", lambda: not _goes_through((2,))),
    ),
    attributes=(OperatorAttribute(OPERATOR, KEY, lambda original: concat_grad),),
    one_fault=True,
    after="mean_gradients",
    patch=(Body(FILE, concat_grad),),
)
