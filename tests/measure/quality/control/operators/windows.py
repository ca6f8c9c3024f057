"""Sliding windows: convolution and pooling, one tap after the other."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.layouts import LayoutError, extents, laid_out, read, write
from tests.measure.quality.control.operator import (
    FLOATS,
    Array,
    Type,
    flag,
    one_dtype,
    operator,
    refuse,
    text,
    whole,
    wholes,
)
from tests.measure.quality.control.rounding import computed_in, constant
from tests.measure.quality.control.summation import Freedom, Term, reduced, summed

SPATIAL = {1: "W", 2: "HW", 3: "DHW"}


@dataclass(frozen=True, slots=True)
class Slide:
    """A window of ``taps`` elements that slides along one axis of ``size``."""

    size: int
    taps: int
    stride: int
    dilation: int
    before: int
    after: int

    @property
    def places(self) -> int:
        """The number of places of the window; 0 where it does not fit."""
        free = self.size + self.before + self.after - self.dilation * (self.taps - 1) - 1
        return free // self.stride + 1 if free >= 0 else 0

    def sources(self, tap: int) -> tuple[Array, Array]:
        """For each place the element under ``tap``, and whether it is one and not padding."""
        at = np.arange(self.places) * self.stride + tap * self.dilation - self.before
        inside = (at >= 0) & (at < self.size)
        return np.where(inside, at, 0), inside


def slides(node: Node, sizes: Sequence[int], taps: Sequence[int]) -> tuple[Slide, ...]:
    """The window of ``node`` along each of its axes.

    Raises:
        Refused: a list of another length, a number that is out of range, or no place to be in.
    """
    rank = len(sizes)

    def listed(name: str, default: int, least: int, *lengths: int) -> tuple[int, ...]:
        values = wholes(node, name, (default,))
        if len(values) not in lengths:
            raise refuse(node, f"{name} {list(values)} has {len(values)} numbers for {rank} axes")
        if min(values) < least:
            raise refuse(node, f"{name} {list(values)} has a number below {least}")
        return values

    strides, dilation = (listed(name, 1, 1, 1, rank) for name in ("strides", "dilation"))
    padding = listed("padding", 0, 0, 1, rank, 2 * rank)
    sides = padding * (2 * rank // len(padding))
    strides, dilation = (each * (rank // len(each)) for each in (strides, dilation))
    rows = zip(sizes, taps, strides, dilation, sides[:rank], sides[rank:], strict=True)
    result = tuple(Slide(*row) for row in rows)
    for axis, slide in enumerate(result):
        if slide.places < 1:
            raise refuse(
                node,
                f"padding {list(padding)}: a window of {slide.taps} (dilation {slide.dilation}) "
                f"does not fit dimension {axis} of size {slide.size}",
            )
    return result


def _last(index: Sequence[Any]) -> Any:
    return (..., *index)


def _under(x: Array, slides: Sequence[Slide], tap: Sequence[int]) -> tuple[Array, Array]:
    """The elements of ``x`` (its last axes slide) under ``tap``, and which are no padding."""
    reads = [slide.sources(at) for slide, at in zip(slides, tap, strict=True)]
    inside = np.ones((), np.bool_)
    for _, each in reads:
        inside = np.logical_and.outer(inside, each)
    return x[_last(np.ix_(*(source for source, _ in reads)))], inside


def _taps(slides: Sequence[Slide]) -> Iterator[tuple[int, ...]]:
    return product(*(range(slide.taps) for slide in slides))


@dataclass(frozen=True, slots=True)
class _Convolution:
    """A convolution with everything that its attributes leave out filled in."""

    data_layout: str
    kernel_layout: str
    out_layout: str
    out_dtype: str
    groups: int
    batch: int
    own: int
    wide: int
    slides: tuple[Slide, ...]

    @property
    def letters(self) -> str:
        return "NC" + SPATIAL[len(self.slides)]

    @property
    def shape(self) -> tuple[int, ...]:
        sizes = (self.batch, self.wide, *(slide.places for slide in self.slides))
        return laid_out(self.out_layout, self.letters, sizes)


def _convolution(node: Node, operands: Sequence[Type]) -> _Convolution:
    data, kernel = operands
    rank = next(rank for rank in SPATIAL if f"conv{rank}d" in node.operator)
    data_letters, kernel_letters = "NC" + SPATIAL[rank], "OI" + SPATIAL[rank]
    data_layout = text(node, "data_layout", data_letters)
    kernel_layout = text(node, "kernel_layout", kernel_letters)
    groups, dtype = whole(node, "groups", 1), one_dtype(node, operands)
    try:
        batch, channels, *sizes = extents(data_layout, data_letters, data.shape)
        wide, own, *taps = extents(kernel_layout, kernel_letters, kernel.shape)
        if groups < 1 or channels != own * groups:
            raise refuse(
                node,
                f"groups {groups}: the data has {channels} channels, the weight takes {own}",
            )
        if wide % groups:
            raise refuse(node, f"groups {groups} does not divide {wide} output channels")
        call = _Convolution(
            data_layout,
            kernel_layout,
            text(node, "out_layout", data_layout),
            text(node, "out_dtype", dtype),
            groups,
            batch,
            own,
            wide,
            slides(node, sizes, taps),
        )
        assert call.shape
    except LayoutError as error:
        raise refuse(node, str(error)) from error
    return call


def _infer_convolution(node: Node, operands: Sequence[Type]) -> Type:
    call = _convolution(node, operands)
    return Type(call.shape, call.out_dtype)


def _convolved(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    """Drawn are the order of summation, and whether padding is left out or multiplied as zeros."""
    call = _convolution(node, [Type(each.shape, each.dtype.name) for each in operands])
    data, kernel = operands
    rank, groups = len(call.slides), call.groups
    x = read(data, call.data_layout, call.letters)
    w = read(kernel, call.kernel_layout, "OI" + SPATIAL[rank])
    x = x.reshape(call.batch, groups, 1, call.own, *x.shape[2:])
    w = w.reshape(1, groups, call.wide // groups, call.own, *w.shape[2:])
    padded = freedom.choice(("left out", "zeros")) == "zeros"
    terms = []
    for tap in _taps(call.slides):
        if not x.size:
            break
        elements, inside = _under(x, call.slides, tap)
        if padded:
            elements, present = np.where(inside, elements, np.zeros((), x.dtype)), None
        else:
            present = None if inside.all() else inside
        weight = w[_last(tap)].reshape(*w.shape[:4], *[1] * rank)
        terms += [
            Term(elements[:, :, :, at], weight[:, :, :, at], present) for at in range(call.own)
        ]
    places = tuple(slide.places for slide in call.slides)
    shape = (call.batch, groups, call.wide // groups, *places)
    result = summed(terms, shape, data.dtype, freedom).reshape(call.batch, call.wide, *places)
    return write(result, call.out_layout, call.letters)


for _rank in SPATIAL:
    operator(f"nn.conv{_rank}d", _infer_convolution, narrows=True, accumulates=True)(_convolved)


def pooled(node: Node, x: Type, rank: int) -> tuple[str, tuple[Slide, ...]]:
    """The layout of a pooling, and its windows."""
    letters = "NC" + SPATIAL[rank]
    layout = text(node, "layout", letters)
    if flag(node, "ceil_mode", False) or text(node, "out_layout", layout) != layout:
        raise NotImplementedError(f"{node.operator} with ceil_mode or out_layout")
    sizes = wholes(node, "pool_size", (1,))
    if len(sizes) not in (1, rank) or min(sizes) < 1:
        raise refuse(node, f"pool_size {list(sizes)} for {rank} axes")
    sizes = sizes * (rank // len(sizes))
    try:
        _, _, *spatial = extents(layout, letters, x.shape)
    except LayoutError as error:
        raise refuse(node, str(error)) from error
    along = slides(node, spatial, sizes)
    for slide in along:
        if max(slide.before, slide.after) > slide.taps // 2:
            sides = slide.before, slide.after
            raise refuse(node, f"padding {sides} is more than half of pool_size {slide.taps}")
    return layout, along


def _infer_pool(rank: int) -> Callable[[Node, Sequence[Type]], Type]:
    def infer(node: Node, operands: Sequence[Type]) -> Type:
        (x,) = operands
        letters = "NC" + SPATIAL[rank]
        layout, along = pooled(node, x, rank)
        batch, channels, *_ = extents(layout, letters, x.shape)
        sizes = (batch, channels, *(slide.places for slide in along))
        return Type(laid_out(layout, letters, sizes), x.dtype)

    return infer


def _windows(x: Array, slides: Sequence[Slide]) -> tuple[Array, Array]:
    """The elements of each window in front, and which of them are no padding."""
    pairs = [_under(x, slides, tap) for tap in _taps(slides)]
    return np.stack([each for each, _ in pairs]), np.stack([inside for _, inside in pairs])


def _declare_max(rank: int) -> None:
    @operator(f"nn.max_pool{rank}d", _infer_pool(rank))
    def compute(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
        (x,), letters = operands, "NC" + SPATIAL[rank]
        layout, along = pooled(node, Type(x.shape, x.dtype.name), rank)
        elements, inside = _windows(read(x, layout, letters), along)
        shown = inside.reshape(len(inside), 1, 1, *inside.shape[1:])
        maximum = np.maximum if freedom.choice(("maximum", "number")) == "maximum" else np.fmax
        least = _least(x.dtype, freedom)
        tops = np.where(shown, elements, least)
        result = tops[0]
        for each in tops[1:]:
            result = maximum(result, each)
        return write(result, layout, letters)


def _least(dtype: Any, freedom: Freedom) -> Array:
    """The value of padding: minus infinity, or the lowest finite number."""
    if dtype.kind in "iu":
        return np.array(np.iinfo(dtype).min, dtype)
    infinite = np.array(-np.inf).astype(dtype)
    lowest = -np.nextafter(-infinite, np.zeros((), dtype))
    return infinite if freedom.choice(("infinite", "lowest")) == "infinite" else lowest


def _declare_average(rank: int, counted: bool) -> None:
    @operator(f"nn.avg_pool{rank}d", _infer_pool(rank))
    def compute(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
        letters = "NC" + SPATIAL[rank]
        layout, along = pooled(node, Type(operands[0].shape, operands[0].dtype.name), rank)
        everything = flag(node, "count_include_pad", counted)

        def averages(x: Array) -> Array:
            elements, inside = _windows(read(x, layout, letters), along)
            shown = inside.reshape(len(inside), 1, 1, *inside.shape[1:])
            kept = np.where(shown, elements, np.zeros((), x.dtype))
            counts = np.full(inside.shape[1:], len(inside)) if everything else inside.sum(axis=0)
            return write(divided(reduced(kept, freedom), counts, freedom), layout, letters)

        return computed_in(operands[0].dtype, freedom, operands[0], compute=averages)


def divided(sums: Array, counts: Array, freedom: Freedom) -> Array:
    """``sums`` by whole numbers, by division or as a product with the inverse."""
    divisors = counts.astype(sums.dtype)
    if freedom.choice(("quotient", "product")) == "quotient":
        return sums / divisors
    return sums * (constant(1, sums) / divisors)


for _rank in SPATIAL:
    _declare_max(_rank)
    _declare_average(_rank, counted=_rank != 2)


def _adaptive(node: Node, x: Type, rank: int) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
    """Layout, spatial sizes and output sizes of an adaptive pooling."""
    letters = "NC" + SPATIAL[rank]
    layout = text(node, "layout", letters)
    one_dtype(node, [x], FLOATS)
    if text(node, "out_layout", layout) != layout:
        raise NotImplementedError(f"{node.operator} with out_layout")
    try:
        _, _, *spatial = extents(layout, letters, x.shape)
    except LayoutError as error:
        raise refuse(node, str(error)) from error
    if min(spatial) < 1:
        raise refuse(node, f"nothing to average in dimensions {spatial}")
    sizes = wholes(node, "output_size", tuple(spatial))
    if len(sizes) not in (1, rank) or min(sizes) < 1:
        raise refuse(node, f"output_size {list(sizes)} for {rank} axes")
    return layout, tuple(spatial), sizes * (rank // len(sizes))


def _infer_adaptive(rank: int) -> Callable[[Node, Sequence[Type]], Type]:
    def infer(node: Node, operands: Sequence[Type]) -> Type:
        (x,) = operands
        letters = "NC" + SPATIAL[rank]
        layout, _, sizes = _adaptive(node, x, rank)
        batch, channels, *_ = extents(layout, letters, x.shape)
        return Type(laid_out(layout, letters, (batch, channels, *sizes)), x.dtype)

    return infer


def _declare_adaptive(rank: int) -> None:
    @operator(f"nn.adaptive_avg_pool{rank}d", _infer_adaptive(rank))
    def compute(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
        """Place i of n averages from ``floor(i * size / n)`` to ``ceil((i + 1) * size / n)``."""
        letters, x_type = (
            "NC" + SPATIAL[rank],
            Type(operands[0].shape, operands[0].dtype.name),
        )
        layout, spatial, sizes = _adaptive(node, x_type, rank)

        def averages(x: Array) -> Array:
            canonical = read(x, layout, letters)
            result = np.zeros((*canonical.shape[:2], *sizes), x.dtype)
            for place in np.ndindex(*sizes):
                ends = [
                    slice(at * size // count, -(-(at + 1) * size // count))
                    for at, size, count in zip(place, spatial, sizes, strict=True)
                ]
                window = canonical[_last(ends)]
                count = prod(window.shape[2:])
                values = np.moveaxis(window.reshape(*window.shape[:2], count), -1, 0)
                mean = divided(reduced(values, freedom), np.array(count), freedom)
                result[_last(place)] = mean
            return write(result, layout, letters)

        return computed_in(operands[0].dtype, freedom, operands[0], compute=averages)


for _rank in SPATIAL:
    _declare_adaptive(_rank)
