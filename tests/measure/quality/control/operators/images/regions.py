"""Regions of interest: one box after the other, each step in the dtype or in a wider one."""

from collections.abc import Iterator, Sequence

import numpy as np

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import (
    FLOATS,
    Array,
    Type,
    flag,
    number,
    one_dtype,
    operator,
    refuse,
    text,
    whole,
    wholes,
)
from tests.measure.quality.control.summation import WIDER, Freedom, reduced


def _bins(node: Node) -> tuple[int, int]:
    size = wholes(node, "pooled_size")
    if len(size) not in (1, 2) or min(size) < 1:
        raise refuse(node, f"pooled_size {list(size)}")
    return size[0], size[-1]


def _infer(node: Node, operands: Sequence[Type]) -> Type:
    data, rois = operands
    dtype, layout = one_dtype(node, operands, FLOATS), text(node, "layout", "NCHW")
    if data.rank != 4:
        raise refuse(node, f"the data has rank {data.rank}, not 4")
    if rois.rank != 2 or rois.shape[1] != 5:
        raise refuse(node, f"shape {rois.shape} of rois, which have rows of five")
    if layout == "NCHW":
        return Type((rois.shape[0], data.shape[1], *_bins(node)), dtype)
    if layout == "NHWC" and node.operator == "vision.roi_align":
        return Type((rois.shape[0], *_bins(node), data.shape[3]), dtype)
    raise refuse(node, f"layout {layout!r}")


def _infer_align(node: Node, operands: Sequence[Type]) -> Type:
    if text(node, "mode", "avg") not in ("avg", "max"):
        raise refuse(node, f"mode {text(node, 'mode', 'avg')!r}")
    return _infer(node, operands)


def _boxes(node: Node, data: Array, rois: Array, kind: type) -> Iterator[tuple[Array, Array]]:
    """For each box its image and its corners, scaled. Raises ``Refused``."""
    for row in rois:
        image, (left, top, right, bottom) = int(row[0]), row[1:]
        if image != row[0] or not 0 <= image < len(data):
            raise refuse(node, f"there is no image {row[0]}")
        if left > right or top > bottom:
            raise refuse(node, f"the corners {row[1:].tolist()} are out of order")
        yield data[image], row[1:].astype(kind) * kind(number(node, "spatial_scale"))


@operator("vision.roi_align", _infer_align)
def _roi_align(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    data, rois = operands
    bins, last = _bins(node), text(node, "layout", "NCHW") == "NHWC"
    if last:
        data = np.moveaxis(data, -1, 1)
    own = data.dtype.type
    kind = WIDER[data.dtype.name] if freedom.choice(("own", "wide")) == "wide" else own
    result = np.zeros((len(rois), data.shape[1], *bins), data.dtype)
    aligned, ratio = flag(node, "aligned", False), whole(node, "sample_ratio", -1)
    for at, (image, corners) in enumerate(_boxes(node, data, rois, kind)):
        left, top, right, bottom = corners
        rows = _places(top, bottom, bins[0], ratio, aligned, kind)
        columns = _places(left, right, bins[1], ratio, aligned, kind)
        for p, q in np.ndindex(*bins):
            samples = np.stack(
                [_sample(image.astype(kind), y, x) for y in rows[p] for x in columns[q]]
            )
            if text(node, "mode", "avg") == "max":
                pooled = samples.max(axis=0)
            elif freedom.choice(("first", "last")) == "first":
                pooled = reduced(samples / kind(len(samples)), freedom)
            else:
                pooled = reduced(samples, freedom) / kind(len(samples))
            result[at, :, p, q] = pooled.astype(own)
    return np.moveaxis(result, 1, -1) if last else result


def _places(
    low: Array, high: Array, bins: int, ratio: int, aligned: bool, kind: type
) -> list[list[Array]]:
    """The coordinates of the samples of each bin."""
    length = high - low if aligned else np.maximum(high - low, kind(1))
    width = length / kind(bins)
    count = ratio if ratio > 0 else int(np.ceil(width))
    return [
        [
            low + kind(at) * width + (kind(part) + kind(0.5)) * width / kind(count)
            for part in range(count)
        ]
        for at in range(bins)
    ]


def _sample(image: Array, y: Array, x: Array) -> Array:
    """The element of each channel at row y and column x."""
    kind = image.dtype.type
    height, width = image.shape[1:]
    if y < -1 or x < -1 or y > height or x > width:
        return np.zeros(len(image), kind)
    (top, bottom, down), (left, right, along) = (
        _around(place, size, kind) for place, size in ((y, height), (x, width))
    )
    one = kind(1)
    upper = image[:, top, left] * (one - along) + image[:, top, right] * along
    lower = image[:, bottom, left] * (one - along) + image[:, bottom, right] * along
    result: Array = upper * (one - down) + lower * down
    return result


def _around(place: Array, size: int, kind: type) -> tuple[int, int, Array]:
    """The elements before and after a coordinate, and the share of the second."""
    inside = min(max(place, kind(0)), kind(size - 1))
    low = int(np.floor(inside))
    return low, min(low + 1, size - 1), kind(inside - kind(low))


@operator("vision.roi_pool", _infer)
def _roi_pool(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    data, rois = operands
    bins, kind = _bins(node), data.dtype.type
    if freedom.choice(("own", "wide")) == "wide":
        kind = WIDER[data.dtype.name]
    result = np.zeros((len(rois), data.shape[1], *bins), data.dtype)
    for at, (image, corners) in enumerate(_boxes(node, data, rois, kind)):
        # Halves go away from zero.
        pixels = [int(np.copysign(np.floor(abs(each) + kind(0.5)), each)) for each in corners]
        left, top, right, bottom = pixels
        rows = _ranges(top, bottom, image.shape[1], bins[0], kind)
        columns = _ranges(left, right, image.shape[2], bins[1], kind)
        for p, q in np.ndindex(*bins):
            window = image[:, rows[p], columns[q]].reshape(len(image), -1)
            if window.shape[1]:
                result[at, :, p, q] = window.max(axis=1)
    return result


def _ranges(first: int, last: int, size: int, bins: int, kind: type) -> list[slice]:
    """The elements of each bin along an axis."""
    width = kind(max(last - first + 1, 1)) / kind(bins)
    ends = [
        (int(np.floor(kind(at) * width)) + first, int(np.ceil(kind(at + 1) * width)) + first)
        for at in range(bins)
    ]
    return [slice(min(max(low, 0), size), min(max(high, 0), size)) for low, high in ends]
