"""ONNX's NonMaxSuppression.

TVM returns as many rows as there could be at most, takes 0.5 for a threshold of overlap that is
left out and 0 for one of scores, and ignores limits at run time.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import relax, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.framework.probes import Array
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.computing import computed, computed_all, filled, looped
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.frontends.onnx.recurrent.cells import loop, store
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/onnx/boxes.py")

Buffer = Any
Statement = Any

_LIMITS = (
    ("max_output_boxes_per_class", "int64", 0),
    ("iou_threshold", "float32", 0.0),
    ("score_threshold", "float32", float("-inf")),
)


def convert(node: Node) -> Expr:
    """The rows (batch, class, box) of the boxes that are left.

    Raises:
        ValueError: a shape or an attribute is invalid.
    """
    boxes, scores = operands.required(node, 0, "boxes"), operands.required(node, 1, "scores")
    for name, value in (("boxes", boxes), ("scores", scores)):
        if operands.rank_of(value) != 3:
            shape = tvm_api.show(tvm_api.shape_of(value))
            raise invalid(node.operator, "it must have 3 dimensions", **{f"shape of {name}": shape})
    centered = operands.flag(node, "center_point_box")
    limits = [_limit(node, 2 + at, *each) for at, each in enumerate(_LIMITS)]
    bounded_scores = node.input(4) is not None

    def compute(*tensors: Tensor) -> list[Tensor]:
        batch, classes, count = tensors[1].shape
        shapes = [(batch * classes * count, 3), (1,), (count,)]
        dtypes = ["int64", "int64", "int32"]

        def body(ins: Sequence[Buffer], outs: Sequence[Buffer]) -> Statement:
            return _suppressed(ins, outs, (batch, classes, count), centered, bounded_scores)

        return looped("suppression", shapes, dtypes, tensors, body)

    rows, found, _ = computed_all(node, 3, compute, boxes, scores, *limits)
    (number,) = operands.at_run_time(node, "selected", found, 1)

    def first(source: Tensor, size: list[PrimExpr]) -> Tensor:
        shape = (size[0], tvm_api.integer(3))
        return filled(shape, lambda indices: source[tuple(indices)], "selected")

    return computed(node, first, rows, [number])


def _limit(node: Node, index: int, name: str, dtype: str, default: float) -> Expr:
    """The limit that is input number ``index``, as a tensor of one element."""
    value = operands.optional(node, index, name)
    if value is None:
        return tvm_api.const(np.array([default], dtype))
    dims = tvm_api.shape_of(value)
    if len(dims) > 1 or (dims and tvm_api.as_int(dims[0]) not in (1, None)):
        shown = {f"shape of {name}": tvm_api.show(dims)}
        raise invalid(node.operator, "it must have 1 element", **shown)
    value = operands.widened(node, value, dtype)
    return node.emit(relax.op.reshape(value, relax.ShapeExpr([1])))


def _suppressed(
    ins: Sequence[Buffer],
    outs: Sequence[Buffer],
    sizes: tuple[PrimExpr, PrimExpr, PrimExpr],
    centered: bool,
    bounded_scores: bool,
) -> Statement:
    """Take the best box of each class that is left, and remove those that overlap with it."""
    boxes, scores, most, overlap, least = ins
    rows, found, left = outs
    batch, classes, count = sizes
    zero, one = tvm_api.integer(0), tvm_api.integer(1)
    yes, no = tirx.const(1, "int32"), tirx.const(0, "int32")

    def of_class(n: PrimExpr, c: PrimExpr) -> Statement:
        def begin(i: PrimExpr) -> Statement:
            enters = scores[n, c, i] > least[zero] if bounded_scores else yes == yes
            return store(left, tirx.Select(enters, yes, no), [i])

        def take(t: PrimExpr) -> Statement:
            row = found[zero]

            def better(i: PrimExpr) -> Statement:
                best = rows[row, tvm_api.integer(2)]
                # The place of the best so far is -1 if there is none.
                known = scores[n, c, tirx.max(best, zero)]
                leads = tirx.any(best < zero, scores[n, c, i] > known)
                return tirx.IfThenElse(
                    tirx.all(left[i] == yes, leads),
                    store(rows, i, [row, tvm_api.integer(2)]),
                    None,
                )

            def remove(i: PrimExpr) -> Statement:
                best = rows[row, tvm_api.integer(2)]
                share = _overlaps(boxes, n, best, i, overlap[zero], centered)
                gone = tirx.all(left[i] == yes, tirx.any(i == best, share))
                return tirx.IfThenElse(gone, store(left, no, [i]), None)

            chosen = rows[row, tvm_api.integer(2)] >= zero
            keep = tirx.SeqStmt(
                [
                    store(rows, n, [row, zero]),
                    store(rows, c, [row, one]),
                    loop("i", count, remove),
                    store(found, row + one, [zero]),
                ]
            )
            return tirx.SeqStmt(
                [
                    store(rows, tvm_api.integer(-1), [row, tvm_api.integer(2)]),
                    loop("i", count, better),
                    tirx.IfThenElse(chosen, keep, None),
                ]
            )

        # Each turn writes a row, and so there must be room for it.
        turns = tirx.max(tirx.min(most[zero], count), zero)
        return tirx.SeqStmt([loop("i", count, begin), loop("t", turns, take)])

    classes_of = loop("n", batch, lambda n: loop("c", classes, lambda c: of_class(n, c)))
    return tirx.SeqStmt([store(found, zero, [zero]), classes_of])


def _overlaps(
    boxes: Buffer, n: PrimExpr, left: PrimExpr, right: PrimExpr, most: PrimExpr, centered: bool
) -> PrimExpr:
    """True if the intersection of two boxes, over their union, is more than ``most``."""

    def ends(box: PrimExpr, axis: int) -> tuple[PrimExpr, PrimExpr]:
        first, second = (boxes[n, box, tvm_api.integer(at)] for at in (axis, axis + 2))
        if centered:
            half = second / tirx.const(2, tvm_api.dtype_of(second))
            return first - half, first + half
        return tirx.min(first, second), tirx.max(first, second)

    zero = tirx.const(0, "float32")
    common = areas = None
    for axis in (0, 1):
        (low, high), (other_low, other_high) = ends(left, axis), ends(right, axis)
        side = tirx.max(tirx.min(high, other_high) - tirx.max(low, other_low), zero)
        sides = (high - low, other_high - other_low)
        common = side if common is None else common * side
        areas = sides if areas is None else tuple(a * b for a, b in zip(areas, sides, strict=True))
    assert common is not None
    assert areas is not None
    union = areas[0] + areas[1] - common
    # Boxes without an area overlap with nothing.
    return tirx.all(areas[0] > zero, areas[1] > zero, common / union > most)


CONVERSIONS: dict[str, Convert] = {"NonMaxSuppression": convert}


def _keeps_rows() -> bool:
    """True if a box that overlaps, by less than half, with a better one is left."""
    inputs: dict[str, Array] = {
        "boxes": np.array([[[0, 0, 4, 4], [0, 2, 4, 6]]], np.float32),
        "scores": np.array([[[1, 2]]], np.float32),
        "max_output_boxes_per_class": np.array([2], np.int64),
    }
    held = ("max_output_boxes_per_class",)
    model = node_model("NonMaxSuppression", inputs, 11, held=held)
    data = [inputs["boxes"], inputs["scores"]]
    return fails(model, data, [np.array([[0, 0, 1]], np.int64)])


FIX = Fix(
    name="onnx_boxes",
    operators=tuple(CONVERSIONS),
    fault=(
        "ONNX's NonMaxSuppression returns rows for boxes that it removed, takes 0.5 and 0 for"
        " thresholds that are left out, and ignores limits at run time"
    ),
    issue=None,
    parts=(FaultPart("removed boxes", _keeps_rows),),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_pooling",
    patch=patch(CONVERSIONS),
)
