"""Reshapes to a shape that is a value of the program, such as that of a tensor.

TVM lowers them only where the value is written out. Where it is the result of a call its type tells
its dimensions all the same.
"""

from tvm import relax

from fixes import probes_of_lowerings as probes
from fixes import tvm_api
from fixes.fix import LEGALIZE, Fix, OperatorAttribute, Part
from fixes.tvm_api import BlockBuilder, Call, Expr, Legalization


def _written_out(original: Legalization) -> Legalization:
    """``original``, given the dimensions that the type of a shape tells."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        shape = call.args[1]
        values = getattr(tvm_api.type_of(shape), "values", None)
        if isinstance(shape, relax.ShapeExpr) or values is None:
            return original(builder, call)
        written = relax.Call(call.op, [call.args[0], relax.ShapeExpr(list(values))], call.attrs)
        return original(builder, builder.normalize(written))

    return lower


FIX = Fix(
    name="shape_values",
    operators=("relax.reshape",),
    fault="a reshape to a shape that a call gives is not lowered",
    issue=None,
    parts=(Part("shapes of tensors", lambda: not probes.reshapes_to_values()),),
    attributes=(OperatorAttribute("relax.reshape", LEGALIZE, _written_out),),
)
