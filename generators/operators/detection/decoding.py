"""Boxes and scores out of what a single-shot detector predicts for its anchors."""

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.points import text
from relaxcheck.generators.core.polynomials import times
from relaxcheck.generators.core.program import Attribute as Number
from relaxcheck.generators.operators.choices import decimal, numbers
from relaxcheck.generators.operators.faults import (
    PLAIN,
    argument_dtype,
    argument_grown,
    argument_rank,
    attribute_is,
)
from relaxcheck.generators.operators.record import Attribute, Numerics, Operand, Operator

_NAME = "vision.multibox_transform_loc"

_FLAGS = ("clip", "keep_background", "apply_softmax")
"""Attributes that an axis leaves out at None."""


def _decoded(draft: Draft, scores: Value, point: Point) -> None:
    batch, _, anchors = scores.shape
    places = draft.operand((batch, times(4, anchors)), scores.dtype)
    constant = text(point, "anchors") == "constant"
    anchor = draft.operand((1, anchors, 4), scores.dtype, constant=constant)
    attributes: dict[str, Number] = {
        name: bool(point[name]) for name in _FLAGS if point[name] is not None
    }
    attributes |= decimal(point, "threshold")
    variances = numbers(point, "variances")
    if variances is not None:
        attributes["variances"] = variances
    operands = [scores, places, anchor]
    shapes = ((batch, anchors, 4), scores.shape)
    draft.items(_NAME, operands, shapes, **attributes)


# TVM 0.25 and 0.26 do not know apply_softmax, and would refuse a call for that.
_SOFT: Point = {"anchors": "input", "apply_softmax": None}
_STATIC: Point = {**PLAIN, **_SOFT}

OPERATORS = (
    Operator(
        _NAME,
        meaning="For each anchor (left, top, right, bottom) and (x, y, w, h) of loc_pred, each "
        "times its variance, a box (ymin, xmin, ymax, xmax): its center is x widths and y heights "
        "of the anchor from the anchor's, its sides are exp(w) and exp(h) times the anchor's; "
        "within [0, 1] where clip is set. And the softmax of cls_pred over the classes "
        "(apply_softmax), 0 where it is below threshold, and for class 0 unless keep_background.",
        source="docstring of relax.op.vision.multibox_transform_loc; DecodeCenterSizeBoxes of "
        "TFLite, which it names",
        operands=(
            Operand("cls_pred", ranks=(3,)),
            Operand("loc_pred", ranks=(2,)),
            Operand("anchor", ranks=(3,)),
        ),
        attributes=(
            Attribute("clip", "bool", False),
            Attribute("threshold", "float", 0.0),
            Attribute("variances", "ints", 1.0),
            Attribute("keep_background", "bool", True),
            Attribute("apply_softmax", "bool", True),
        ),
        axes=(
            Axis("clip", (None, True), None),
            Axis("threshold", (None, "0.3", "0.01"), None),
            Axis("variances", (None, "1, 2, 3, 2"), None),
            Axis("keep_background", (None, False), None),
            Axis("apply_softmax", (None, False), None, default_weight=2),
            Axis("anchors", ("input", "constant"), "input", words="an {} of anchors"),
        ),
        apply=_decoded,
        numerics=Numerics.APPROXIMATES,
        faults=(
            *(argument_rank(_NAME, index, pinned=_SOFT) for index in range(3)),
            argument_dtype(_NAME, 1, "float64", pinned=_SOFT),
            argument_dtype(_NAME, 2, "float64", kind="anchor-dtype", pinned=_SOFT),
            argument_grown(_NAME, 1, 0, kind="batches-differ", pinned=_STATIC),
            argument_grown(_NAME, 1, 1, kind="places-are-no-fours", pinned=_STATIC),
            argument_grown(_NAME, 2, 1, kind="numbers-of-anchors-differ", pinned=_STATIC),
            argument_grown(_NAME, 2, 2, kind="anchors-of-five", pinned=_STATIC),
            attribute_is("variances-too-few", _NAME, "variances", (1, 1, 1), pinned=_SOFT),
        ),
    ),
)
