"""The number of elements of a tensor, and a tensor of sizes as a shape."""

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import symbols
from relaxcheck.generators.core.draft import Draft, Value, shape_value
from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.core.operand import FitsDims
from relaxcheck.generators.core.points import text
from relaxcheck.generators.core.polynomials import times
from relaxcheck.generators.operators.choices import has_no_zero
from relaxcheck.generators.operators.faults import STATIC, argument_dtype, argument_rank
from relaxcheck.generators.operators.record import Numerics, Operand, Operator
from relaxcheck.generators.operators.shape import DTYPES


def _size(draft: Draft, value: Value, point: Point) -> None:
    draft.call("size", [value], (), "int64")


def _tensor_to_shape(draft: Draft, value: Value, point: Point) -> None:
    """Give a tensor back, since results are tensors: that of the sizes, or one reshaped to them."""
    dtype = text(point, "sizes_dtype")
    rank = (value.rank,)
    if point["of"] == "computed":
        sizes = draft.call("shape_to_tensor", [draft.shape_of(value)], rank, "int64")
        if dtype != "int64":
            sizes = draft.call("astype", [sizes], rank, dtype, dtype=dtype)
    else:
        fill = Literal(tuple(int(dim) for dim in value.shape))
        sizes = draft.operand(rank, dtype, fill=fill, constant=point["of"] == "constant")
    shape = draft.call("tensor_to_shape", [sizes], rank, "int64")
    draft.unsettled = (*draft.unsettled, shape)
    if point["then"] == "tensor":
        draft.call("shape_to_tensor", [shape], rank, "int64")
        return
    flat = draft.call("flatten", [value], (times(*value.shape),))
    result = draft.call("reshape", [flat, shape], value.shape)
    draft.unsettled = (*draft.unsettled, result)
    cast = shape_value(value.shape)
    draft.call("match_cast", [result], value.shape, shape=cast, dtype=value.dtype)


_INPUT: Point = {**STATIC, "of": "input"}


OPERATORS = (
    Operator(
        "size",
        meaning="The number of elements, a scalar of int64.",
        source="docstring of relax.op.size",
        operands=(Operand("expr", ranks=(2, 0, 1, 3, 4), dtypes=DTYPES),),
        apply=_size,
        numerics=Numerics.COPIES,
    ),
    Operator(
        "tensor_to_shape",
        meaning="A vector of integers as a shape.",
        source="docstring of relax.op.tensor_to_shape; vm.builtin.tensor_to_shape has its dtypes",
        operands=(Operand("expr", ranks=(1,), dtypes=("int64", "int32", "int16")),),
        like=Operand("data", ranks=(2, 1, 3, 4), dtypes=DTYPES),
        axes=(
            Axis(
                "of",
                ("computed", "input", "constant"),
                "computed",
                # Sizes that are written out are numbers.
                FitsDims(
                    lambda shape, of: of == "computed" or not any(symbols(dim) for dim in shape)
                ),
            ),
            Axis("sizes_dtype", ("int64", "int32", "int16"), "int64", default_weight=2),
            Axis("then", ("tensor", "reshape"), "tensor"),
        ),
        apply=_tensor_to_shape,
        numerics=Numerics.COPIES,
        requires="sizes that are not negative",
        operand_fits=has_no_zero,
        faults=(
            argument_dtype("tensor_to_shape", 0, "float32", pinned=_INPUT),
            argument_rank("tensor_to_shape", 0, pinned=_INPUT),
        ),
    ),
)
