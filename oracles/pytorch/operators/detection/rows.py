"""PyTorch's rows of a class, a score and a box: those that are valid, those that stay."""

from typing import Any

import torch
from torch import Tensor

from relaxcheck.generators.core.program import ITEM, Node
from relaxcheck.oracles.pytorch.tensors import Held, operator


@operator("vision.get_valid_counts")
def _valid_counts(node: Node, operands: list[Held]) -> Held:
    attributes: dict[str, Any] = dict(node.attributes)
    (data,) = operands
    rows = data.tensor
    valid = rows[..., attributes.get("score_index", 1)] > attributes.get("score_threshold", 0)
    identity = attributes.get("id_index", 0)
    if identity >= 0:
        valid = valid & (rows[..., identity] >= 0)
    order = torch.argsort(~valid, dim=1, stable=True)
    empty = ~torch.take_along_dim(valid, order, 1)
    if attributes[ITEM] == 0:
        return Held(valid.sum(1), "int32")
    if attributes[ITEM] == 2:
        return Held(order.masked_fill(empty, -1), "int32")
    moved = torch.take_along_dim(rows, order[..., None], 1)
    return Held(moved.masked_fill(empty[..., None], -1), data.dtype)


def overlap(box: Tensor, others: Tensor) -> Tensor:
    """The quotient of intersection and union of ``box``, (4,), and each of ``others``, (n, 4)."""
    ends = torch.sort(torch.stack([box.expand_as(others), others]).unflatten(-1, (2, 2)), 2).values
    low, high = ends.unbind(2)
    common = (high.amin(0) - low.amax(0)).clamp(min=0).prod(-1)
    areas = (high - low).prod(-1)
    return torch.nan_to_num(common / (areas.sum(0) - common))


def _kept(rows: Tensor, attributes: dict[str, Any]) -> tuple[Tensor, Tensor, Tensor]:
    """The places of the rows that stay, their ranks among all, and their scores."""
    score, corners = attributes.get("score_index", 1), attributes.get("coord_start", 2)
    identity = -1 if attributes.get("force_suppress") else attributes.get("id_index", 0)
    sigma, limit = attributes.get("soft_nms_sigma", 0.0), attributes.get("iou_threshold", 0.5)
    least = attributes.get("score_threshold", 0.0) if sigma else 0.0
    best, most = attributes.get("top_k", -1), attributes.get("max_output_size", -1)
    places = torch.argsort(rows[:, score], descending=True)[: best if best > 0 else None]
    scores, boxes = rows[places, score].clone(), rows[places, corners : corners + 4].double()
    left = scores > least
    chosen: list[int] = []
    while left.any() and len(chosen) != most:
        at = int(scores.masked_fill(~left, -torch.inf).argmax())
        chosen.append(at)
        left[at] = False
        shared = overlap(boxes[at], boxes)
        touched = left.clone()
        if identity >= 0:
            touched &= rows[places, identity] == rows[places[at], identity]
        left &= ~(touched & (shared >= limit))
        if sigma:
            falls = torch.exp(-(shared**2) / (2 * sigma)).to(scores.dtype)
            scores = torch.where(touched, scores * falls, scores)
            left &= scores > least
    ranks = torch.tensor(chosen, dtype=torch.int64)
    return places[ranks], ranks, scores[ranks]


@operator("vision.non_max_suppression")
def _suppressed(node: Node, operands: list[Held]) -> Held:
    attributes: dict[str, Any] = dict(node.attributes)
    data, counts, indices = operands
    sigma, score = attributes.get("soft_nms_sigma", 0.0), attributes.get("score_index", 1)
    of_rows = torch.full_like(data.tensor, -1)
    of_places = torch.full_like(indices.tensor, -1)
    numbers = torch.zeros((len(of_rows), 1), dtype=torch.int64)
    on_top = attributes.get("return_indices", True) or attributes.get("invalid_to_bottom") or sigma
    for batch, count in enumerate(counts.tensor.tolist()):
        rows = data.tensor[batch, :count]
        places, ranks, scores = _kept(rows, attributes)
        to = torch.arange(len(places)) if on_top else ranks
        of_rows[batch, to] = rows[places]
        of_rows[batch, to, score] = scores
        of_places[batch, : len(places)] = indices.tensor[batch, places]
        numbers[batch] = len(places)
    if not attributes.get("return_indices", True):
        return Held(of_rows, data.dtype)
    items = [Held(of_places, "int32"), Held(numbers, "int32")]
    result: Held = ([Held(of_rows, data.dtype)] * bool(sigma) + items)[attributes[ITEM]]
    return result
