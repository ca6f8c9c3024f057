"""Operators on rows of a class, a score and a box: those that are valid, those that stay."""

from dataclasses import dataclass

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.faults import Fault, with_shape
from relaxcheck.generators.core.fills.drawn import Detections
from relaxcheck.generators.core.fills.kinds import Below
from relaxcheck.generators.core.operand import DTYPE
from relaxcheck.generators.core.points import Given, integer, text, toggle
from relaxcheck.generators.core.polynomials import plus
from relaxcheck.generators.core.program import ITEM, Program
from relaxcheck.generators.core.program import Attribute as Number
from relaxcheck.generators.operators.choices import decimal
from relaxcheck.generators.operators.detection.sizes import ROWS
from relaxcheck.generators.operators.faults import (
    SHAPES,
    argument_dtype,
    argument_rank,
    attribute_is,
)
from relaxcheck.generators.operators.record import (
    Attribute,
    Numerics,
    Operand,
    Operator,
    OwnOperand,
)

COUNTS = "vision.get_valid_counts"
SUPPRESSES = "vision.non_max_suppression"

_DATA = "data"

_COUNTS = ("max_output_size", "top_k")
_DECIMALS = ("iou_threshold", "soft_nms_sigma", "score_threshold")
"""Attributes that an axis leaves out at None: integers, and numbers that it writes in decimals."""


@dataclass(frozen=True, slots=True)
class Fields:
    """The length of a row, and the places of class (-1: none), score and first corner in it."""

    length: int
    identity: int
    score: int
    corners: int


FIELDS = {
    "class, score, box": Fields(6, 0, 1, 2),
    "score, box": Fields(5, -1, 0, 1),
    "box, score, class": Fields(6, 5, 4, 0),
    "class, score, other, box, other": Fields(8, 0, 1, 3),
}

_FIELDS = Axis("fields", tuple(FIELDS), "class, score, box", words="rows of {}")


def _fields(point: Point) -> Fields:
    return FIELDS[text(point, "fields")]


def _start(draft: Draft, point: Point) -> Value:
    """Rows of classes from 0 or, where they are counted, from -1, which is no class."""
    fields = _fields(point)
    lowest = -1 if point.get("operands", "counted") == "counted" else 0
    fill = Detections(fields.identity, fields.score, fields.corners, lowest)
    shape = (ROWS.dim(point, "batch"), ROWS.dim(point, "boxes"), fields.length)
    return draft.input(shape, text(point, DTYPE), name=_DATA, fill=fill)


def _counted(draft: Draft, data: Value, **attributes: Number) -> list[Value]:
    batch, boxes, _ = data.shape
    shapes = {"int32": (batch,), data.dtype: data.shape, "places": (batch, boxes)}
    return [
        draft.call(
            COUNTS, [data], shape, "int32" if kind == "places" else kind, **attributes, **{ITEM: at}
        )
        for at, (kind, shape) in enumerate(shapes.items())
    ]


def _valid_counts(draft: Draft, data: Value, point: Point) -> None:
    fields = _fields(point)
    places = {"id_index": fields.identity, "score_index": fields.score}
    _counted(draft, data, **places, **decimal(point, "score_threshold"))


def _suppression_operands(draft: Draft, data: Value, point: Point) -> list[Value]:
    """Rows, how many of them are valid, and the place that each came from."""
    batch, boxes, _ = data.shape
    fields = _fields(point)
    if point["operands"] == "counted":
        counts, rows, places = _counted(
            draft, data, score_threshold=0.25, id_index=fields.identity, score_index=fields.score
        )
        return [rows, counts, places]
    counts = draft.input((batch,), "int32", name="valid_count", fill=Below(plus(boxes, 1)))
    places = draft.input((batch, boxes), "int32", name="indices", fill=Below(boxes))
    return [data, counts, places]


def _suppressed(draft: Draft, data: Value, point: Point) -> None:
    fields = _fields(point)
    operands = _suppression_operands(draft, data, point)
    attributes: dict[str, Number] = {
        "coord_start": fields.corners,
        "score_index": fields.score,
        "id_index": fields.identity,
        "force_suppress": bool(point["force_suppress"]),
        "return_indices": point["result"] == "indices",
        "invalid_to_bottom": point["result"] == "rows on top",
        **{name: integer(point, name) for name in _COUNTS if point[name] is not None},
    }
    for name in _DECIMALS:
        attributes |= decimal(point, name)
    batch, boxes, _ = data.shape
    items: list[tuple[tuple[Dim, ...], str]] = [
        ((batch, boxes), "int32"),
        ((batch, 1), "int32"),
    ]
    if point["soft_nms_sigma"]:
        items.insert(0, (data.shape, data.dtype))
    if point["result"] != "indices":
        draft.call(SUPPRESSES, operands, data.shape, data.dtype, **attributes)
        return
    for at, (shape, dtype) in enumerate(items):
        draft.call(SUPPRESSES, operands, shape, dtype, **attributes, **{ITEM: at})


def _grown(name: str, axis: int, kind: str, names: tuple[str, ...]) -> Fault:
    """The input ``name`` has one element more along ``axis``."""

    def change(shape: list[Dim]) -> list[Dim]:
        changed = list(shape)
        changed[axis] = plus(changed[axis], 1)
        return changed

    def breaking(program: Program, _: Point) -> Program:
        return with_shape(program, name, change)

    return Fault(kind, names, breaking, {**ROWS.static, **_GIVEN})


_GIVEN: Point = {"operands": "inputs"}


def _places_out_of_range(operator: str) -> tuple[Fault, ...]:
    return (
        attribute_is("score-index-out-of-range", operator, "score_index", 9),
        attribute_is("score-index-negative", operator, "score_index", -1),
        attribute_is("id-index-out-of-range", operator, "id_index", 9),
        attribute_is("id-index-below-none", operator, "id_index", -2),
    )


_SOFT = Given(("soft_nms_sigma",), lambda sigma, value: sigma is not None or value is None)

OPERATORS = (
    Operator(
        COUNTS,
        meaning="The number of valid rows of each batch, whose score is above score_threshold and "
        "whose class is not negative (id_index -1: whatever the class); these rows in order; and "
        "their places. Rows and places after them are -1.",
        source="docstring of relax.op.vision.get_valid_counts; "
        "tests/python/relax/test_op_vision.py (test_get_valid_counts_e2e)",
        operands=(Operand(_DATA, ranks=(3,)),),
        attributes=(
            Attribute("score_threshold", "float", 0),
            Attribute("id_index", "int", 0),
            Attribute("score_index", "int", 1),
        ),
        axes=(
            *ROWS.axes,
            _FIELDS,
            Axis("score_threshold", (None, "0.5", "0.25", "1", "-1"), None),
        ),
        apply=_valid_counts,
        numerics=Numerics.COPIES,
        requires="scores that do not equal score_threshold",
        faults=(argument_rank(COUNTS, 0), *_places_out_of_range(COUNTS)),
        own=OwnOperand(ROWS.names | {"fields"}, _start, ROWS.bindings),
    ),
    Operator(
        SUPPRESSES,
        meaning="Of the first valid_count rows of each batch, top_k at most, those that stay in "
        "descending order of scores: the best one that is left, again and again, where it removes "
        "all that are left of its class (force_suppress: of any) whose intersection with it is at "
        "least iou_threshold of the union. Results are their places in indices, then -1, and "
        "their number; or the rows in order, with -1 for all that do not stay, between them or "
        "(invalid_to_bottom) after them. With soft_nms_sigma the others of its class that it does "
        "not remove have their scores multiplied by exp(-iou**2 / (2 * soft_nms_sigma)), and go "
        "where that is not above score_threshold.",
        source="docstring of relax.op.vision.non_max_suppression; "
        "tvm.topi.testing.non_max_suppression_python, which TVM's tests hold it against",
        operands=(
            Operand(_DATA, ranks=(3,)),
            Operand("valid_count", ranks=(1,), dtypes=("int32",)),
            Operand("indices", ranks=(2,), dtypes=("int32",)),
        ),
        attributes=(
            Attribute("max_output_size", "int", -1),
            Attribute("iou_threshold", "float", 0.5),
            Attribute("force_suppress", "bool", False),
            Attribute("top_k", "int", -1),
            Attribute("coord_start", "int", 2),
            Attribute("score_index", "int", 1),
            Attribute("id_index", "int", 0),
            Attribute("return_indices", "bool", True),
            Attribute("invalid_to_bottom", "bool", False),
            Attribute("soft_nms_sigma", "float", 0.0),
            Attribute("score_threshold", "float", 0.0),
        ),
        axes=(
            *ROWS.axes,
            _FIELDS,
            Axis("result", ("indices", "rows", "rows on top"), "indices", words="{} as the result"),
            Axis(
                "operands",
                ("inputs", "counted"),
                "inputs",
                words="rows that are {} ('counted': by get_valid_counts)",
            ),
            Axis("iou_threshold", (None, "0.2", "0.8"), None),
            toggle("force_suppress"),
            Axis("max_output_size", (None, 1, 2), None),
            Axis("top_k", (None, 1, 3), None),
            Axis("soft_nms_sigma", (None, "0.5", "0.125"), None, default_weight=3),
            Axis("score_threshold", (None, "0.375"), None, _SOFT),
        ),
        apply=_suppressed,
        numerics=Numerics.APPROXIMATES,
        requires="scores above 0, no two equal; no quotient of areas equal to iou_threshold; "
        "valid_count from 0 to the number of rows",
        faults=(
            *(argument_rank(SUPPRESSES, index, pinned=_GIVEN) for index in range(3)),
            argument_dtype(SUPPRESSES, 1, "int64", kind="count-dtype", pinned=_GIVEN),
            argument_dtype(SUPPRESSES, 2, "int64", kind="indices-dtype", pinned=_GIVEN),
            _grown("valid_count", 0, "batches-differ", (*SHAPES, "batch")),
            _grown("indices", 1, "numbers-of-boxes-differ", (*SHAPES, "anchor")),
            attribute_is("corners-out-of-range", SUPPRESSES, "coord_start", 5, pinned=_GIVEN),
            attribute_is("corners-negative", SUPPRESSES, "coord_start", -1, pinned=_GIVEN),
            *_places_out_of_range(SUPPRESSES),
        ),
        own=OwnOperand(ROWS.names | {"fields", "operands"}, _start, ROWS.bindings),
    ),
)
