"""Operators that order elements along an axis."""

from collections.abc import Sequence

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.operand import Fits, at_least
from relaxcheck.generators.core.points import integer, text
from relaxcheck.generators.core.program import ITEM
from relaxcheck.generators.core.program import Attribute as Given
from relaxcheck.generators.operators.choices import axis_choice, replaced
from relaxcheck.generators.operators.faults import attribute_is, axis_out_of_range
from relaxcheck.generators.operators.record import FLOATS, Attribute, Numerics, Operand, Operator

_RANKS = (2, 1, 3, 4)


def _has_so_many(shape: Sequence[Dim], axis: int, count: int) -> bool:
    return at_least(shape[axis], count)


def _topk(draft: Draft, value: Value, point: Point) -> None:
    axis, count = integer(point, "axis"), integer(point, "k")
    at = axis % value.rank
    draft.require(value.shape[at], max(count, 0))
    shape = replaced(value.shape, at, count) if count > 0 else value.shape
    kinds = {"values": value.dtype, "indices": text(point, "index_dtype")}
    attributes: dict[str, Given] = {
        "k": count,
        "axis": axis,
        "ret_type": text(point, "ret_type"),
        "largest": bool(point["largest"]),
        "dtype": kinds["indices"],
    }
    if point["ret_type"] != "both":
        draft.call("topk", [value], shape, kinds[text(point, "ret_type")], **attributes)
        return
    for item, kind in enumerate(kinds.values()):
        draft.call("topk", [value], shape, kind, **attributes, **{ITEM: item})


def _sort(draft: Draft, value: Value, point: Point) -> None:
    attributes = {"axis": integer(point, "axis"), "descending": bool(point["descending"])}
    draft.call("sort", [value], value.shape, **attributes)


def _argsort(draft: Draft, value: Value, point: Point) -> None:
    dtype = text(point, "index_dtype")
    attributes = {"axis": integer(point, "axis"), "descending": bool(point["descending"])}
    draft.call("argsort", [value], value.shape, dtype, **attributes, dtype=dtype)


_ORDERED = (*FLOATS, "int32", "int64", "int8", "uint8")
_DESCENDING = Axis("descending", (False, True), False)
_INDEX_DTYPE = Axis("index_dtype", ("int32", "int64"), "int32")


OPERATORS = (
    Operator(
        "sort",
        meaning="The elements along an axis in ascending or descending order.",
        source="docstring of relax.op.sort; torch.sort; ONNX TopK-11",
        operands=(Operand("x", ranks=_RANKS, dtypes=_ORDERED),),
        attributes=(Attribute("axis", "axis", -1), Attribute("descending", "bool", False)),
        axes=(axis_choice(), _DESCENDING),
        apply=_sort,
        numerics=Numerics.COPIES,
        faults=(axis_out_of_range("sort"),),
    ),
    Operator(
        "argsort",
        meaning="The places of the elements along an axis in ascending or descending order. Which "
        "of equal elements comes first is not defined.",
        source="docstring of relax.op.argsort; torch.argsort; ONNX TopK-11",
        operands=(Operand("data", ranks=_RANKS, dtypes=_ORDERED),),
        attributes=(
            Attribute("axis", "axis", -1),
            Attribute("descending", "bool", False),
            Attribute("dtype", "dtype", "int32"),
        ),
        axes=(axis_choice(), _DESCENDING, _INDEX_DTYPE),
        apply=_argsort,
        numerics=Numerics.COPIES,
        faults=(axis_out_of_range("argsort"),),
    ),
    Operator(
        "topk",
        meaning="The k largest or smallest elements along an axis in order, their places in it, or "
        "both; all elements where k is below 1. Which of equal elements comes first is not "
        "defined.",
        source="docstring of relax.op.topk; torch.topk; ONNX TopK-11",
        operands=(Operand("data", ranks=_RANKS, dtypes=(*FLOATS, "int32", "int64", "uint8")),),
        attributes=(
            Attribute("k", "int", 1),
            Attribute("axis", "axis", -1),
            Attribute("ret_type", "text", "both"),
            Attribute("largest", "bool", True),
            Attribute("dtype", "dtype", "int32"),
        ),
        axes=(
            axis_choice(),
            Axis("k", (1, 2, 3, 5, 0, -1), 1, Fits(_has_so_many, ("axis",))),
            Axis("ret_type", ("both", "values", "indices"), "both"),
            Axis("largest", (True, False), True),
            _INDEX_DTYPE,
        ),
        apply=_topk,
        numerics=Numerics.COPIES,
        requires="at least k elements along the axis",
        faults=(
            axis_out_of_range("topk"),
            attribute_is("ret-type-unknown", "topk", "ret_type", "places", ("return type",)),
        ),
    ),
)
