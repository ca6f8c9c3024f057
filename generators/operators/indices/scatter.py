"""Operators that write elements at places, and index_tensor, which reads them."""

from collections.abc import Sequence

from relaxcheck.generators.core import program
from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.fills.kinds import Below, Within
from relaxcheck.generators.core.operand import DTYPE, Fits, at_least
from relaxcheck.generators.core.points import Given, integer, text
from relaxcheck.generators.operators.choices import (
    extent,
    extent_choice,
    has_no_zero,
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

_DTYPES = DTYPES[:-1]
_INTEGERS = ("int64", "int32")
_RANKS = (2, 1, 3, 4)
_INDEX_DTYPES = Axis("index_dtype", _INTEGERS, "int64")


def _reductions(*names: str) -> Axis:
    """The axis of the operation that combines updates; a mean of integers is not defined."""
    return Axis(
        "reduction",
        ("update", "add", "mul", "max", "min", *names),
        "update",
        Given((DTYPE,), lambda dtype, value: value != "mean" or "float" in dtype),
    )


_SIGN = Axis("negative", (False, True), False, words="negative indices")
"""True: indices may count from the end."""


def _fill(point: Point, limit: Dim) -> Below:
    return Within(limit) if point["negative"] else Below(limit)


def _limit(dims: Sequence[Dim]) -> Dim:
    """One limit of places on several axes, so that it fits the shortest; 1 where one is open."""
    static = [dim for dim in dims if isinstance(dim, int)]
    return dims[0] if len(dims) == 1 else min(static) if len(static) == len(dims) else 1


def _scatter_elements(draft: Draft, value: Value, point: Point) -> None:
    axis = integer(point, "axis")
    at = axis % value.rank
    draft.require(value.shape[at], 1)
    count = value.shape[at] if point["count"] == "same" else extent(draft, value, point, "count")
    shape = replaced(value.shape, at, count)
    if point["others"] == "fewer":
        shape = tuple(
            dim - 1 if other != at and isinstance(dim, int) and dim > 1 else dim
            for other, dim in enumerate(shape)
        )
    places = draft.operand(shape, text(point, "index_dtype"), fill=_fill(point, value.shape[at]))
    updates = draft.operand(shape, value.dtype)
    draft.call(
        "scatter_elements",
        [value, places, updates],
        value.shape,
        axis=axis,
        reduction=text(point, "reduction"),
    )


def _scatter_nd(draft: Draft, value: Value, point: Point) -> None:
    depth = integer(point, "depth")
    for dim in value.shape[:depth]:
        draft.require(dim, 1)
    size = extent(draft, value, point, "count")
    outer: tuple[Dim, ...] = (2, size) if point["places"] == "matrix" else (size,)
    limit = _limit(value.shape[:depth])
    places = draft.operand((*outer, depth), text(point, "index_dtype"), fill=Below(limit))
    updates = draft.operand((*outer, *value.shape[depth:]), value.dtype)
    draft.call(
        "scatter_nd", [value, places, updates], value.shape, reduction=text(point, "reduction")
    )


def _index_shapes(draft: Draft, value: Value, point: Point, count: int) -> list[tuple[Dim, ...]]:
    """The shapes of ``count`` tensors of places, which broadcast together."""
    size = extent(draft, value, point, "count")
    match text(point, "places"):
        case "matrix":
            return [(2, size)] * count
        case "crossed" if count > 1:
            return [(size,), *[(2, 1)] * (count - 1)]
    return [(size,)] * count


def _places(draft: Draft, value: Value, point: Point, count: int) -> tuple[list[Value], list[Dim]]:
    """Tensors of places on the first ``count`` axes, and the shape that they broadcast to."""
    shapes = _index_shapes(draft, value, point, count)
    places = []
    for dim, shape in zip(value.shape, shapes, strict=False):
        draft.require(dim, 1)
        places.append(draft.operand(shape, text(point, "index_dtype"), fill=_fill(point, dim)))
    longest = max(shapes, key=len)
    crossed = shapes[0] != shapes[-1]
    return places, [2, shapes[0][0]] if crossed else list(longest)


def _index_tensor(draft: Draft, value: Value, point: Point) -> None:
    count = integer(point, "depth")
    places, outer = _places(draft, value, point, count)
    draft.call("index_tensor", [value, *places], (*outer, *value.shape[count:]))


def _index_put(draft: Draft, value: Value, point: Point) -> None:
    places, outer = _places(draft, value, point, value.rank)
    values = draft.operand(outer, value.dtype)
    attributes: dict[str, program.Attribute] = {"accumulate": bool(point["accumulate"])}
    draft.call("index_put", [value, *places, values], value.shape, **attributes)


def _leading(shape: Sequence[Dim], depth: int) -> bool:
    return len(shape) >= depth and all(at_least(dim, 1) for dim in shape[:depth])


def _fewer(shape: Sequence[Dim], value: str) -> bool:
    return value == "all" or len(shape) > 1


_DEPTH = Axis("depth", (1, 2), 1, Fits(_leading))
_PLACES = Axis("places", ("vector", "matrix"), "vector")
_CROSSED = Axis("places", ("vector", "matrix", "crossed"), "vector")
_COUNT = extent_choice("count", (3, 1, 0, "symbol"))
_IN_RANGE = "indices from 0 to the size of the axis less 1"
_FROM_END = "indices from minus the size of the axis to its size less 1"

OPERATORS = (
    Operator(
        "scatter_elements",
        meaning="The data, where updates[i, j] meets the element (indices[i, j], j) for axis 0, "
        "and alike for other axes: it replaces it, or both are added, multiplied, averaged or "
        "compared. Which of several updates replaces an element is not defined; nor is a mean over "
        "several.",
        source="docstrings of relax.op.scatter_elements and topi.scatter_elements; ONNX "
        "ScatterElements; torch.scatter_reduce",
        operands=(
            Operand("data", ranks=_RANKS, dtypes=_DTYPES),
            Operand("indices", ranks=_RANKS, dtypes=_INTEGERS),
            Operand("updates", ranks=_RANKS, dtypes=_DTYPES),
        ),
        attributes=(Attribute("axis", "axis", 0), Attribute("reduction", "text", "update")),
        axes=(
            nonempty_axis(),
            extent_choice("count", ("same", 1, 2, "symbol")),
            Axis(
                "others",
                ("all", "fewer"),
                "all",
                Fits(_fewer),
                words="indices of shape {2} into data of shape {1}",
            ),
            _INDEX_DTYPES,
            _reductions("mean"),
            _SIGN,
        ),
        apply=_scatter_elements,
        numerics=Numerics.ACCUMULATES,
        requires=_FROM_END,
        operand_fits=lambda shape: any(at_least(dim, 1) for dim in shape),
        faults=(
            axis_out_of_range("scatter_elements"),
            argument_dtype("scatter_elements", 1, "float32", kind="indices-dtype"),
            argument_rank("scatter_elements", 1),
            attribute_is("reduction-unknown", "scatter_elements", "reduction", "sub"),
        ),
    ),
    Operator(
        "scatter_nd",
        meaning="The data, where updates meet the slices at places that the last axis of the "
        "indices lists, as in scatter_elements.",
        source="docstrings of relax.op.scatter_nd and topi.scatter_nd; ONNX ScatterND",
        operands=(
            Operand("data", ranks=_RANKS, dtypes=_DTYPES),
            Operand("indices", ranks=(2, 3), dtypes=_INTEGERS),
            Operand("updates", ranks=(1, 2, 3, 4), dtypes=_DTYPES),
        ),
        attributes=(Attribute("reduction", "text", "update"),),
        axes=(_DEPTH, _PLACES, _COUNT, _INDEX_DTYPES, _reductions()),
        apply=_scatter_nd,
        numerics=Numerics.ACCUMULATES,
        requires=_IN_RANGE,
        operand_fits=lambda shape: at_least(shape[0], 1),
        faults=(
            argument_dtype("scatter_nd", 1, "float32", kind="indices-dtype"),
            argument_rank("scatter_nd", 2),
            attribute_is("reduction-unknown", "scatter_nd", "reduction", "sub"),
        ),
    ),
    Operator(
        "index_tensor",
        meaning="data[I0, I1, …] for tensors of places that broadcast together, one for each of "
        "the first axes.",
        source="docstring of relax.op.index_tensor: NumPy and PyTorch",
        operands=(
            Operand("data", ranks=_RANKS, dtypes=_DTYPES),
            Operand("indices", ranks=(1, 2), dtypes=_INTEGERS, many=True),
        ),
        axes=(_DEPTH, _CROSSED, _COUNT, _INDEX_DTYPES, _SIGN),
        apply=_index_tensor,
        numerics=Numerics.COPIES,
        requires=_FROM_END,
        operand_fits=lambda shape: at_least(shape[0], 1),
        faults=(argument_dtype("index_tensor", 1, "float32", kind="indices-dtype"),),
    ),
    Operator(
        "index_put",
        meaning="The data with data[I0, I1, …] = values, or += where they accumulate: a tensor "
        "of places for each axis. Which of several values stays is not defined.",
        source="docstring of relax.op.index_put; torch.Tensor.index_put",
        operands=(
            Operand("data", ranks=(2, 1, 3), dtypes=_DTYPES),
            Operand("indices", ranks=(1, 2), dtypes=_INTEGERS, many=True),
            Operand("values", ranks=(1, 2), dtypes=_DTYPES),
        ),
        attributes=(Attribute("accumulate", "bool", False),),
        axes=(_CROSSED, _COUNT, _INDEX_DTYPES, Axis("accumulate", (False, True), False), _SIGN),
        apply=_index_put,
        numerics=Numerics.ACCUMULATES,
        requires=_FROM_END,
        operand_fits=has_no_zero,
        faults=(argument_dtype("index_put", 1, "float32", kind="indices-dtype"),),
    ),
)
