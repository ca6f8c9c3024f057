"""Boxes that stay for each class, chosen one after the other."""

from collections.abc import Sequence

import numpy as np

from relaxcheck.generators.core.program import ITEM, Node
from tests.measure.quality.control.operator import (
    FLOATS,
    Array,
    Type,
    one_dtype,
    operator,
    refuse,
    text,
    whole,
)
from tests.measure.quality.control.operators.detection.rows import quotient
from tests.measure.quality.control.summation import Freedom


def _infer(node: Node, operands: Sequence[Type]) -> Type:
    boxes, scores, *limits = operands
    one_dtype(node, [boxes, scores], FLOATS)
    for each in (boxes, scores):
        if each.rank != 3:
            raise refuse(node, f"boxes or scores have rank {each.rank}")
    batch, classes, count = scores.shape
    if boxes.shape != (batch, count, 4):
        raise refuse(node, f"shape {boxes.shape} of boxes, {scores.shape} of scores")
    if any(each.size != 1 for each in limits):
        raise refuse(node, "a limit has another size than 1")
    item = whole(node, ITEM)
    if text(node, "output_format", "onnx") == "onnx":
        rows = Type((batch * classes * count, 3), "int64", most=True)
        return (rows, Type((1,), "int64"))[item]
    every = classes * count
    return (
        Type((batch, every, 2), "int64"),
        Type((batch, every), "float32"),
        Type((batch,), "int64"),
    )[item]


def _turned(box: Array) -> Array:
    """The box from its lower to its upper corner."""
    return np.concatenate([np.minimum(box[:2], box[2:]), np.maximum(box[:2], box[2:])])


def _kept(boxes: Array, scores: Array, limits: Sequence[Array]) -> list[int]:
    most, overlap, least = (each.reshape(()) for each in limits)
    left = [at for at in range(len(boxes)) if scores[at] > least]
    kept: list[int] = []
    while left and len(kept) < most:
        best = max(left, key=lambda at: scores[at])
        kept.append(best)
        left = [
            at
            for at in left
            if at != best and quotient(_turned(boxes[best]), _turned(boxes[at])) <= overlap
        ]
    return kept


@operator("vision.all_class_non_max_suppression", _infer)
def _suppressed(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    boxes, scores, *limits = operands
    batch, classes, count = scores.shape
    rows = [
        [
            (at, each, box)
            for each in range(classes)
            for box in _kept(boxes[at], scores[at, each], limits)
        ]
        for at in range(batch)
    ]
    item = whole(node, ITEM)
    if text(node, "output_format", "onnx") == "onnx":
        flat = np.array([row for of_batch in rows for row in of_batch], np.int64).reshape(-1, 3)
        return flat if item == 0 else np.array([len(flat)])
    if item == 2:
        return np.array([len(of_batch) for of_batch in rows], np.int64)
    places = np.zeros((batch, classes * count, 2), np.int64)
    listed = np.zeros((batch, classes * count), np.float32)
    for at, of_batch in enumerate(rows):
        for rank, (_, each, box) in enumerate(of_batch):
            places[at, rank], listed[at, rank] = (each, box), scores[at, each, box]
    return places if item == 0 else listed
