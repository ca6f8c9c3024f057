"""Fields of a tensor at run time, by DLPack: dtype, rank, sizes, strides, offset."""

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value as Choice
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.operand import RANK
from relaxcheck.generators.core.points import Given, integer
from relaxcheck.generators.operators.choices import has_no_zero
from relaxcheck.generators.operators.faults import AXIS, SHAPES, attribute_is
from relaxcheck.generators.operators.record import (
    Apply,
    Attribute,
    Numerics,
    Operand,
    Operator,
)
from relaxcheck.generators.operators.shape import DTYPES

_DTYPES = (*DTYPES, "bfloat16", "int16", "uint16", "uint32")
_RANKS = (2, 0, 1, 3, 4)

_OF = Axis("of", ("input", "computed"), "input")
"""The tensor that is looked at: a parameter, or one that a kernel wrote."""


def _along(rank: int, axis: Choice) -> bool:
    return isinstance(axis, int) and axis < rank


def _asked(name: str) -> Apply:
    def apply(draft: Draft, value: Value, point: Point) -> None:
        if point.get("of") == "computed":
            value = draft.call("permute_dims", [value], value.shape[::-1])
        attributes = {"axis": integer(point, "axis")} if "axis" in point else {}
        draft.call(name, [value], (), "int64", **attributes)

    return apply


def _record(name: str, meaning: str, ranks: tuple[int, ...] = _RANKS, *, fixed: bool) -> Operator:
    """The record of a field, which is ``fixed`` where it is the same of every tensor."""
    return Operator(
        f"inspect.{name}",
        meaning=meaning,
        source="src/relax/op/tensor/inspect.h; DLDataType and DLTensor in dlpack.h",
        operands=(Operand("tensor", ranks=ranks, dtypes=_DTYPES),),
        # No framework says where a kernel's result lies in its storage.
        axes=() if fixed else (_OF,),
        apply=_asked(f"inspect.{name}"),
        numerics=Numerics.COPIES,
        form="bare",
        alone=True,
        narrowed=True,
    )


def _along_axis(name: str, meaning: str, *, empty: bool) -> Operator:
    operator = f"inspect.{name}"
    return Operator(
        operator,
        meaning=meaning,
        source="src/relax/op/tensor/inspect.h; DLTensor in dlpack.h",
        operands=(Operand("tensor", ranks=_RANKS[:1] + _RANKS[2:], dtypes=_DTYPES),),
        attributes=(Attribute("axis", "int"),),
        axes=(Axis("axis", (0, 1, 2, 3), 0, Given((RANK,), _along)), _OF),
        apply=_asked(operator),
        numerics=Numerics.COPIES,
        operand_fits=None if empty else has_no_zero,
        requires="" if empty else "elements: the strides of none are free",
        faults=(
            attribute_is("axis-out-of-range", operator, "axis", 9, (*AXIS, *SHAPES)),
            attribute_is("axis-negative", operator, "axis", -1, AXIS),
        ),
        form="bare",
        alone=True,
        narrowed=True,
    )


OPERATORS = (
    _record("tensor_dtype_code", "The code of the dtype, a DLDataTypeCode.", fixed=False),
    _record("tensor_dtype_bits", "The bits of one lane of an element.", fixed=False),
    _record("tensor_dtype_lanes", "The lanes of an element: 1.", fixed=False),
    _record("tensor_ndim", "The number of axes.", fixed=False),
    _record(
        "tensor_byte_offset",
        "The bytes between the data pointer and the first element: 0 of a tensor of its own.",
        fixed=True,
    ),
    _record("tensor_elem_offset", "The byte offset in elements.", fixed=True),
    _along_axis("tensor_shape_i", "The size of one axis.", empty=True),
    _along_axis(
        "tensor_stride_i",
        "The elements from one place on an axis to the next, in row-major order.",
        empty=False,
    ),
)
