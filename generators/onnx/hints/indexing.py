"""Operators that take or replace elements at places that other tensors say."""

from math import prod

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import Below, Distinct, Literal
from relaxcheck.generators.onnx.choices import (
    AXIS,
    COUNTED,
    axis_choice,
    by_version,
    held_constant,
    indices,
    place,
    whole,
)
from relaxcheck.generators.onnx.hint import Hint, attribute, optional, with_
from relaxcheck.generators.onnx.schemas import Schema
from relaxcheck.generators.onnx.sketch import RANK, Sketch

_RANKS = (2, 1, 3, 4)
_INDEX = {"Tind": ("int64", "int32")}
_PLACES = "indices"
_REDUCTION = "reduction"

_SHAPES = {"vector": (3,), "scalar": (), "matrix": (2, 2), "single": (1,), "empty": (0,)}


def _gather(sketch: Sketch) -> None:
    along = place(sketch)
    shape = sketch.shape(fixed=(along,) if held_constant(sketch) else (), filled=(along,))
    data = sketch.data("x", shape)
    form = _SHAPES[sketch.text(_PLACES)]
    dtype = sketch.dtype("Tind")
    fill = indices(sketch, shape[along], dtype, negative=sketch.schema.since >= COUNTED)
    chosen = sketch.parameter(_PLACES, form, dtype, fill)
    sketch.node(data, chosen, axis=whole(sketch, AXIS))


def _element_shapes(sketch: Sketch) -> tuple[tuple[Dim, ...], tuple[Dim, ...]]:
    """The shape of the data, and of the indices of its elements."""
    along, form = place(sketch), sketch.text(_PLACES)
    every = range(sketch.rank)
    # Indices that the model holds suit every size of the dimension.
    fixed = every if form == "fewer" else (along,) if held_constant(sketch) else ()
    shape = sketch.shape(fixed=fixed, filled=(along,))
    if form == "single":
        return shape, (*shape[:along], 1, *shape[along + 1 :])
    if form == "fewer":
        return shape, tuple(max(sketch.size(dim) - 1, 1) for dim in shape)
    if form == "more":
        return shape, (*shape[:along], 7, *shape[along + 1 :])
    return shape, shape


def _gather_elements(sketch: Sketch) -> None:
    shape, own = _element_shapes(sketch)
    data = sketch.data("x", shape)
    dtype = sketch.dtype("Tind")
    fill = indices(sketch, shape[place(sketch)], dtype)
    chosen = sketch.parameter(_PLACES, own, dtype, fill)
    sketch.node(data, chosen, axis=whole(sketch, AXIS))


def _scatter_elements(sketch: Sketch) -> None:
    along = place(sketch)
    shape, own = _element_shapes(sketch)
    data = sketch.data("x", shape)
    dtype = sketch.dtype("Tind")
    reduction = sketch.point.get(_REDUCTION)
    # Of two updates to one element either may stay, unless both are combined.
    combined = reduction not in (None, "none")
    # Before opset 11, Scatter does not say that indices count from the end, too.
    negative = sketch.schema.since >= COUNTED
    fill = (
        indices(sketch, shape[along], dtype)
        if combined
        else Distinct(shape[along], along, negative=negative)
    )
    chosen = sketch.parameter(_PLACES, own, dtype, fill)
    updates = sketch.data("updates", own)
    sketch.node(
        data,
        chosen,
        updates,
        axis=whole(sketch, AXIS),
        reduction=None if reduction is None else str(reduction),
    )


def _reductions(version: Schema, point: Point, value: Value) -> bool:
    if value is None:
        return True
    if _REDUCTION not in version.attributes:
        return False
    if value in ("max", "min"):
        return version.since >= 18 and point.get("T") != "bool"
    return value == "none" or point.get("T") != "bool"


def _reduction(operator: str) -> Axis:
    values = (None, "none", "add", "mul", "max", "min")
    return by_version(operator, _REDUCTION, values, _reductions)


_ROWS = {"rows": (3,), "row": (), "grid": (2, 2), "none": (0,)}
"""The dimensions of indices before the last one, behind those of the batch."""

_DEPTH = "depth"
_BATCH = "batch_dims"


def _rows(sketch: Sketch, *, distinct: bool) -> tuple[tuple[Dim, ...], str, tuple[int, ...], int]:
    """The data's shape; indices of its first dimensions, and their shape but for the last one.

    The last one is how many dimensions each row goes through. ``distinct``: no two rows are the
    same.
    """
    batch = whole(sketch, _BATCH) or 0
    depth = sketch.integer(_DEPTH)
    until = batch + depth
    shape = sketch.shape(fixed=range(until))
    sizes = [sketch.size(dim) for dim in shape[:until]]
    front, form = tuple(sizes[:batch]), _ROWS[sketch.text(_PLACES)]
    indexed = sizes[batch:]
    total = prod(indexed)
    if distinct and prod(form) > total:
        form = (total,)
    order = sorted(range(total), key=lambda at: (7 * at + 3) % 11)
    values: list[int] = []
    for row in range(prod(front) * prod(form)):
        left = order[row % total]
        own = []
        for at, size in reversed(list(enumerate(indexed))):
            left, rest = divmod(left, size)
            own.append(rest - size if (row + at) % 2 else rest)
        values += reversed(own)
    leading = (*front, *form)
    fill = Literal(tuple(values))
    name = sketch.parameter(_PLACES, (*leading, depth), "int64", fill)
    return shape, name, leading, until


def _gather_nd(sketch: Sketch) -> None:
    shape, chosen, _, _ = _rows(sketch, distinct=False)
    sketch.node(sketch.data("x", shape), chosen, batch_dims=whole(sketch, _BATCH))


def _scatter_nd(sketch: Sketch) -> None:
    reduction = sketch.point[_REDUCTION]
    combined = reduction not in (None, "none")
    shape, chosen, leading, until = _rows(sketch, distinct=not combined)
    data = sketch.data("x", shape)
    updates = sketch.data("updates", (*leading, *shape[until:]))
    sketch.node(data, chosen, updates, reduction=None if reduction is None else str(reduction))


def _batches(version: Schema, point: Point, value: Value) -> bool:
    if value is None:
        return True
    rank = point.get(RANK, 4)
    return _BATCH in version.attributes and int(str(value)) < int(str(rank))


def _depths(point: Point, value: Value) -> bool:
    rank, batch = point.get(RANK, 4), point.get(_BATCH)
    return int(str(value)) <= int(str(rank)) - int(str(batch or 0))


def _tensor_scatter(sketch: Sketch) -> None:
    along = place(sketch)
    length = {"one": 1, "two": 2, "all": 5, "none": 0}[sketch.text("update")]
    full = sketch.shape()
    data = sketch.data("past", (*full[:along], 5, *full[along + 1 :]))
    update = sketch.data("update", (*full[:along], length, *full[along + 1 :]))
    circular = sketch.point["mode"] == "circular"
    at = ""
    if sketch.has(with_("write_indices")):
        at = sketch.parameter(
            "write_indices", full[:1], "int64", Below(5 if circular else 6 - length)
        )
    mode = sketch.point["mode"]
    sketch.node(
        data, update, at, axis=whole(sketch, AXIS), mode=None if mode is None else str(mode)
    )


def _behind_the_batch(version: Schema, point: Point, value: Value) -> bool:
    rank = int(str(point.get(RANK, 4)))
    at = -2 if value is None else int(str(value))
    return -rank <= at < rank and at % rank != 0


def _non_zero(sketch: Sketch) -> None:
    sketch.node(sketch.data("x", sketch.shape()))


_UNIQUE = {
    "values": ("y",),
    "all": ("y", "places", "inverse", "counts"),
    "inverse": ("y", "", "inverse"),
    "counts": ("y", "", "", "counts"),
}


def _unique(sketch: Sketch) -> None:
    named = _UNIQUE[sketch.text("outputs")]
    # Without elements along it, slices of a dimension cannot be compared.
    filled = () if sketch.point[AXIS] is None else range(sketch.rank)
    data = sketch.data("x", sketch.shape(filled=filled))
    sketch.node(data, named=named, axis=whole(sketch, AXIS), sorted=whole(sketch, "sorted"))


_FORMS_OF_ELEMENTS = ("same", "single", "fewer")

HINTS = (
    Hint(
        "Gather",
        _gather,
        (axis_choice("Gather", counted=1), Axis(_PLACES, tuple(_SHAPES), "vector")),
        (2, 1, 3, 4, 5),
        _INDEX,
    ),
    Hint(
        "GatherElements",
        _gather_elements,
        (axis_choice("GatherElements"), Axis(_PLACES, (*_FORMS_OF_ELEMENTS, "more"), "same")),
        _RANKS,
        _INDEX,
    ),
    *(
        Hint(
            name,
            _scatter_elements,
            (
                axis_choice(name, counted=9),
                Axis(_PLACES, _FORMS_OF_ELEMENTS, "same"),
                *((_reduction(name),) if name == "ScatterElements" else ()),
            ),
            _RANKS,
            _INDEX,
        )
        for name in ("Scatter", "ScatterElements")
    ),
    Hint(
        "GatherND",
        _gather_nd,
        (
            by_version("GatherND", _BATCH, (None, 0, 1, 2), _batches),
            Axis(_DEPTH, (1, 2, 3), 1, _depths),
            Axis(_PLACES, tuple(_ROWS), "rows"),
        ),
        _RANKS,
    ),
    Hint(
        "ScatterND",
        _scatter_nd,
        (
            Axis(_DEPTH, (1, 2, 3), 1, _depths),
            Axis(_PLACES, tuple(_ROWS), "rows"),
            _reduction("ScatterND"),
        ),
        _RANKS,
    ),
    Hint(
        "TensorScatter",
        _tensor_scatter,
        (
            by_version("TensorScatter", AXIS, (None, 1, -1, 2, -2), _behind_the_batch),
            attribute("TensorScatter", "mode", ("linear", "circular")),
            Axis("update", ("two", "one", "all", "none"), "two"),
            optional("TensorScatter", "write_indices"),
        ),
        (3, 4, 2),
    ),
    Hint("NonZero", _non_zero, held=()),
    Hint(
        "Unique",
        _unique,
        (
            axis_choice("Unique"),
            attribute("Unique", "sorted", (1, 0)),
            Axis("outputs", tuple(_UNIQUE), "values"),
        ),
        (2, 1, 3),
        held=(),
    ),
)
