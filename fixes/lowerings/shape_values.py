"""Reshapes to a shape that the program computes, such as the shape of a tensor.

TVM lowers them only if the shape is written out. The type of a computed shape tells its dimensions
all the same; of a shape that is made of a tensor's elements, it tells how many there are.
"""

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.passes.left_calls import left_calls
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes

UPSTREAM = NewFile("relax/transform/legalize_ops/shape_values.py")


def _written_out(original: Legalization) -> Legalization:
    """``original``, given the dimensions from the type of the shape."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        data, shape = call.args
        if not tvm_api.has_shape(data):
            return call
        if isinstance(shape, relax.ShapeExpr):
            return original(builder, call)
        type_ = tvm_api.type_of(shape)
        values = type_.values
        if values is None:
            if type_.ndim < 0:
                return call
            values = [tvm_api.shape_var(f"dim{number}") for number in range(type_.ndim)]
            builder.match_cast(shape, tvm_api_shapes.shape_type(values))
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


def reshapes_to_elements() -> bool:
    """True if a tensor is reshaped to a shape that another one holds."""
    builder = relax.BlockBuilder()
    x, sizes = probes.inputs([(2, 3), (2,)], ("float32", "int64"))
    with builder.function("main", [x, sizes]):
        with builder.dataflow():
            shape = builder.emit(relax.op.tensor_to_shape(sizes))
            result = builder.emit_output(relax.op.reshape(x, shape))
        builder.emit_func_output(result)
    return not left_calls(relax.transform.LegalizeOps()(builder.get()))


FIX = Fix(
    name="shape_values",
    operators=("relax.reshape",),
    fault="a reshape to a computed shape is not lowered",
    issue=None,
    parts=(
        FaultPart("shapes of tensors", lambda: not reshapes_to_values()),
        FaultPart("shapes in tensors", lambda: not reshapes_to_elements()),
    ),
    attributes=(
        OperatorAttribute("relax.reshape", LEGALIZE, _written_out),
        OperatorAttribute("relax.reshape", "RequiresArgumentShapes", lambda original: False),
    ),
    after="scans",
    patch=(Wrapping("relax.reshape", _written_out, any_shapes=True),),
    one_fault=True,
)
