"""The reference's ``image.grid_sample``.

A place's coordinate is computed from the grid's by a few operations. Where the format holds all
that they give, in whatever order, the coordinate is certain; otherwise it may be off, and so may be
the shares of the elements around it. The nearest element is unconstrained where either of two may
be meant.
"""

from dataclasses import dataclass
from itertools import chain, product
from math import prod

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference import cubic
from relaxcheck.oracles.reference.attribute_values import flag, text
from relaxcheck.oracles.reference.bounds import computed, unconstrain
from relaxcheck.oracles.reference.estimate import (
    FORMATS,
    Errors,
    Estimate,
    Flags,
    ordinary,
    unknown,
)
from relaxcheck.oracles.reference.evaluation import operator, same_dtype

_ALPHA = -0.75
"""Of the cubic convolution, in TOPI, PyTorch and ONNX."""

_ROUNDINGS = 6
"""Roundings of a coordinate: sum, product, division, difference, and those of a reflection."""

_PADDINGS = ("zeros", "border", "reflection")


@dataclass(frozen=True, slots=True)
class _Axis:
    """An axis of ``size`` elements, and how coordinates outside are brought back."""

    size: int
    padding: str
    aligned: bool

    def brought(self, at: Array) -> Array:
        """The coordinates ``at`` inside, where the padding brings them there."""
        if self.padding == "zeros":
            return at
        if self.padding == "reflection":
            low = 0.0 if self.aligned else -0.5
            span = self.size - 1 if self.aligned else self.size
            if span == 0:
                return np.zeros_like(at)
            turned = np.mod(np.abs(at - low), 2 * span)
            at = np.minimum(turned, 2 * span - turned) + low
        return np.clip(at, 0, self.size - 1)


@dataclass(frozen=True, slots=True)
class _Places:
    """Coordinates along an axis, (batch, places), and how far each may be off."""

    axis: _Axis
    at: Array
    off: Errors


Taps = list[tuple[Array, Array, Errors, Flags]]
"""For each element that a place may meet: its number, its share, how far that may be off, whether
it is an element."""


@operator("image.grid_sample")
def _grid_sample(node: Node, operands: list[Estimate]) -> Estimate:
    data, grid = operands
    dtype, method = same_dtype(node, operands), text(node, "method", "bilinear")
    spatial, padding = data.value.ndim - 2, text(node, "padding_mode", "zeros")
    aligned = flag(node, "align_corners", False)
    if text(node, "layout", "NCHW") != {2: "NCHW", 3: "NCDHW"}.get(spatial):
        raise ValueError(f"{node.operator}: layout {text(node, 'layout', 'NCHW')}")
    if method not in ("bilinear", "nearest", "bicubic")[: 5 - spatial]:
        raise ValueError(f"{node.operator}: method {method} over {spatial} axes")
    if padding not in _PADDINGS:
        raise ValueError(f"{node.operator}: padding_mode {padding}")
    sizes, wanted = data.value.shape[2:], (data.value.shape[0], spatial)
    if grid.value.shape[:2] != wanted or grid.value.ndim != spatial + 2 or min(sizes) < 1:
        raise ValueError(
            f"{node.operator}: a grid of {grid.value.shape} for images of {data.value.shape}"
        )
    places = [
        _places(_Axis(size, padding, aligned), grid, spatial - 1 - at, method)
        for at, size in enumerate(sizes)
    ]
    flat = (grid.value.shape[0], data.value.shape[1], *grid.value.shape[2:])
    wild = unknown(grid).any(axis=1).reshape(flat[0], 1, *flat[2:])
    if method == "nearest":
        return _nearest(data, places, flat, wild)
    taps = [_linear(each) if method == "bilinear" else _cubic(each, dtype) for each in places]
    return _weighted(data, taps, flat, wild)


def _places(axis: _Axis, grid: Estimate, row: int, method: str) -> _Places:
    known = ordinary(grid)
    flat = known.value.shape[0], prod(known.value.shape[2:])
    x, error = (each[:, row].reshape(flat) for each in (known.value, known.error))
    unit = FORMATS[grid.dtype].unit
    at = (x + 1) * (axis.size - 1) / 2 if axis.aligned else ((x + 1) * axis.size - 1) / 2
    size = (np.abs(x).astype(np.float64) + 2) * (axis.size + 2)
    held = (error == 0) & (size * unit <= _quantum(x) / 2)
    # A cubic convolution brings back elements, not coordinates.
    before = at
    if method != "bicubic":
        at = axis.brought(at)
    off = np.where(held, 0.0, error * axis.size / 2 + _ROUNDINGS * unit * size)
    if method == "nearest" and not axis.aligned:
        # PyTorch rounds once it has reflected, ONNX before: halves go to different sides.
        turned = (at != before) & (np.abs(at % 1 - 0.5) <= off)
        off = np.where(turned, np.maximum(off, unit), off)
    return _Places(axis, at, off)


def _quantum(x: Array) -> Errors:
    """The largest power of two, 1 at most, that each number is a multiple of."""
    fraction, exponent = np.frexp(np.where(x == 0, 1, x).astype(np.float64))
    bits = np.abs(np.ldexp(fraction, 53)).astype(np.int64)
    lowest = np.ldexp((bits & -bits).astype(np.float64), exponent - 53)
    quantum: Errors = np.minimum(lowest, 1.0)
    return quantum


def _inside(axis: _Axis, number: Array) -> tuple[Array, Flags]:
    """The numbers of elements within the axis, and where they were so before."""
    inside = (number >= 0) & (number < axis.size)
    return np.clip(number, 0, axis.size - 1).astype(np.int64), inside


def _linear(places: _Places) -> Taps:
    """Two elements; and their neighbours, where the coordinate may be off."""
    low = np.floor(places.at)
    share = places.at - low
    taps: Taps = []
    for step in range(-1, 3):
        # What is brought back has no share, but may be multiplied by it.
        number, inside = _inside(places.axis, places.axis.brought(low + step))
        weight = {0: 1 - share, 1: share}.get(step, np.zeros_like(share))
        reached = inside & ((places.off > 0) | (step in (0, 1)))
        if step == -1 and places.axis.padding == "reflection":
            # Of a coordinate that was reflected, the neighbour without a share may be either.
            reached = reached | (share == 0)
        taps.append((number, np.where(inside, weight, 0), places.off, reached))
    return taps


def _cubic(places: _Places, dtype: str) -> Taps:
    """Four elements; and their neighbours, where the coordinate may be off."""
    low = np.floor(places.at)
    share, axis = places.at - low, places.axis
    own = cubic.ROUNDINGS * FORMATS[dtype].unit
    taps: Taps = []
    for step in range(-2, 4):
        number, inside = _inside(axis, axis.brought(low + step))
        near = step in range(-1, 3)
        weight = _convolution(np.abs(share - step)) if near else np.zeros_like(share)
        reached = inside & ((places.off > 0) | near)
        off = cubic.STEEPEST * places.off + own
        taps.append((number, np.where(inside, weight, 0), off, reached))
    return taps


def _convolution(distance: Array) -> Array:
    near, far = cubic.near(distance, _ALPHA), cubic.far(distance, _ALPHA)
    weights: Array = np.where(distance <= 1, near, far)
    return weights


def _picked(array: Array, numbers: list[Array]) -> Array:
    """The elements of ``array`` at ``numbers``, (batch, places) each: (batch, channels, places)."""
    batch = np.arange(array.shape[0])[:, None, None]
    channel = np.arange(array.shape[1])[None, :, None]
    elements: Array = array[(batch, channel, *(each[:, None] for each in numbers))]
    return elements


def _weighted(data: Estimate, taps: list[Taps], shape: tuple[int, ...], wild: Flags) -> Estimate:
    x, lost = ordinary(data), unknown(data)
    unit, count = FORMATS[data.dtype].unit, len(taps)
    flat = (*shape[:2], prod(shape[2:]))
    value, moved = np.zeros(flat, np.longdouble), np.zeros(flat)
    size, touched = np.zeros(flat), np.zeros(flat, np.bool_)
    # By axis and element of it the sums along the others, which may be computed first.
    lines = [[np.zeros(flat) for _ in along] for along in taps]
    for tapped in product(*map(enumerate, taps)):
        chosen = [tap for _, tap in tapped]
        numbers = [number for number, *_ in chosen]
        met = np.logical_and.reduce([reached for *_, reached in chosen])[:, None]
        weight = np.prod([share for _, share, *_ in chosen], axis=0)[:, None]
        weight = np.where(met, weight, 0)
        reach = np.where(met, _picked(x.reach, numbers), 0)
        value += weight * _picked(x.value, numbers)
        moved += np.abs(weight).astype(np.float64) * _picked(x.error, numbers)
        wide = np.prod([np.abs(share) + off for _, share, off, _ in chosen], axis=0)[:, None]
        moved += (wide - np.abs(weight)).astype(np.float64) * reach
        size += np.maximum(wide, unit).astype(np.float64) * reach
        for own, (line, _) in zip(range(count), tapped, strict=True):
            others = [np.abs(share) + off for _, share, off, _ in chosen[:own] + chosen[own + 1 :]]
            lines[own][line] += np.prod(others, axis=0)[:, None].astype(np.float64) * reach
        touched |= met & _picked(lost, numbers)
    # Shares of each axis and their products round, the product with the element, and the sum.
    terms = len(taps[0]) ** count
    moved = moved + terms * FORMATS[data.dtype].floor
    largest = FORMATS[data.dtype].largest
    over = ~(4 * size <= largest)
    for sums in chain.from_iterable(lines):
        over |= ~(sums * (1 + terms * unit) <= largest)
    own = (3 * count + terms) * size
    result = computed(data.dtype, value, moved, 1, slack=own, unconstrained=touched | over)
    return unconstrain(
        Estimate(result.value.reshape(shape), result.error.reshape(shape), data.dtype), wild
    )


def _nearest(
    data: Estimate, places: list[_Places], shape: tuple[int, ...], wild: Flags
) -> Estimate:
    flat = (shape[0], prod(shape[2:]))
    numbers: list[Array] = []
    inside: Flags = np.ones(flat, np.bool_)
    unsure: Flags = np.zeros(flat, np.bool_)
    for each in places:
        number, within = _inside(each.axis, np.rint(each.at))
        numbers.append(number)
        inside = inside & within
        unsure = unsure | (np.rint(each.at - each.off) != np.rint(each.at + each.off))

    def present(array: Array) -> Array:
        picked = np.where(inside[:, None], _picked(array, numbers), np.zeros((), array.dtype))
        return picked.reshape(shape)

    result = Estimate(present(data.value), present(data.error), data.dtype)
    return unconstrain(result, unsure.reshape(shape[0], 1, *shape[2:]) | wild)
