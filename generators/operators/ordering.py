"""Operators that order elements along an axis."""

from collections.abc import Sequence
from dataclasses import replace

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.core.operand import Fits, at_least
from relaxcheck.generators.core.points import integer, text
from relaxcheck.generators.core.program import ITEM
from relaxcheck.generators.core.program import Attribute as Given
from relaxcheck.generators.operators.choices import axis_choice, replaced
from relaxcheck.generators.operators.faults import (
    RANKS,
    argument_rank,
    attribute_is,
    axis_out_of_range,
)
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


_BOUNDARIES = {"four": (-1.5, -0.25, 0.5, 1.0), "one": (0.5,), "none": ()}
_WHOLE_BOUNDARIES = {"four": (0, 1, 2, 3), "one": (1,), "none": ()}


def _bucketize(draft: Draft, value: Value, point: Point) -> None:
    table = _BOUNDARIES if "float" in value.dtype else _WHOLE_BOUNDARIES
    limits = table[text(point, "boundaries")]
    constant = bool(point["constant"])
    boundaries = draft.operand((len(limits),), value.dtype, fill=Literal(limits), constant=constant)
    attributes = {"out_int32": bool(point["out_int32"]), "right": bool(point["right"])}
    dtype = "int32" if point["out_int32"] else "int64"
    draft.call("bucketize", [value, boundaries], value.shape, dtype, **attributes)


def _median(draft: Draft, value: Value, point: Point) -> None:
    keep = bool(point["keepdims"])
    shape: tuple[Dim, ...]
    if point["axis"] is None:
        for dim in value.shape:
            draft.require(dim, 1)
        shape = (1,) * value.rank if keep else ()
        draft.call("median", [value], shape, keepdims=keep)
        return
    axis = integer(point, "axis")
    at = axis % value.rank
    draft.require(value.shape[at], 1)
    shape = replaced(value.shape, at, *((1,) if keep else ()))
    for item, dtype in enumerate((value.dtype, "int64")):
        draft.call("median", [value], shape, dtype, axis=axis, keepdims=keep, **{ITEM: item})


def _nonempty(shape: Sequence[Dim], axis: int | None) -> bool:
    if axis is None:
        return all(at_least(dim, 1) for dim in shape)
    return -len(shape) <= axis < len(shape) and at_least(shape[axis], 1)


OPERATORS = (
    Operator(
        "bucketize",
        meaning="The number of boundaries below each element; of those that equal it too, where "
        "right is set.",
        source="docstring of relax.op.bucketize; torch.bucketize",
        operands=(
            Operand("input_tensor", ranks=(2, 0, 1, 3), dtypes=_ORDERED),
            Operand("boundaries", ranks=(1,), dtypes=_ORDERED),
        ),
        attributes=(Attribute("out_int32", "bool", False), Attribute("right", "bool", False)),
        axes=(
            Axis("boundaries", ("four", "one", "none"), "four"),
            Axis("constant", (True, False), True),
            Axis("out_int32", (False, True), False),
            Axis("right", (False, True), False),
        ),
        apply=_bucketize,
        numerics=Numerics.COPIES,
        requires="boundaries that rise",
        faults=(
            replace(
                argument_rank("bucketize", 1, pinned={"constant": False}), names=(*RANKS, "1-D")
            ),
        ),
    ),
    Operator(
        "median",
        meaning="The middle of the elements in order, the lower one of two; over an axis also its "
        "place.",
        source="docstring of relax.op.median; torch.median",
        operands=(Operand("x", ranks=_RANKS, dtypes=_ORDERED),),
        attributes=(Attribute("axis", "axis", None), Attribute("keepdims", "bool", False)),
        axes=(
            Axis("axis", (-1, 0, 1, 2, -2, -3, None), -1, Fits(_nonempty)),
            Axis("keepdims", (False, True), False),
        ),
        apply=_median,
        numerics=Numerics.COPIES,
        operand_fits=lambda shape: any(at_least(dim, 1) for dim in shape),
        faults=(axis_out_of_range("median"),),
    ),
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
