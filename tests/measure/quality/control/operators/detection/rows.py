"""Rows of a class, a score and a box, one after the other."""

from collections.abc import Sequence

import numpy as np

from relaxcheck.generators.core.program import ITEM, Node
from tests.measure.quality.control.operator import (
    FLOATS,
    Array,
    Type,
    flag,
    number,
    operator,
    refuse,
    whole,
)
from tests.measure.quality.control.summation import Freedom


def _places(node: Node, length: int) -> tuple[int, int]:
    """The places of score and class in a row of ``length``."""
    score, identity = whole(node, "score_index", 1), whole(node, "id_index", 0)
    if not 0 <= score < length:
        raise refuse(node, f"score_index {score} is no place in a row of {length}")
    if not -1 <= identity < length:
        raise refuse(node, f"id_index {identity} is no place in a row of {length}")
    return score, identity


def _rows(node: Node, data: Type) -> None:
    if data.rank != 3:
        raise refuse(node, f"data has rank {data.rank}, a dimension too many or too few")
    if data.dtype not in FLOATS:
        raise refuse(node, f"the dtype {data.dtype} is none of {', '.join(FLOATS)}")
    _places(node, data.shape[2])


def _infer_counts(node: Node, operands: Sequence[Type]) -> Type:
    (data,) = operands
    _rows(node, data)
    batch, boxes, _ = data.shape
    return (Type((batch,), "int32"), data, Type((batch, boxes), "int32"))[whole(node, ITEM)]


@operator("vision.get_valid_counts", _infer_counts)
def _valid_counts(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    (data,) = operands
    batch, boxes, length = data.shape
    score, identity = _places(node, length)
    counts = np.zeros(batch, np.int32)
    rows, places = np.full_like(data, -1), np.full((batch, boxes), -1, np.int32)
    for at in range(batch):
        for box in range(boxes):
            row = data[at, box]
            if row[score] > number(node, "score_threshold", 0) and (
                identity < 0 or row[identity] >= 0
            ):
                rows[at, counts[at]], places[at, counts[at]] = row, box
                counts[at] += 1
    return (counts, rows, places)[whole(node, ITEM)]


def _is_soft(node: Node) -> bool:
    return number(node, "soft_nms_sigma", 0.0) > 0


def _infer_suppressed(node: Node, operands: Sequence[Type]) -> Type:
    data, counts, places = operands
    _rows(node, data)
    batch, boxes, length = data.shape
    if counts.shape != (batch,) or places.shape != (batch, boxes):
        shapes = f"{data.shape}, {counts.shape} and {places.shape}"
        raise refuse(node, f"a batch of anchors: the shapes (size, rank) {shapes} do not fit")
    if (counts.dtype, places.dtype) != ("int32", "int32"):
        raise refuse(node, f"the dtype of valid_count or indices is {counts.dtype}, {places.dtype}")
    if not 0 <= whole(node, "coord_start", 2) <= length - 4:
        raise refuse(node, f"coord_start is no place of four in a row of {length}")
    if not flag(node, "return_indices", True):
        return data
    items = [Type((batch, boxes), "int32"), Type((batch, 1), "int32")]
    return ([data] * _is_soft(node) + items)[whole(node, ITEM)]


def quotient(a: Array, b: Array) -> Array:
    """Intersection over union of two boxes, in their dtype."""
    top, left = max(a[0], b[0]), max(a[1], b[1])
    bottom, right = min(a[2], b[2]), min(a[3], b[3])
    zero = a.dtype.type(0)
    common = max(zero, bottom - top) * max(zero, right - left)
    union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - common
    return common / union if union > 0 else zero


def _stay(node: Node, rows: Array, identity: int) -> list[tuple[int, int]]:
    """The rank and the place of each of ``rows`` that stays; their scores fall where it is soft."""
    score, corners = whole(node, "score_index", 1), whole(node, "coord_start", 2)
    sigma, limit = number(node, "soft_nms_sigma", 0.0), number(node, "iou_threshold", 0.5)
    least = number(node, "score_threshold", 0.0) if sigma > 0 else 0.0
    best, most = whole(node, "top_k", -1), whole(node, "max_output_size", -1)
    order = sorted(range(len(rows)), key=lambda at: -rows[at, score])
    left = order[:best] if best > 0 else list(order)
    left = [at for at in left if rows[at, score] > least]
    stay: list[tuple[int, int]] = []
    while left and (most < 1 or len(stay) < most):
        at = max(left, key=lambda each: rows[each, score])
        left.remove(at)
        stay.append((order.index(at), at))
        for other in list(left):
            if identity >= 0 and rows[at, identity] != rows[other, identity]:
                continue
            box, against = rows[at, corners : corners + 4], rows[other, corners : corners + 4]
            shared = quotient(box, against)
            if shared >= limit:
                left.remove(other)
            elif sigma > 0:
                scale = rows.dtype.type(-0.5 / sigma)
                rows[other, score] *= np.exp(scale * shared * shared)
                if rows[other, score] <= least:
                    left.remove(other)
    return stay


@operator("vision.non_max_suppression", _infer_suppressed)
def _suppressed(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    data, counts, indices = operands
    _, identity = _places(node, data.shape[2])
    result, places = np.full_like(data, -1), np.full_like(indices, -1)
    numbers = np.zeros((len(data), 1), np.int32)
    soft, listed = _is_soft(node), flag(node, "return_indices", True)
    for batch, count in enumerate(counts):
        rows = data[batch, :count].copy()
        stay = _stay(node, rows, -1 if flag(node, "force_suppress", False) else identity)
        numbers[batch] = len(stay)
        for number_, (rank, at) in enumerate(stay):
            on_top = soft or listed or flag(node, "invalid_to_bottom", False)
            result[batch, number_ if on_top else rank] = rows[at]
            places[batch, number_] = indices[batch, at]
    if not listed:
        return result
    return ([result] * soft + [places, numbers])[whole(node, ITEM)]
