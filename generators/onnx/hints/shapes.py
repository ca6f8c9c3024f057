"""Operators of shapes: they keep the elements and their order, or pass on the shape alone."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.onnx.choices import (
    axes_choice,
    axis_choice,
    by_version,
    listed,
    places,
    whole,
)
from relaxcheck.generators.onnx.hint import Hint, attribute
from relaxcheck.generators.onnx.schemas import Schema
from relaxcheck.generators.onnx.sketch import RANK, Sketch

_ALL_RANKS = (2, 1, 3, 4, 0, 5)
_FORM = "form"

_FLAT, _FIRST, _LAST, _ZEROS = "flat", "first", "last", "zeros"
_SPLIT, _ONES, _EMPTY, _LIKE, _SCALAR = "split", "ones", "empty", "like", "scalar"
_RESHAPES = (_FLAT, _FIRST, _LAST, _ZEROS, _SPLIT, _ONES, _EMPTY, _LIKE, _SCALAR)
"""New shapes: [-1]; [0, -1]; [-1, the last dimension]; zeros alone; numbers in another order;
[1, -1, 1]; an empty one with a 0 in it; the shape of another tensor; none of one element."""


def _reshapes(version: Schema, point: Point, value: Value) -> bool:
    literal = point.get("allowzero") == 1
    rank = point.get(RANK)
    if value == _EMPTY:
        return literal and rank != 0
    if value == _SCALAR:
        return rank == 0
    return not (
        (value in (_FIRST, _ZEROS) and literal)
        or (value in (_FIRST, _LAST, _SPLIT) and rank == 0)
        # An empty list of zeros is the shape of a scalar.
        or (value == _ZEROS and rank == 0)
    )


def _reshape(sketch: Sketch) -> None:
    form, rank = sketch.text(_FORM), sketch.rank
    allowzero = whole(sketch, "allowzero")
    every = range(rank)
    # Where one dimension stands for all others, those that are copied are not empty; and a 0 in a
    # shape means the dimension there, unless it is literal.
    copied = () if allowzero == 1 else every
    fixed = {_SPLIT: every, _LAST: (rank - 1,)}.get(form, ())
    filled = {_FIRST: (0,), _LIKE: copied}.get(form, ())
    shape: tuple[Dim, ...] = sketch.shape(fixed=fixed, filled=filled)
    if form == _EMPTY:
        shape = (*sketch.shape(fixed=every)[:-1], 0)
    if form == _LIKE and allowzero == 1:
        # Without a 0 the attribute says nothing; in another place it is no dimension to copy.
        shape = (*shape[:-1], 0)[:rank]
    data = sketch.data("x", shape)
    if form == _LIKE:
        like = sketch.data("like", tuple(reversed(shape)))
        sketch.step("Shape", like, output="shape", returned=False)
        sketch.node(data, "shape", allowzero=allowzero)
        return
    target: Sequence[int] = {
        _FLAT: (-1,),
        _FIRST: (0, -1),
        _ZEROS: (0,) * rank,
        _ONES: (1, -1, 1),
        _EMPTY: (0, 3),
        _SCALAR: (),
    }.get(form, ())
    if form == _LAST:
        target = (-1, sketch.size(shape[-1]))
    if form == _SPLIT:
        target = (1, *(sketch.size(dim) for dim in reversed(shape)))
    sketch.node(data, sketch.literal("shape", target), allowzero=allowzero)


_SAME, _AHEAD, _SHORTER, _STRETCHED, _NOTHING = "same", "ahead", "shorter", "stretched", "nothing"
_EXPANSIONS = (_STRETCHED, _SAME, _AHEAD, _SHORTER, _NOTHING, _LIKE)
"""The shape to expand to: other sizes for ones; ones; a further dimension in front; fewer
dimensions; a 0 for a 1; the shape of another tensor."""


def _expand(sketch: Sketch) -> None:
    form, rank = sketch.text(_FORM), sketch.rank
    full = sketch.shape()
    data: tuple[Dim, ...] = full
    target: tuple[int, ...] = (1,) * rank
    match form:
        case "ahead":
            target = (2, 1, *target)
        case "shorter":
            target = target[1:]
        case "stretched":
            data, target = full[:-1] + (1,) * (rank > 0), (*target[:-1], 4)
        case "nothing":
            data, target = full[:-1] + (1,) * (rank > 0), (*target[:-1], 0)
        case "like":
            data = full[:1] + (1,) * max(rank - 1, 0)
    operand = sketch.data("x", data)
    if form == _LIKE:
        like = sketch.data("like", full)
        sketch.step("Shape", like, output="shape", returned=False)
        sketch.node(operand, "shape")
        return
    sketch.node(operand, sketch.literal("shape", target))


def _shape(sketch: Sketch) -> None:
    data = sketch.data("x", sketch.shape())
    sketch.node(data, start=whole(sketch, "start"), end=whole(sketch, "end"))


def _size(sketch: Sketch) -> None:
    sketch.node(sketch.data("x", sketch.shape()))


def _squeeze(sketch: Sketch) -> None:
    chosen = places(sketch)
    # Without axes every dimension of size 1 goes: a symbol would leave the rank open.
    fixed = range(sketch.rank) if chosen is None else ()
    single = (0, 2) if chosen is None else chosen
    full = sketch.shape(fixed=fixed)
    shape = tuple(1 if at in single else dim for at, dim in enumerate(full))
    _with_axes(sketch, sketch.data("x", shape))


def _unsqueeze(sketch: Sketch) -> None:
    _with_axes(sketch, sketch.data("x", sketch.shape()))


def _with_axes(sketch: Sketch, data: str) -> None:
    values = sketch.point["axes"]
    stated = None if values is None else [int(each) for each in str(values).split(",")]
    axes, attached = listed(sketch, "axes", stated)
    sketch.node(data, axes, axes=attached)


def _flatten(sketch: Sketch) -> None:
    sketch.node(sketch.data("x", sketch.shape()), axis=whole(sketch, "axis"))


_PERMUTATIONS: dict[str, Callable[[int], Iterable[int]]] = {
    "identity": lambda rank: range(rank),
    "reversed": lambda rank: reversed(range(rank)),
    "swapped": lambda rank: (*range(rank - 2), rank - 1, rank - 2),
    "last-first": lambda rank: (rank - 1, *range(rank - 1)),
    "first-last": lambda rank: (*range(1, rank), 0),
}


def _permuted(point: Point, value: Value) -> bool:
    rank = point.get(RANK)
    return rank is None or value == "identity" or int(str(rank)) >= 2


def _transpose(sketch: Sketch) -> None:
    data = sketch.data("x", sketch.shape())
    form = sketch.point["perm"]
    sketch.node(data, perm=None if form is None else tuple(_PERMUTATIONS[str(form)](sketch.rank)))


_REPEATS = ("ones", "twos", "last", "mixed", "zero")


def _tile(sketch: Sketch) -> None:
    rank = sketch.rank
    repeats = {
        "ones": (1,) * rank,
        "twos": (2,) * rank,
        "last": (1,) * (rank - 1) + (3,) * (rank > 0),
        "mixed": tuple(1 + (at + 1) % 3 for at in range(rank)),
        "zero": (0,) * (rank > 0) + (1,) * (rank - 1),
    }[sketch.text("repeats")]
    sketch.node(sketch.data("x", sketch.shape()), sketch.literal("repeats", repeats))


def _sizes_of_one(point: Point, value: Value) -> bool:
    return point.get(RANK) != 0 or value == "ones"


HINTS = (
    Hint(
        "Reshape",
        _reshape,
        (
            # A literal 0 needs both: left to chance, a hundred models have one of it.
            replace(attribute("Reshape", "allowzero", (0, 1)), weights={1: 4}),
            replace(by_version("Reshape", _FORM, _RESHAPES, _reshapes, _FLAT), weights={_EMPTY: 6}),
        ),
        _ALL_RANKS,
    ),
    Hint("Expand", _expand, (Axis(_FORM, _EXPANSIONS, _STRETCHED),)),
    Hint(
        "Shape",
        _shape,
        (
            attribute("Shape", "start", (0, 1, -1, -9)),
            attribute("Shape", "end", (1, -1, 9, 0)),
        ),
        _ALL_RANKS,
        held=(),
    ),
    Hint("Size", _size, held=()),
    Hint(
        "Squeeze",
        _squeeze,
        (axes_choice("Squeeze", ("0", "1", "-1", "0, 2", "-1, 0"), counted=11),),
        _ALL_RANKS,
    ),
    Hint(
        "Unsqueeze",
        _unsqueeze,
        (
            axes_choice(
                "Unsqueeze",
                ("0", "1", "-1", "0, 2", "2, 0", "-1, 0"),
                added=True,
                required=True,
            ),
        ),
    ),
    Hint("Flatten", _flatten, (axis_choice("Flatten", above=1),), _ALL_RANKS, held=()),
    Hint(
        "Transpose",
        _transpose,
        (attribute("Transpose", "perm", tuple(_PERMUTATIONS), _permuted),),
        _ALL_RANKS,
        held=(),
    ),
    Hint("Tile", _tile, (Axis("repeats", _REPEATS, "twos", _sizes_of_one),)),
)
