"""Operators that pick elements by place: indices, slices, reversal."""

from collections.abc import Sequence

from relaxcheck.generators.core import program
from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim, symbols
from relaxcheck.generators.core.draft import Draft, Value, shape_value
from relaxcheck.generators.core.fills.kinds import Below, Literal
from relaxcheck.generators.core.operand import Fits, at_least
from relaxcheck.generators.core.points import integer, text
from relaxcheck.generators.core.polynomials import minus, over, plus
from relaxcheck.generators.operators.choices import (
    axis_choice,
    extent,
    extent_choice,
    nonempty_axis,
    replaced,
)
from relaxcheck.generators.operators.faults import (
    argument_dtype,
    argument_rank,
    attribute_is,
    axis_out_of_range,
)
from relaxcheck.generators.operators.record import Attribute, Numerics, Operand, Operator
from relaxcheck.generators.operators.shape import DTYPES

_FAR = 2**31 - 1
"""An end beyond every axis."""

_NO_BOOL = DTYPES[:-1]

_RANKS = (2, 1, 3, 4)

_INDEX_DTYPES = Axis("index_dtype", ("int64", "int32"), "int64")


def _take(draft: Draft, value: Value, point: Point) -> None:
    axis = None if point["axis"] is None else integer(point, "axis")
    at = (axis or 0) % value.rank
    draft.require(value.shape[at], 1)
    size = extent(draft, value, point, "count")
    shape: tuple[Dim, ...] = {"vector": (size,), "matrix": (2, size), "scalar": ()}[
        text(point, "indices")
    ]
    places = draft.operand(shape, text(point, "index_dtype"), fill=Below(value.shape[at]))
    attributes: dict[str, program.Attribute] = {} if axis is None else {"axis": axis}
    draft.call("take", [value, places], replaced(value.shape, at, *shape), **attributes)


def _take_axis(shape: Sequence[Dim], axis: int | None) -> bool:
    if axis is None:
        return len(shape) == 1 and at_least(shape[0], 1)
    return -len(shape) <= axis < len(shape) and at_least(shape[axis], 1)


def _gather_elements(draft: Draft, value: Value, point: Point) -> None:
    axis = integer(point, "axis")
    at = axis % value.rank
    draft.require(value.shape[at], 1)
    count = value.shape[at] if point["count"] == "same" else extent(draft, value, point, "count")
    shape = replaced(value.shape, at, count)
    places = draft.operand(shape, text(point, "index_dtype"), fill=Below(value.shape[at]))
    draft.call("gather_elements", [value, places], shape, axis=axis)


def _gather_nd(draft: Draft, value: Value, point: Point) -> None:
    batch, depth = integer(point, "batch_dims"), integer(point, "depth")
    before, indexed = value.shape[:batch], value.shape[batch : batch + depth]
    for dim in indexed:
        draft.require(dim, 1)
    size = extent(draft, value, point, "count")
    # Places on several axes have one limit, so that it fits the shortest; 1 where that is symbolic.
    static = [dim for dim in indexed if isinstance(dim, int)]
    limit = indexed[0] if depth == 1 else min(static) if len(static) == depth else 1
    places = draft.operand((*before, size, depth), "int64", fill=Below(limit))
    shape = (*before, size, *value.shape[batch + depth :])
    draft.call("gather_nd", [value, places], shape, batch_dims=batch)


def _gather_nd_fits(shape: Sequence[Dim], batch: int, depth: int) -> bool:
    indexed = shape[batch : batch + depth]
    return len(indexed) == depth and all(at_least(dim, 1) for dim in indexed)


def _slice_fits(shape: Sequence[Dim], axis: int, begin: int, value: str) -> bool:
    dim = shape[axis]
    match value:
        case "but the last":
            return at_least(dim, begin + 1)
        case "backwards":
            return begin == 0 and at_least(dim, 1)
    return at_least(dim, begin)


def _strided_slice(draft: Draft, value: Value, point: Point) -> None:
    axis = integer(point, "axis")
    at = axis % value.rank
    dim, begin, stride = value.shape[at], integer(point, "begin"), integer(point, "stride")
    first, end, span = begin, dim, minus(dim, begin)
    match text(point, "end"):
        case "far":
            end = _FAR
        case "but the last":
            end, span = -1, minus(dim, begin + 1)
        case "backwards":
            draft.require(dim, 1)
            first, end, span, stride = -1, -_FAR, dim, -stride
        case "beyond":
            end = plus(dim, 3)
    draft.require(span)
    size = over(plus(span, abs(stride) - 1), abs(stride))
    attributes: dict[str, program.Attribute] = {}
    if stride != 1 or point["strides"] != "left out":
        attributes["strides"] = (stride,)
    shape = replaced(value.shape, at, size)
    result = draft.call(
        "strided_slice",
        [value],
        shape,
        axes=(axis,),
        begin=(first,),
        end=shape_value((end,)) if symbols(end) else (int(end),),
        **attributes,
    )
    if symbols(dim) and (end in (_FAR, -_FAR) or symbols(end)):
        # A far end is to TVM the smaller of the two, which broadcasts with no other dimension.
        draft.unsettled = (*draft.unsettled, result)


def _dynamic_strided_slice(draft: Draft, value: Value, point: Point) -> None:
    axis = integer(point, "axis")
    at = axis % value.rank
    begin, stride = integer(point, "begin"), integer(point, "stride")
    draft.require(value.shape[at], begin)
    lists = (
        tuple(begin if each == at else 0 for each in range(value.rank)),
        (_FAR,) * value.rank,
        tuple(stride if each == at else 1 for each in range(value.rank)),
    )
    operands = [
        draft.operand((value.rank,), "int64", fill=Literal(each), constant=True) for each in lists
    ]
    size = over(plus(minus(value.shape[at], begin), stride - 1), stride)
    shape = replaced(value.shape, at, size)
    result = draft.call("dynamic_strided_slice", [value, *operands], shape)
    draft.unsettled = (*draft.unsettled, result)


def _flip(draft: Draft, value: Value, point: Point) -> None:
    draft.call("flip", [value], value.shape, axis=integer(point, "axis"))


def _long_enough(shape: Sequence[Dim], axis: int, begin: int) -> bool:
    return at_least(shape[axis], begin)


OPERATORS = (
    Operator(
        "take",
        meaning="The elements at the given places along an axis, whose indices are in bounds.",
        source="docstring of relax.op.take; MEANINGS.md, Moving elements",
        operands=(
            Operand("x", ranks=_RANKS, dtypes=_NO_BOOL),
            Operand("indices", ranks=(0, 1, 2), dtypes=("int64", "int32")),
        ),
        attributes=(Attribute("axis", "axis", None), Attribute("mode", "text", "fast")),
        axes=(
            Axis("axis", (0, -1, 1, 2, -2, -3, None), -1, Fits(_take_axis)),
            Axis("indices", ("vector", "matrix", "scalar"), "vector"),
            extent_choice("count", (3, 1, "first", "symbol")),
            _INDEX_DTYPES,
        ),
        apply=_take,
        faults=(
            axis_out_of_range("take"),
            argument_dtype("take", 1, "float32", kind="indices-dtype"),
        ),
        numerics=Numerics.COPIES,
        requires="indices from 0 to the size of the axis less 1",
        operand_fits=lambda shape: any(at_least(dim, 1) for dim in shape),
    ),
    Operator(
        "gather_elements",
        meaning="Element (i, j) is data[index[i, j], j] for axis 0, and alike for other axes.",
        source="docstring of relax.op.gather_elements; torch.gather",
        operands=(
            Operand("data", ranks=_RANKS, dtypes=_NO_BOOL),
            Operand("indices", ranks=_RANKS, dtypes=("int64", "int32")),
        ),
        attributes=(Attribute("axis", "axis", 0),),
        axes=(
            nonempty_axis(),
            extent_choice("count", ("same", 1, 3, "symbol")),
            _INDEX_DTYPES,
        ),
        apply=_gather_elements,
        faults=(
            axis_out_of_range("gather_elements"),
            argument_dtype("gather_elements", 1, "float32", kind="indices-dtype"),
            argument_rank("gather_elements", 1),
        ),
        numerics=Numerics.COPIES,
        requires="indices from 0 to the size of the axis less 1",
        operand_fits=lambda shape: any(at_least(dim, 1) for dim in shape),
    ),
    Operator(
        "gather_nd",
        meaning="Slices of the data at places that the last axis of the indices lists, after the "
        "batch axes that both have.",
        source="docstring of relax.op.gather_nd; ONNX GatherND",
        operands=(
            Operand("data", ranks=_RANKS, dtypes=_NO_BOOL),
            Operand("indices", ranks=(2, 3), dtypes=("int64",)),
        ),
        attributes=(Attribute("batch_dims", "int", 0),),
        axes=(
            Axis(
                "batch_dims",
                (0, 1),
                0,
                Fits(lambda shape, batch: _gather_nd_fits(shape, batch, 1)),
            ),
            Axis("depth", (1, 2), 1, Fits(_gather_nd_fits, ("batch_dims",))),
            extent_choice("count", (3, 1, "symbol")),
        ),
        apply=_gather_nd,
        faults=(
            attribute_is("batch-negative", "gather_nd", "batch_dims", -1, ("batch",)),
            attribute_is("batch-beyond-rank", "gather_nd", "batch_dims", 5, ("batch",)),
            argument_dtype("gather_nd", 1, "float32", kind="indices-dtype"),
        ),
        numerics=Numerics.COPIES,
        requires="indices within the axes they index",
        operand_fits=lambda shape: at_least(shape[0], 1),
    ),
    Operator(
        "strided_slice",
        meaning="NumPy's slices of the listed axes: negative places count from the end, ends are "
        "clipped to the axis, negative strides walk backwards.",
        source="docstring of relax.op.strided_slice; ONNX Slice",
        operands=(Operand("x", ranks=_RANKS, dtypes=DTYPES),),
        attributes=(
            Attribute("axes", "axes"),
            Attribute("begin", "expressions"),
            Attribute("end", "expressions"),
            Attribute("strides", "expressions", None),
            Attribute("assume_inbound", "bool", False),
        ),
        axes=(
            axis_choice(),
            Axis("begin", (0, 1, 2), 0, Fits(_long_enough, ("axis",))),
            Axis(
                "end",
                ("size", "far", "but the last", "backwards", "beyond"),
                "size",
                Fits(_slice_fits, ("axis", "begin")),
            ),
            Axis("stride", (1, 2, 3), 1, default_weight=2),
            Axis("strides", ("left out", "given"), "given"),
        ),
        apply=_strided_slice,
        faults=(
            axis_out_of_range("strided_slice", "axes"),
            attribute_is("stride-zero", "strided_slice", "strides", (0,), ("stride", "step")),
            attribute_is(
                "lengths-differ", "strided_slice", "begin", (0, 0), ("axes", "length", "size")
            ),
        ),
        numerics=Numerics.COPIES,
    ),
    Operator(
        "dynamic_strided_slice",
        meaning="strided_slice of every axis, where begin, end and strides are tensors.",
        source="docstring of relax.op.dynamic_strided_slice",
        operands=(
            Operand("x", ranks=_RANKS, dtypes=_NO_BOOL),
            *(Operand(name, ranks=(1,), dtypes=("int64",)) for name in ("begin", "end", "strides")),
        ),
        axes=(
            axis_choice(),
            Axis("begin", (1, 0, 2), 1, Fits(_long_enough, ("axis",))),
            Axis("stride", (1, 2, 3), 1),
        ),
        apply=_dynamic_strided_slice,
        faults=(argument_dtype("dynamic_strided_slice", 1, "float32", kind="begin-dtype"),),
        numerics=Numerics.COPIES,
    ),
    Operator(
        "flip",
        meaning="The elements along one axis in reverse order.",
        source="docstring of relax.op.flip; torch.flip",
        operands=(Operand("data", ranks=_RANKS, dtypes=_NO_BOOL),),
        attributes=(Attribute("axis", "axis"),),
        axes=(axis_choice(),),
        apply=_flip,
        faults=(axis_out_of_range("flip"),),
        numerics=Numerics.COPIES,
    ),
)
