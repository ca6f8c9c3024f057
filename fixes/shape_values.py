"""Reshapes and broadcasts to a shape that is a value of the program, such as that of a tensor.

TVM lowers them only where the value is written out. Where it is the result of a call its type tells
its dimensions all the same.
"""

from tvm import relax

from fixes import probes_of_lowerings as probes
from fixes import tvm_api
from fixes.fix import LEGALIZE, Fix, OperatorAttribute, Part, refuse
from fixes.tvm_api import BlockBuilder, Call, Expr, Legalization

OPERATORS = ("relax.reshape", "relax.broadcast_to")


def _written_out(original: Legalization) -> Legalization:
    """``original``, given the dimensions that the type of a shape tells.

    Raises ``OpNotImplemented`` where it tells none.
    """

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        shape = call.args[1]
        if isinstance(shape, relax.ShapeExpr):
            return original(builder, call)
        values = getattr(tvm_api.type_of(shape), "values", None)
        if values is None:
            raise refuse(str(call.op.name), shape=str(tvm_api.type_of(shape)))
        written = relax.Call(call.op, [call.args[0], relax.ShapeExpr(list(values))], call.attrs)
        return original(builder, builder.normalize(written))

    return lower


FIX = Fix(
    name="shape_values",
    operators=OPERATORS,
    fault="a reshape, or a broadcast, to a shape that a call gives is not lowered",
    issue=None,
    parts=(
        Part("reshapes", lambda: not probes.reshapes_to_values()),
        Part("broadcasts", lambda: not probes.broadcasts_to_values()),
    ),
    attributes=tuple(OperatorAttribute(name, LEGALIZE, _written_out) for name in OPERATORS),
)
