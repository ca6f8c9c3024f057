"""Reshapes to a shape that the program computes, such as the shape of a tensor.

TVM lowers them only if the shape is written out. The type of a computed shape tells its dimensions
all the same.
"""

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization

UPSTREAM = NewFile("relax/transform/legalize_ops/shape_values.py")


def _written_out(original: Legalization) -> Legalization:
    """``original``, given the dimensions from the type of the shape."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        shape = call.args[1]
        values = getattr(tvm_api.type_of(shape), "values", None)
        if isinstance(shape, relax.ShapeExpr) or values is None:
            return original(builder, call)
        written = relax.Call(call.op, [call.args[0], relax.ShapeExpr(list(values))], call.attrs)
        return original(builder, builder.normalize(written))

    return lower


def reshapes_to_values() -> bool:
    """True if a tensor is reshaped to the shape of another."""
    builder = relax.BlockBuilder()
    x, y = probes.inputs([(2, 3), (3, 2)])
    with builder.function("main", [x, y]):
        shape = builder.emit(relax.op.shape_of(y))
        call = builder.normalize(relax.op.reshape(x, shape))
        try:
            result = builder.emit(call.op.get_attr(LEGALIZE)(builder, call))
        except Exception:
            result = None
        builder.emit_func_output(x if result is None else result)
    return result is not None


FIX = Fix(
    name="shape_values",
    operators=("relax.reshape",),
    fault="a reshape to a computed shape is not lowered",
    issue=None,
    parts=(FaultPart("shapes of tensors", lambda: not reshapes_to_values()),),
    attributes=(OperatorAttribute("relax.reshape", LEGALIZE, _written_out),),
    after="scans",
    patch=(Wrapping("relax.reshape", _written_out),),
)
