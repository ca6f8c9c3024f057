"""PyTorch's boxes that stay, for each class of its own."""

from typing import Any

import torch

from relaxcheck.generators.core.program import ITEM, Node
from relaxcheck.oracles.pytorch.operators.detection.rows import overlap
from relaxcheck.oracles.pytorch.tensors import Held, operator


@operator("vision.all_class_non_max_suppression")
def _suppressed(node: Node, operands: list[Held]) -> Held:
    attributes: dict[str, Any] = dict(node.attributes)
    boxes, scores, *limits = (each.tensor for each in operands)
    most, limit, least = (each.reshape(()).item() for each in limits)
    rows = torch.tensor(
        [
            (batch, each, box)
            for batch in range(scores.shape[0])
            for each in range(scores.shape[1])
            for box in _kept(boxes[batch].double(), scores[batch, each], most, limit, least)
        ],
        dtype=torch.int64,
    ).reshape(-1, 3)
    item = attributes[ITEM]
    if attributes.get("output_format", "onnx") == "onnx":
        return Held(rows if item == 0 else torch.tensor([len(rows)]), "int64")
    counts = torch.bincount(rows[:, 0], minlength=scores.shape[0])
    if item == 2:
        return Held(counts, "int64")
    batch, classes, count = scores.shape
    places = (
        torch.cat([torch.arange(each) for each in counts.tolist()]) if len(rows) else rows[:, 0]
    )
    if item == 0:
        result = torch.zeros((batch, classes * count, 2), dtype=torch.int64)
        result[rows[:, 0], places] = rows[:, 1:]
        return Held(result, "int64")
    listed = torch.zeros((batch, classes * count))
    listed[rows[:, 0], places] = scores[rows.unbind(1)].float()
    return Held(listed, "float32")


def _kept(
    boxes: torch.Tensor, scores: torch.Tensor, most: float, limit: float, least: float
) -> list[int]:
    """The boxes that stay, the best first."""
    left = scores > least
    kept: list[int] = []
    while left.any() and len(kept) < most:
        at = int(scores.masked_fill(~left, -torch.inf).argmax())
        kept.append(at)
        left[at] = False
        left &= ~(overlap(boxes[at], boxes) > limit)
    return kept
