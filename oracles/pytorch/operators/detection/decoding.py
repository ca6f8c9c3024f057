"""PyTorch's boxes and scores of anchors."""

from typing import Any

import torch
from torch import Tensor

from relaxcheck.generators.core.program import ITEM, Node
from relaxcheck.oracles.pytorch.tensors import Held, operator


@operator("vision.multibox_transform_loc")
def _decoded(node: Node, operands: list[Held]) -> Held:
    attributes: dict[str, Any] = dict(node.attributes)
    scores, places, anchors = (each.tensor for each in operands)
    if attributes[ITEM] == 0:
        return Held(_boxes(places, anchors, attributes), operands[0].dtype)
    if attributes.get("apply_softmax", True):
        scores = scores.softmax(1)
    kept = scores.where(scores >= attributes.get("threshold", 0.0), 0)
    if not attributes.get("keep_background", True):
        kept = torch.cat([torch.zeros_like(kept[:, :1]), kept[:, 1:]], 1)
    return Held(kept, operands[0].dtype)


def _boxes(places: Tensor, anchors: Tensor, attributes: dict[str, Any]) -> Tensor:
    variances = torch.tensor(attributes.get("variances", (1, 1, 1, 1)), dtype=places.dtype)
    moves = places.reshape(len(places), anchors.shape[1], 4) * variances
    low, high = anchors.split(2, -1)
    center = moves[..., :2] * (high - low) + (low + high) / 2
    half = moves[..., 2:].exp() * (high - low) / 2
    # From (x, y) to (y, x).
    corners = torch.cat([(center - half).flip(-1), (center + half).flip(-1)], -1)
    return corners.clamp(0, 1) if attributes.get("clip", False) else corners
