"""Regions of interest by PyTorch's tensor operations: torchvision, which has them, is not asked."""

import math
from typing import Any

import torch
from torch import Tensor

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.tensors import FLOATS, Held, operator


def _pair(value: Any) -> tuple[int, int]:
    both = (value,) if isinstance(value, int) else tuple(value)
    return both[0], both[-1]


def _wide(held: Held) -> Tensor:
    """16-bit tensors in float32."""
    return held.tensor if held.dtype in ("float32", "float64") else held.tensor.float()


def _centres(
    low: Tensor, high: Tensor, size: int, bins: int, ratio: int, aligned: bool
) -> tuple[Tensor, Tensor, Tensor, Tensor, int]:
    """For each sample along an axis: the element before, the next, its share, and 1 if inside."""
    length = high - low if aligned else (high - low).clamp(min=1)
    count = ratio if ratio > 0 else math.ceil(length.item() / bins)
    bin_size = length / bins
    starts = low + torch.arange(bins, dtype=low.dtype) * bin_size
    halves = torch.arange(count, dtype=low.dtype) + 0.5
    at = (starts[:, None] + halves * bin_size / count).flatten()
    inside = ((at >= -1) & (at <= size)).to(low.dtype)
    at = at.clamp(0, size - 1)
    before = at.floor().long()
    return before, (before + 1).clamp(max=size - 1), at - before, inside, count


@operator("vision.roi_align")
def _roi_align(node: Node, operands: list[Held]) -> Held:
    attributes: dict[str, Any] = dict(node.attributes)
    images, rois = map(_wide, operands)
    last = attributes.get("layout", "NCHW") == "NHWC"
    if last:
        images = images.movedim(-1, 1)
    bins, scale = _pair(attributes["pooled_size"]), attributes["spatial_scale"]
    ratio, aligned = attributes.get("sample_ratio", -1), attributes.get("aligned", False)
    results = [images.new_zeros((0, images.shape[1], *bins))]
    for row in rois:
        image, (left, top, right, bottom) = images[int(row[0])], row[1:] * scale
        up, down, below, tall, rows = _centres(top, bottom, image.shape[1], bins[0], ratio, aligned)
        west, east, across, wide, columns = _centres(
            left, right, image.shape[2], bins[1], ratio, aligned
        )
        upper = torch.lerp(image[:, up][:, :, west], image[:, up][:, :, east], across)
        lower = torch.lerp(image[:, down][:, :, west], image[:, down][:, :, east], across)
        samples = torch.lerp(upper, lower, below[:, None])
        # Outside, whatever the elements are.
        samples = samples.where((tall[:, None] * wide) > 0, 0)
        split = samples.unflatten(2, (bins[1], columns)).unflatten(1, (bins[0], rows))
        pooled = split.amax((2, 4)) if attributes.get("mode") == "max" else split.mean((2, 4))
        results.append(pooled[None])
    result = torch.cat(results).to(FLOATS[operands[0].dtype])
    return Held(result.movedim(1, -1) if last else result, operands[0].dtype)


def _bounds(low: Tensor, high: Tensor, size: int, bins: int) -> list[tuple[int, int]]:
    """The first and last row, exclusive, of each bin along an axis."""
    first, last = (math.copysign(math.floor(abs(each) + 0.5), each) for each in (low, high))
    length = torch.tensor(max(last - first + 1, 1), dtype=low.dtype) / bins
    places = torch.arange(bins + 1, dtype=low.dtype) * length
    begins, ends = places[:-1].floor() + first, places[1:].ceil() + first
    return [
        (int(begin), int(end))
        for begin, end in zip(begins.clamp(0, size), ends.clamp(0, size), strict=True)
    ]


@operator("vision.roi_pool")
def _roi_pool(node: Node, operands: list[Held]) -> Held:
    attributes: dict[str, Any] = dict(node.attributes)
    images, rois = operands[0].tensor, _wide(operands[1])
    bins, scale = _pair(attributes["pooled_size"]), attributes["spatial_scale"]
    result = images.new_zeros((len(rois), images.shape[1], *bins))
    for at, row in enumerate(rois):
        image, (left, top, right, bottom) = images[int(row[0])], row[1:] * scale
        rows = _bounds(top, bottom, image.shape[1], bins[0])
        columns = _bounds(left, right, image.shape[2], bins[1])
        for p, (first, last) in enumerate(rows):
            for q, (west, east) in enumerate(columns):
                window = image[:, first:last, west:east]
                if window.numel():
                    result[at, :, p, q] = window.amax((1, 2))
    return Held(result, operands[0].dtype)
