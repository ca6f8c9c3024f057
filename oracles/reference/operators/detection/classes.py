"""The reference's boxes that stay, for each class of its own."""

from dataclasses import dataclass

import numpy as np

from relaxcheck.generators.core.program import ITEM, Node
from relaxcheck.oracles.answer import Array, Unsupported
from relaxcheck.oracles.reference.attribute_values import integer, text
from relaxcheck.oracles.reference.bounds import cast, unconstrain
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate
from relaxcheck.oracles.reference.evaluation import operator
from relaxcheck.oracles.reference.operators.detection.overlaps import is_exact, overlaps


@dataclass(frozen=True, slots=True)
class _Limits:
    """The most boxes of a class, the most overlap, and the least score."""

    most: int
    overlap: float
    score: float


@operator("vision.all_class_non_max_suppression")
def _suppressed(node: Node, operands: list[Estimate]) -> Estimate:
    """Raises ``Unsupported`` where rounding decides how many boxes there are."""
    boxes, scores, *limits = operands
    if boxes.value.ndim != 3 or scores.value.ndim != 3 or boxes.value.shape[2] != 4:
        raise ValueError("boxes of four corners, and a score for each class and box")
    batch, classes, count = scores.value.shape
    if boxes.value.shape[:2] != (batch, count):
        raise ValueError(f"scores of {count} boxes, and {boxes.value.shape[1]} boxes")
    if any(each.value.size != 1 for each in limits):
        raise ValueError("a limit is one number")
    if not is_exact(*operands):
        raise Unsupported("reference: boxes or scores that rounding has moved")
    most, overlap, score = (each.value.item() for each in limits)
    rules = _Limits(max(int(most), 0), float(overlap), float(score))
    kept = [
        [
            _kept(boxes.value[at], scores.value[at, each], rules, boxes.dtype)
            for each in range(classes)
        ]
        for at in range(batch)
    ]
    item = integer(node, ITEM)
    match text(node, "output_format", "onnx"):
        case "onnx":
            return _rows(kept) if item == 0 else _numbers(np.array([_total(kept)]))
        case "tensorflow":
            totals = np.array([_total([each]) for each in kept], np.int64)
            return _numbers(totals) if item == 2 else _padded(kept, scores, item)
        case form:
            raise ValueError(f"no output_format {form}")


def _kept(corners: Array, scores: Array, limits: _Limits, dtype: str) -> list[int]:
    shared, unsure = overlaps(corners, dtype).over(limits.overlap, dtype, strictly=True)
    if len(set(scores.tolist())) != len(scores):
        raise Unsupported("reference: two scores that are equal")
    off = np.abs(scores - limits.score) <= abs(limits.score) * FORMATS[dtype].unit
    if off.any():
        raise Unsupported("reference: a score that equals the threshold")
    kept: list[int] = []
    for at in np.argsort(-scores).tolist():
        if len(kept) == limits.most or scores[at] <= limits.score:
            break
        if any(unsure[better, at] for better in kept):
            raise Unsupported("reference: an overlap that equals the threshold")
        if not any(shared[better, at] for better in kept):
            kept.append(at)
    return kept


def _total(kept: list[list[list[int]]]) -> int:
    return sum(len(each) for batch in kept for each in batch)


def _numbers(value: Array) -> Estimate:
    return Estimate(value, np.zeros(value.shape), "int64")


def _rows(kept: list[list[list[int]]]) -> Estimate:
    rows = [
        (batch, each, box)
        for batch, classes in enumerate(kept)
        for each, boxes in enumerate(classes)
        for box in boxes
    ]
    return _numbers(np.array(rows, np.int64).reshape(-1, 3))


def _padded(kept: list[list[list[int]]], scores: Estimate, item: int) -> Estimate:
    """Rows, or their scores, for each batch; open after its own."""
    batch, classes, count = scores.value.shape
    rows = np.zeros((batch, classes * count, 2), np.int64)
    found = np.zeros((batch, classes * count), scores.value.dtype)
    after = np.ones(found.shape, bool)
    for at, of_batch in enumerate(kept):
        pairs = [(each, box) for each, boxes in enumerate(of_batch) for box in boxes]
        after[at, : len(pairs)] = False
        for rank, (each, box) in enumerate(pairs):
            rows[at, rank], found[at, rank] = (each, box), scores.value[at, each, box]
    if item == 0:
        return unconstrain(_numbers(rows), after[..., None])
    listed = cast(Estimate(found, np.zeros(found.shape), scores.dtype), "float32")
    return unconstrain(listed, after)
