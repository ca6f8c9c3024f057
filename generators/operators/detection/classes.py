"""Suppression of boxes, for each class of its own."""

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.faults import Fault, with_shape
from relaxcheck.generators.core.fills.drawn import Boxes, Ranked
from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.core.operand import DTYPE
from relaxcheck.generators.core.points import Given, integer, text
from relaxcheck.generators.core.polynomials import times
from relaxcheck.generators.core.program import ITEM, Program
from relaxcheck.generators.operators.detection.sizes import CLASSES
from relaxcheck.generators.operators.faults import SHAPES, argument_rank
from relaxcheck.generators.operators.record import (
    Attribute,
    Numerics,
    Operand,
    Operator,
    OwnOperand,
)

_NAME = "vision.all_class_non_max_suppression"

DETECTIONS = "D"
"""Stands for the number of boxes that are selected, which no shape of an operand decides."""

_SCORES = {"probabilities": Ranked(0.0, 1.0), "logits": Ranked(-4.0, 4.0)}

_ENOUGH = 100
"""A limit of boxes for each class that none reaches."""


def _start(draft: Draft, point: Point) -> Value:
    shape = (CLASSES.dim(point, "batch"), CLASSES.dim(point, "boxes"), 4)
    return draft.input(shape, text(point, DTYPE), name="boxes", fill=Boxes(turned=True))


def _limits(draft: Draft, point: Point) -> list[Value]:
    """The most boxes for each class, and the thresholds of overlap and of score."""
    shape = (1,) if point["limits_shape"] == "vectors" else ()
    most = _ENOUGH if point["most"] == "enough" else integer(point, "most")
    rows = (
        ("max_output_boxes_per_class", "int64", most),
        ("iou_threshold", "float32", float(text(point, "overlap"))),
        ("score_threshold", "float32", float(text(point, "score"))),
    )
    return [
        draft.input(
            shape,
            dtype,
            name=name,
            fill=Literal((value,)),
            constant=point["limits"] == "constants"
            or (point["limits"] == "constant count" and dtype == "int64"),
        )
        for name, dtype, value in rows
    ]


def _suppressed(draft: Draft, boxes: Value, point: Point) -> None:
    batch, count, _ = boxes.shape
    classes = CLASSES.dim(point, "classes")
    fill = _SCORES[text(point, "scores")]
    scores = draft.input((batch, classes, count), boxes.dtype, name="scores", fill=fill)
    operands = [boxes, scores, *_limits(draft, point)]
    form = text(point, "output_format")
    every = times(classes, count)
    items: dict[str, list[tuple[tuple[Dim, ...], str]]] = {
        "onnx": [((DETECTIONS, 3), "int64"), ((1,), "int64")],
        "tensorflow": [
            ((batch, every, 2), "int64"),
            ((batch, every), "float32"),
            ((batch,), "int64"),
        ],
    }
    made = [
        draft.call(_NAME, operands, shape, dtype, output_format=form, **{ITEM: at})
        for at, (shape, dtype) in enumerate(items[form])
    ]
    if point["then"] == "negative":
        draft.call("negative", made[:1], made[0].shape)


def _others(program: Program, _: Point) -> Program:
    """Scores of one box more than there are."""

    def change(shape: list[Dim]) -> list[Dim]:
        *front, count = shape
        assert isinstance(count, int)
        return [*front, count + 1]

    return with_shape(program, "scores", change)


_LIMITS = {
    "limits": ("constants", "constant count", "inputs"),
    "limits_shape": ("scalars", "vectors"),
}


OPERATORS = (
    Operator(
        _NAME,
        meaning="For each batch and class the places of the boxes that stay, in descending order "
        "of scores: of those whose score is above score_threshold the best one that is left, again "
        "and again and at most max_output_boxes_per_class times, where it removes those whose "
        "intersection with it is more than iou_threshold of the union. Format onnx: rows of batch, "
        "class and box, as many as there are, and their number. Format tensorflow: for each batch "
        "rows of class and box, their scores, and their number; what stands after them is not "
        "defined.",
        source="docstring of relax.op.vision.all_class_non_max_suppression; ONNX NonMaxSuppression",
        operands=(
            Operand("boxes", ranks=(3,)),
            Operand("scores", ranks=(3,)),
            Operand("max_output_boxes_per_class", ranks=(0, 1), dtypes=("int64",)),
            Operand("iou_threshold", ranks=(0, 1), dtypes=("float32",)),
            Operand("score_threshold", ranks=(0, 1), dtypes=("float32",)),
        ),
        attributes=(Attribute("output_format", "text", "onnx"),),
        axes=(
            *CLASSES.axes,
            Axis("output_format", ("onnx", "tensorflow"), "onnx"),
            Axis("limits", _LIMITS["limits"], "constants", words="{} as limits"),
            Axis("limits_shape", _LIMITS["limits_shape"], "scalars", words="{} as limits"),
            Axis("most", ("enough", 1, 2, 0), "enough", words="at most {} boxes a class"),
            Axis("overlap", ("0.5", "0.2", "0.8", "0", "1"), "0.5", words="iou_threshold {}"),
            Axis("scores", tuple(_SCORES), "probabilities", words="{} as scores"),
            Axis(
                "score",
                ("0", "0.25", "0.5", "-4"),
                "0",
                Given(("scores",), lambda scores, value: scores != "logits" or "." not in value),
                words="score_threshold {}",
            ),
            Axis(
                "then",
                ("bare", "negative"),
                "bare",
                Given(("output_format",), lambda form, value: value == "bare" or form == "onnx"),
                default_weight=2,
                words="{} of the indices",
            ),
        ),
        apply=_suppressed,
        numerics=Numerics.COPIES,
        requires="no two scores of a class equal, none equal to score_threshold; no quotient of "
        "areas but 0 and 1 equal to iou_threshold",
        faults=(
            argument_rank(_NAME, 0),
            argument_rank(_NAME, 1),
            Fault("numbers-of-boxes-differ", (*SHAPES, "boxes"), _others, CLASSES.static),
        ),
        own=OwnOperand(CLASSES.names, _start, CLASSES.bindings),
    ),
)
