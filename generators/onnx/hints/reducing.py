"""Operators along dimensions: reductions, sums and products so far, choices, and softmax."""

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.fills.kinds import Fill, Positive
from relaxcheck.generators.onnx.choices import (
    AXIS,
    axes_choice,
    axis_choice,
    by_version,
    listed,
    place,
    whole,
)
from relaxcheck.generators.onnx.hint import Hint, attribute
from relaxcheck.generators.onnx.hints.slicing import stated_axes
from relaxcheck.generators.onnx.schemas import Schema
from relaxcheck.generators.onnx.sketch import RANK, Sketch

_REDUCTIONS = (
    *("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean"),
    *("ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"),
)
_EMPTY = ""
_NOOP = "noop_with_empty_axes"


def _reduce(sketch: Sketch) -> None:
    logarithm = sketch.schema.operator == "ReduceLogSum"
    # Logarithms of negative sums are NaN, and so most results would be.
    fill: Fill | None = Positive(1.0) if logarithm else None
    data = sketch.data("x", sketch.shape(), fill=fill)
    axes, attached = listed(sketch, "axes", stated_axes(sketch))
    sketch.node(
        data,
        axes,
        axes=attached,
        keepdims=whole(sketch, "keepdims"),
        noop_with_empty_axes=whole(sketch, _NOOP),
    )


def _reduction(operator: str) -> Hint:
    chosen = (*("0", "1", "-1", "0, 1", "-1, 0", "2, 0"), _EMPTY)
    return Hint(
        operator,
        _reduce,
        (
            axes_choice(operator, chosen),
            attribute(operator, "keepdims", (1, 0)),
            attribute(operator, _NOOP, (0, 1)),
        ),
        (2, 1, 3, 4, 0, 5),
    )


def _choose(sketch: Sketch) -> None:
    along = place(sketch)
    # Nothing has no largest element.
    data = sketch.data("x", sketch.shape(filled=(along,)))
    sketch.node(
        data,
        axis=whole(sketch, AXIS),
        keepdims=whole(sketch, "keepdims"),
        select_last_index=whole(sketch, "select_last_index"),
    )


def _choice(operator: str) -> Hint:
    return Hint(
        operator,
        _choose,
        (
            axis_choice(operator),
            attribute(operator, "keepdims", (1, 0)),
            attribute(operator, "select_last_index", (0, 1)),
        ),
        (2, 1, 3, 4, 5),
        held=(),
    )


def _so_far(sketch: Sketch) -> None:
    data = sketch.data("x", sketch.shape())
    along = sketch.literal(AXIS, [sketch.integer(AXIS)], sketch.dtype("T2"), scalar=True)
    sketch.node(data, along, exclusive=whole(sketch, "exclusive"), reverse=whole(sketch, "reverse"))


def _in_range(point: Point, value: Value) -> bool:
    rank = int(str(point.get(RANK, 4)))
    return -rank <= int(str(value)) < rank


def _cumulative(operator: str) -> Hint:
    return Hint(
        operator,
        _so_far,
        (
            Axis(AXIS, (0, 1, -1, -2), 0, _in_range),
            attribute(operator, "exclusive", (0, 1)),
            attribute(operator, "reverse", (0, 1)),
        ),
        (2, 1, 3, 4),
        {"T2": ("int64", "int32")},
    )


def _softmax(sketch: Sketch) -> None:
    sketch.node(sketch.data("x", sketch.shape()), axis=whole(sketch, AXIS))


_ONE, _TWO, _ALL, _NONE = "1", "2", "all", "0"


def _top(sketch: Sketch) -> None:
    along, chosen = place(sketch), sketch.text("k")
    shape = sketch.shape(
        fixed=(along,) if chosen in (_TWO, _ALL) else (), filled=(along,) if chosen == _ONE else ()
    )
    data = sketch.data("x", shape)
    count = sketch.size(shape[along]) if chosen == _ALL else int(chosen)
    if chosen == _TWO:
        count = min(count, sketch.size(shape[along]))
    attached = "k" in sketch.schema.attributes
    sketch.node(
        data,
        "" if attached else sketch.literal("k", [count]),
        outputs=2,
        k=count if attached else None,
        axis=whole(sketch, AXIS),
        largest=whole(sketch, "largest"),
        sorted=whole(sketch, "sorted"),
    )


def _counts(version: Schema, point: Point, value: Value) -> bool:
    # As an attribute it is positive.
    return value != _NONE or "k" not in version.attributes


HINTS = (
    *map(_reduction, _REDUCTIONS),
    *map(_choice, ("ArgMax", "ArgMin")),
    *map(_cumulative, ("CumSum", "CumProd")),
    *(
        Hint(name, _softmax, (axis_choice(name),), (2, 1, 3, 4, 5), held=())
        for name in ("Softmax", "LogSoftmax", "Hardmax")
    ),
    Hint(
        "TopK",
        _top,
        (
            axis_choice("TopK"),
            by_version("TopK", "k", (_TWO, _ONE, _ALL, _NONE), _counts, _TWO),
            attribute("TopK", "largest", (1, 0)),
            attribute("TopK", "sorted", (1, 0)),
        ),
        (2, 1, 3, 4),
    ),
)
