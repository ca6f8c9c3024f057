"""Sampling of images, and boxes on them."""

from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from relaxcheck.generators.core.values import Array
from relaxcheck.oracles.onnx.reference.call import Call, integer, integers, operator, relax
from relaxcheck.oracles.onnx.reference.values import joined, moved, whole
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.averages import ONE
from relaxcheck.oracles.reference.bounds import unconstrain
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate

_HALF = 0.5
_LAYOUTS = {2: "NCHW", 3: "NCDHW"}
_METHODS = {"linear": "bilinear", "cubic": "bicubic"}


@operator("GridSample")
def _grid_sample(call: Call) -> Estimate:
    """Coordinates round in the dtype of the grid, or that of the data where this is narrower."""
    x, grid = call[0], call[1]
    method = call.attribute("mode")
    if x.dtype not in FORMATS and method != "nearest":
        raise ValueError(f"{method} of {x.dtype}")
    known = [each for each in (x.dtype, grid.dtype) if each in FORMATS]
    dtype = max(known, key=lambda name: FORMATS[name].unit)
    result = relax(
        "image.grid_sample",
        replace(x, value=x.value.astype(np.longdouble), dtype=dtype),
        moved(replace(grid, dtype=dtype), lambda each: np.moveaxis(each, -1, 1)),
        method=_METHODS.get(method, method),
        layout=_LAYOUTS.get(x.value.ndim - 2, ""),
        padding_mode=call.attribute("padding_mode"),
        align_corners=call.flag("align_corners"),
    )
    if x.dtype in FORMATS:
        return replace(result, dtype=x.dtype)
    unsure = result.error > 0
    return unconstrain(whole(np.where(unsure, 0, result.value), x.dtype), unsure)


@operator("RoiAlign")
def _roi_align(call: Call) -> Estimate:
    """Before opset 16 coordinates are not shifted by half a pixel."""
    x, rois, batch = call[0], call[1], call[2]
    numbered = Estimate(
        batch.value.astype(np.longdouble)[:, None], batch.error[:, None], rois.dtype
    )
    scale = call.attribute("spatial_scale")
    aligned = call.attribute("coordinate_transformation_mode") == "half_pixel"
    if aligned:
        # Relax's operator shifts nothing: it only lets boxes be less than a pixel wide.
        rois = replace(rois, value=rois.value - np.longdouble(0.5) / scale)
    boxes = joined([numbered, rois], lambda each: np.concatenate(each, 1))
    result = relax(
        "vision.roi_align",
        x,
        replace(boxes, dtype=x.dtype),
        pooled_size=(call.attribute("output_height"), call.attribute("output_width")),
        spatial_scale=scale,
        sample_ratio=call.attribute("sampling_ratio") or -1,
        aligned=aligned,
        layout="NCHW",
        mode="avg",
    )
    # The text takes the largest sample, ONNX's tests the largest share of an element in one.
    largest = call.attribute("mode") == "max"
    return unconstrain(result, np.full(result.value.shape, largest))


@operator("MaxRoiPool")
def _max_roi_pool(call: Call) -> Estimate:
    """ONNX does not say to which integer a coordinate between two rounds."""
    rois, scale = call[1], call.attribute("spatial_scale")
    result = relax(
        "vision.roi_pool",
        call[0],
        rois,
        pooled_size=tuple(call.attribute("pooled_shape")),
        spatial_scale=scale,
        layout="NCHW",
    )
    halves = (rois.value[:, 1:] * scale % 1 == _HALF).any(1)
    return unconstrain(result, np.broadcast_to(halves[:, None, None, None], result.value.shape))


@operator("Col2Im")
def _col2im(call: Call) -> Estimate:
    """The sum, for each element of the image, of the blocks' elements that lie upon it."""
    x, image, block = call[0], integers(call[1]), integers(call[2])
    rank = len(image)
    strides, dilations, pads = (
        tuple(call.attribute(name) or default)
        for name, default in (
            ("strides", (1,) * rank),
            ("dilations", (1,) * rank),
            ("pads", (0,) * (2 * rank)),
        )
    )
    places = [
        (size + pads[at] + pads[at + rank] - dilations[at] * (block[at] - 1) - 1) // strides[at] + 1
        for at, size in enumerate(image)
    ]
    batch = x.value.shape[0]
    channels = x.value.shape[1] // prod(block)
    target = np.zeros([n + pads[at] + pads[at + rank] for at, n in enumerate(image)], np.int64)

    def folded(array: Array) -> Array:
        blocks = array.reshape(batch, channels, *block, *places)
        wide = np.zeros((batch, channels, *target.shape), array.dtype)
        for tap in np.ndindex(*block):
            at: Any = tuple(
                slice(k * d, k * d + (n - 1) * s + 1, s)
                for k, d, n, s in zip(tap, dilations, places, strides, strict=True)
            )
            wide[(..., *at)] += blocks[(slice(None), slice(None), *tap)]
        inner: Any = tuple(slice(pads[at], pads[at] + n) for at, n in enumerate(image))
        return wide[(..., *inner)]

    if x.dtype not in FORMATS:
        return bounds.wrapped(folded(x.value), x.dtype)
    return bounds.sum_of_products(x, ONE, lambda a, b: folded(a * b), x.dtype)


@operator("NonMaxSuppression")
def _non_max_suppression(call: Call) -> Estimate:
    """Boxes in the order of their scores, but for those that overlap with a better one.

    Raises:
        ValueError: rounding decides which of two is better, or whether they overlap.
    """
    boxes, scores = call[0], call[1]
    if boxes.error.any() or scores.error.any():
        raise ValueError("of boxes that are not certain")
    most = call.optional(2)
    count = 0 if most is None else integer(most)
    overlap, least = (
        None if each is None else float(each.value.ravel()[0])
        for each in (call.optional(3), call.optional(4))
    )
    corners = _corners(boxes.value, bool(call.attribute("center_point_box")))
    rows = []
    for image, group in np.ndindex(*scores.value.shape[:2]):
        line = scores.value[image, group]
        for box in _kept(corners[image], line, count, overlap or 0.0, least):
            rows.append((image, group, box))
    value = np.array(rows, np.int64).reshape(-1, 3)
    return Estimate(value, np.zeros(value.shape), "int64")


def _corners(boxes: Array, centred: bool) -> Array:
    """Two opposite corners of each box, the lower first."""
    if centred:
        middle, half = boxes[..., :2], boxes[..., 2:] / 2
        return np.concatenate([middle - half, middle + half], -1)
    first, second = boxes[..., :2], boxes[..., 2:]
    return np.concatenate([np.minimum(first, second), np.maximum(first, second)], -1)


_NEAR = 1e-5
"""How near an overlap may be to the threshold, in float32, so that rounding decides."""


def _kept(
    boxes: Array,
    scores: Array,
    count: int,
    threshold: float,
    least: float | None,
) -> list[int]:
    if least is not None and (scores == least).any():
        raise ValueError("a score that is the threshold")
    order = [int(at) for at in np.argsort(-scores, kind="stable")]
    order = [at for at in order if least is None or scores[at] > least]
    values = [scores[at] for at in order]
    if len(set(values)) != len(values):
        raise ValueError("equal scores")
    kept: list[int] = []
    for at in order:
        if len(kept) >= count:
            break
        shares = [_overlap(boxes[at], boxes[other]) for other in kept]
        if any(0 < abs(share - threshold) <= _NEAR for share in shares):
            raise ValueError("an overlap that rounding decides")
        if all(share <= threshold for share in shares):
            kept.append(at)
    return kept


def _overlap(a: Array, b: Array) -> float:
    low, high = np.maximum(a[:2], b[:2]), np.minimum(a[2:], b[2:])
    common = np.prod(np.maximum(high - low, 0))
    whole = np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]) - common
    return float(common / whole) if whole > 0 else 0.0
