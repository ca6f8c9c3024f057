"""The reference's ``vision.roi_align`` and ``vision.roi_pool``.

A box has corners that are scaled, and is divided into bins. Where these steps may round, a sample
of ``roi_align`` may lie a little elsewhere, and a bin of ``roi_pool`` may have one row more.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference.attribute_values import flag, integer, number, several, text
from relaxcheck.oracles.reference.bounds import computed, summing, unconstrain
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, Flags, ordinary, unknown
from relaxcheck.oracles.reference.evaluation import operator, same_dtype

_ROUNDINGS = 8
"""Roundings on the way from a corner to a sample: scale, length, bin, part, products and sums."""

_Ends = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class _Box:
    """A box in pixels: image, and for height and width the first and last coordinate."""

    image: int
    ends: tuple[_Ends, _Ends]


def _boxes(node: Node, data: Estimate, rois: Estimate) -> Iterator[_Box]:
    same_dtype(node, [data, rois])
    if data.value.ndim != 4 or rois.value.ndim != 2 or rois.value.shape[1] != 5:
        shapes = f"{data.value.shape} and {rois.value.shape}"
        raise ValueError(f"{node.operator}: shapes {shapes} for images and rows of five")
    if rois.error.any() or not np.isfinite(rois.value).all():
        raise ValueError(f"{node.operator}: boxes that are not certain")
    scale = Fraction(number(node, "spatial_scale"))
    for image, *corners in rois.value.tolist():
        if image != int(image) or not 0 <= image < data.value.shape[0]:
            raise ValueError(f"{node.operator}: image {image} of {data.value.shape[0]}")
        left, top, right, bottom = (Fraction(float(each)) * scale for each in corners)
        if left > right or top > bottom:
            raise ValueError(f"{node.operator}: a box's corners are out of order")
        yield _Box(int(image), ((top, bottom), (left, right)))


def _is_held(ends: _Ends, parts: int, unit: float) -> bool:
    """True if a format has all numbers about as large as ``ends`` that are so many parts of 1.

    Where ``parts`` times their denominators is no power of two, it has not.
    """
    whole = parts * max(each.denominator for each in ends)
    size = 2 * sum(map(abs, ends)) + 2
    return whole & (whole - 1) == 0 and float(size * whole) * unit <= 1


@dataclass(frozen=True, slots=True)
class _Line:
    """The samples along one axis: an array of (bins, samples of a bin, elements) each.

    ``weights`` are the elements' shares. ``near`` marks the elements that a sample may meet;
    ``off`` bounds, for each of them, how much its share may be off, but for rounding. ``jumps`` are
    the samples (bins, samples) of which it is not certain whether they are ``outside``.
    """

    weights: Array
    near: Array
    off: Array
    jumps: Flags
    outside: Flags


def _line(ends: _Ends, size: int, bins: int, ratio: int, unit: float, legacy: bool) -> _Line:
    first, last = ends
    length = max(last - first, Fraction(1)) if legacy else last - first
    count = ratio if ratio > 0 else ceil(length / bins)
    shape = (bins, count, size)
    weights, near, off = np.zeros(shape, np.longdouble), np.zeros(shape), np.zeros(shape)
    jumps, beyond = np.zeros(shape[:2], np.bool_), np.zeros(shape[:2], np.bool_)
    exact = _is_held(ends, 2 * bins * count, unit)
    margin = 0.0 if exact else _ROUNDINGS * unit * float(abs(first) + length)
    for at, part in np.ndindex(*shape[:2]):
        place = first + length / bins * (at + (part + Fraction(1, 2)) / count)
        jumps[at, part] = margin > 0 and min(abs(place + 1), abs(place - size)) <= margin
        beyond[at, part] = outside = place < -1 or place > size
        if outside and not jumps[at, part]:
            continue
        inside = min(max(place, Fraction(0)), Fraction(size - 1))
        low = floor(inside)
        high, share = min(low + 1, size - 1), inside - low
        reached = range(low - 1, low + 3) if margin else (low, high)
        for each in reached:
            near[at, part, min(max(each, 0), size - 1)] = 1
            off[at, part, min(max(each, 0), size - 1)] = margin
        if not outside:
            weights[at, part, low] += np.longdouble(1 - float(share))
            weights[at, part, high] += np.longdouble(float(share))
    return _Line(weights, near, off, jumps, beyond)


@operator("vision.roi_align")
def _roi_align(node: Node, operands: list[Estimate]) -> Estimate:
    layout = text(node, "layout", "NCHW")
    if layout not in ("NCHW", "NHWC"):
        raise ValueError(f"{node.operator}: layout {layout}")
    data, rois = operands
    if layout == "NHWC":
        data = _turned(data, (0, 3, 1, 2))
    bins, ratio = several(node, "pooled_size", 1, 2), integer(node, "sample_ratio", -1)
    legacy, mode = not flag(node, "aligned", False), text(node, "mode", "avg")
    if mode not in ("avg", "max"):
        raise ValueError(f"{node.operator}: mode {mode}")
    x, wild = ordinary(data), unknown(data).astype(np.float64)
    shape = (rois.value.shape[0], x.value.shape[1], *bins)
    value, error = np.zeros(shape, np.longdouble), np.zeros(shape)
    free = np.zeros(shape, np.bool_)
    for at, box in enumerate(_boxes(node, data, rois)):
        rows, columns = (
            _line(ends, size, count, ratio, FORMATS[data.dtype].unit, legacy)
            for ends, size, count in zip(box.ends, x.value.shape[2:], bins, strict=True)
        )
        image = replace(x, value=x.value[box.image], error=x.error[box.image])
        samples = _samples(image, rows, columns)
        touched = _spread(wild[box.image], rows.near, columns.near) > 0
        touched |= rows.jumps[:, :, None, None] | columns.jumps
        # An implementation may multiply any element by 0 for a sample outside.
        beyond = rows.outside[:, :, None, None] | columns.outside
        touched |= beyond & wild[box.image].any(axis=(1, 2))[:, None, None, None, None]
        free[at] = touched.any(axis=(2, 4))
        if mode == "avg":
            # What is added before it is divided may be beyond the range.
            free[at] |= ~(samples.reach.sum(axis=(2, 4)) * 1.01 <= FORMATS[x.dtype].largest)
        value[at], error[at] = _averaged(samples) if mode == "avg" else _largest(samples)
    result = computed(data.dtype, value, error, 1, unconstrained=free)
    return _turned(result, (0, 2, 3, 1)) if layout == "NHWC" else result


def _turned(estimate: Estimate, axes: tuple[int, ...]) -> Estimate:
    value, error = estimate.value.transpose(axes), estimate.error.transpose(axes)
    return replace(estimate, value=value, error=error)


def _spread(image: Array, rows: Array, columns: Array) -> Array:
    """The sums over ``image`` (channels, height, width) with the shares of its rows and columns.

    The result is of (channels, bins, samples of a bin, bins, samples of a bin).
    """
    result: Array = np.einsum("chw,pyh,qxw->cpyqx", image, rows, columns, optimize=True)
    return result


def _samples(image: Estimate, rows: _Line, columns: _Line) -> Estimate:
    """The interpolated samples, each with the error of an implementation."""
    unit, reach = FORMATS[image.dtype].unit, image.reach
    value = _spread(image.value, rows.weights, columns.weights)
    shares = rows.weights.astype(np.float64), columns.weights.astype(np.float64)
    # Shares, their products and four terms round; a coordinate that is off moves shares.
    error = 12 * unit * _spread(reach, rows.near, columns.near)
    error += _spread(reach, rows.off, shares[1]) + _spread(reach, shares[0], columns.off)
    error += _spread(reach, rows.off, columns.off) + _spread(image.error, *shares)
    return Estimate(value, error + 8 * FORMATS[image.dtype].floor, image.dtype)


def _averaged(samples: Estimate) -> tuple[Array, Array]:
    """Mean and error over the samples of each bin, which may be divided before they are added."""
    unit, count = FORMATS[samples.dtype].unit, samples.value.shape[2] * samples.value.shape[4]
    value = samples.value.mean(axis=(2, 4))
    size = samples.reach.mean(axis=(2, 4)) * (1 + 2 * unit)
    net = np.abs(value).astype(np.float64) + samples.error.mean(axis=(2, 4))
    # A sum that is divided at the end rounds as well as the mean of what is divided first.
    own = summing(count, unit, size, net) + 2 * unit * size
    return value, samples.error.mean(axis=(2, 4)) + own + count * FORMATS[samples.dtype].floor


def _largest(samples: Estimate) -> tuple[Array, Array]:
    value = samples.value.max(axis=(2, 4))
    high = (samples.value + samples.error).max(axis=(2, 4)) - value
    low = value - (samples.value - samples.error).max(axis=(2, 4))
    return value, np.maximum(high, low).astype(np.float64)


@operator("vision.roi_pool")
def _roi_pool(node: Node, operands: list[Estimate]) -> Estimate:
    data, rois = operands
    if text(node, "layout", "NCHW") != "NCHW":
        raise ValueError(f"{node.operator}: layout {text(node, 'layout')}")
    bins, unit = several(node, "pooled_size", 1, 2), FORMATS[data.dtype].unit
    x, wild = ordinary(data), unknown(data)
    shape = (rois.value.shape[0], x.value.shape[1], *bins)
    value, error, free = np.zeros(shape, np.longdouble), np.zeros(shape), np.zeros(shape, np.bool_)
    for at, box in enumerate(_boxes(node, data, rois)):
        rows, columns = (
            [_bin(ends, size, place, count) for place in range(count)]
            for ends, size, count in zip(box.ends, x.value.shape[2:], bins, strict=True)
        )
        # A corner that may be rounded to either pixel moves all bins.
        loose = any(_is_between(end, unit) for ends in box.ends for end in ends)
        for p, q in np.ndindex(*bins):
            window = (box.image, slice(None), rows[p].surely, columns[q].surely)
            wide = (box.image, slice(None), rows[p].maybe, columns[q].maybe)
            top, off = _top(x.value[window], x.error[window])
            # Where bins may have one row more, the largest element has to be the same.
            other, _ = _top(x.value[wide], x.error[wide])
            value[at, :, p, q], error[at, :, p, q] = top, off
            free[at, :, p, q] = loose | wild[wide].any(axis=(1, 2)) | (other != top)
    return unconstrain(Estimate(value, error, data.dtype), free)


@dataclass(frozen=True, slots=True)
class _Bin:
    """The elements of a bin along one axis: those that it has, and those that it may have."""

    surely: slice
    maybe: slice


def _bin(ends: _Ends, size: int, place: int, bins: int) -> _Bin:
    first, last = map(_rounded, ends)
    length = max(last - first + 1, 1)
    start, end = Fraction(place * length, bins), Fraction((place + 1) * length, bins)
    # Where the length of a bin is rounded, what is whole may come out a little less, or more.
    divided = Fraction(length, bins).denominator
    rounds = divided & (divided - 1) != 0
    before, after = (rounds and each.denominator == 1 and each > 0 for each in (start, end))

    def clipped(low: int, high: int) -> slice:
        return slice(*(min(max(first + each, 0), size) for each in (low, high)))

    return _Bin(clipped(floor(start), ceil(end)), clipped(floor(start) - before, ceil(end) + after))


def _is_between(end: Fraction, unit: float) -> bool:
    """True if a coordinate may be rounded to either of two pixels."""
    near = abs(abs(end) % 1 - Fraction(1, 2)) <= 4 * unit * float(abs(end) + 1)
    return near and not _is_held((end, end), 2, unit)


def _rounded(value: Fraction) -> int:
    """The nearest integer; halves go away from zero, as in C's ``round``."""
    size = floor(abs(value) + Fraction(1, 2))
    return size if value >= 0 else -size


def _top(value: Array, error: Array) -> tuple[Array, Array]:
    """The largest of each channel and its error; 0 where there is none."""
    if not value.shape[1] * value.shape[2]:
        return np.zeros(value.shape[0], np.longdouble), np.zeros(value.shape[0])
    top = value.max(axis=(1, 2))
    high = (value + error).max(axis=(1, 2)) - top
    low = top - (value - error).max(axis=(1, 2))
    return top, np.maximum(high, low).astype(np.float64)
