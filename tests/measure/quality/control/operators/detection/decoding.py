"""Boxes and scores of anchors, with products and sums in an order that is free."""

from collections.abc import Sequence

import numpy as np

from relaxcheck.generators.core.program import ITEM, Node
from tests.measure.quality.control.operator import (
    FLOATS,
    Array,
    Type,
    flag,
    number,
    one_dtype,
    operator,
    refuse,
    whole,
    wholes,
)
from tests.measure.quality.control.summation import Freedom


def _infer(node: Node, operands: Sequence[Type]) -> Type:
    dtype = one_dtype(node, operands, FLOATS)
    scores, places, anchors = operands
    if (scores.rank, places.rank, anchors.rank) != (3, 2, 3):
        raise refuse(node, "the rank of an operand, or its shape, is another")
    batch, _, count = scores.shape
    if places.shape != (batch, 4 * count) or anchors.shape != (1, count, 4):
        raise refuse(
            node, f"shape {places.shape} of places, {anchors.shape} of anchors: sizes do not fit"
        )
    if len(wholes(node, "variances", (1, 1, 1, 1))) != 4:
        raise refuse(node, "variances are not four")
    return Type((batch, count, 4), dtype) if whole(node, ITEM) == 0 else scores


def _ends(moves: Array, low: Array, high: Array, freedom: Freedom) -> tuple[Array, Array]:
    """Both ends along an axis; ``moves`` are the shift and the growth, times their variances."""
    half = low.dtype.type(0.5)
    length, middle = high - low, (low + high) * half
    center = moves[0] * length + middle
    if freedom.choice(("half first", "half last")) == "half first":
        wide = half * np.exp(moves[1]) * length
    else:
        wide = np.exp(moves[1]) * (length * half)
    return center - wide, center + wide


def _softmax(scores: Array) -> Array:
    if not scores.shape[1]:
        return scores
    raised = np.exp(scores - scores.max(1, keepdims=True))
    total = np.zeros_like(raised[:, :1])
    for each in range(raised.shape[1]):
        total = total + raised[:, each : each + 1]
    return raised / total


@operator("vision.multibox_transform_loc", _infer)
def _decoded(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    scores, places, anchors = operands
    if whole(node, ITEM) == 0:
        factors = np.array(wholes(node, "variances", (1, 1, 1, 1)), places.dtype)
        moves = places.reshape(len(places), anchors.shape[1], 4) * factors
        left, top, right, bottom = np.moveaxis(anchors, -1, 0)
        xs = _ends(np.stack([moves[..., 0], moves[..., 2]]), left, right, freedom)
        ys = _ends(np.stack([moves[..., 1], moves[..., 3]]), top, bottom, freedom)
        corners = np.stack([ys[0], xs[0], ys[1], xs[1]], -1)
        return np.clip(corners, 0, 1) if flag(node, "clip", False) else corners
    if flag(node, "apply_softmax", True):
        scores = _softmax(scores)
    kept = np.where(scores >= number(node, "threshold", 0.0), scores, scores.dtype.type(0))
    if not flag(node, "keep_background", True):
        kept[:, :1] = 0
    return kept
