"""The reference's convolutions and poolings over one to three spatial axes.

Poolings have Relax's default layouts: data (N, C, spatial). Convolutions are computed in the
canonical ones, with kernels (O, I / groups, spatial). The output has
``(in + pads - dilation * (kernel - 1) - 1) // stride + 1`` elements along each axis.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.limitations import attribute, not_default
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.attribute_values import flag, integer, integers, several, text
from relaxcheck.oracles.reference.averages import ONE, shared
from relaxcheck.oracles.reference.bounds import unconstrain
from relaxcheck.oracles.reference.estimate import Estimate, ordinary, unknown
from relaxcheck.oracles.reference.evaluation import (
    Numerics,
    limit,
    operator,
    operator_with_numerics,
    same_dtype,
)
from relaxcheck.oracles.reference.layouts import from_canonical, to_canonical
from relaxcheck.oracles.reference.mixed_precision import always_narrowed, stored

_SPATIAL = {1: "W", 2: "HW", 3: "DHW"}


@dataclass(frozen=True, slots=True)
class Window:
    """A window that slides over spatial axes; every list has an entry for each."""

    size: tuple[int, ...]
    strides: tuple[int, ...]
    dilation: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]

    def places(self, spatial: Sequence[int]) -> tuple[int, ...]:
        """The number of places along each axis of sizes ``spatial``.

        Raises:
            ValueError: there is none along some axis.
        """
        counts = tuple(
            (n + b + a - d * (k - 1) - 1) // s + 1
            for n, k, s, d, b, a in zip(
                spatial, self.size, self.strides, self.dilation, self.before, self.after,
                strict=True,
            )
        )  # fmt: skip
        if min(counts) < 1:
            raise ValueError(f"a window of {self.size} has no place in {tuple(spatial)}")
        return counts

    def taps(self, data: Array, fill: float = 0) -> Iterator[tuple[tuple[int, ...], Array]]:
        """Each tap with the elements of ``data`` (leading axes, spatial) that it meets."""
        rank = len(self.size)
        places = self.places(data.shape[-rank:])
        pads = [(0, 0)] * (data.ndim - rank) + list(zip(self.before, self.after, strict=True))
        wide = np.pad(data, pads, constant_values=fill)
        for tap in product(*map(range, self.size)):
            at: Any = tuple(
                slice(k * d, k * d + (n - 1) * s + 1, s)
                for k, d, n, s in zip(tap, self.dilation, places, self.strides, strict=True)
            )
            yield tap, wide[(..., *at)]


def window_of(node: Node, rank: int, size: tuple[int, ...]) -> Window:
    """The window of ``size`` over ``rank`` axes. Raises ``ValueError`` for invalid attributes."""
    padding = integers(node, "padding", 0)
    if len(padding) == 1:
        padding = padding * (2 * rank)
    elif len(padding) == rank:
        padding = padding * 2
    if len(padding) != 2 * rank or min(padding) < 0:
        raise ValueError(f"{node.operator}: padding {padding} over {rank} axes")
    strides, dilation = (several(node, name, 1, rank) for name in ("strides", "dilation"))
    if min(*strides, *dilation) < 1:
        raise ValueError(f"{node.operator}: strides and dilation must be positive")
    return Window(size, strides, dilation, padding[:rank], padding[rank:])


for _rank, _spatial in _SPATIAL.items():
    _data = "NC" + _spatial
    for _pool in ("max_pool", "avg_pool", "adaptive_avg_pool"):
        _name = f"nn.{_pool}{_rank}d"
        limit(_name, not_default("layout", _data), f"layout is not {_data}")
        limit(_name, not_default("out_layout", _data), f"out_layout is not {_data}")
        if _pool != "adaptive_avg_pool":
            limit(_name, attribute("ceil_mode", True), "frameworks differ in ceil_mode")


@operator_with_numerics("nn.conv1d")
def _conv1d(node: Node, operands: list[Estimate], numerics: Numerics) -> Estimate:
    return _convolution(1, node, operands, numerics)


@operator_with_numerics("nn.conv2d")
def _conv2d(node: Node, operands: list[Estimate], numerics: Numerics) -> Estimate:
    return _convolution(2, node, operands, numerics)


@operator_with_numerics("nn.conv3d")
def _conv3d(node: Node, operands: list[Estimate], numerics: Numerics) -> Estimate:
    return _convolution(3, node, operands, numerics)


def _convolution(rank: int, node: Node, operands: list[Estimate], numerics: Numerics) -> Estimate:
    groups, canonical = integer(node, "groups", 1), "NC" + _SPATIAL[rank]
    own = same_dtype(node, operands)
    dtype = text(node, "out_dtype", own)
    data, kernel = (bounds.cast(each, dtype) for each in always_narrowed(operands, numerics))
    layout = text(node, "data_layout", canonical)
    of_kernel = text(node, "kernel_layout", "OI" + _SPATIAL[rank])
    data = _with_layout(data, lambda x: to_canonical(x, layout, canonical))
    kernel = _with_layout(kernel, lambda x: to_canonical(x, of_kernel, "OI" + _SPATIAL[rank]))
    channels, inner = data.value.shape[1], kernel.value.shape[1]
    if groups < 1 or channels != inner * groups or kernel.value.shape[0] % groups:
        raise ValueError(f"{channels} channels, a kernel of {kernel.value.shape}, groups {groups}")
    window = window_of(node, rank, kernel.value.shape[2:])

    def correlated(x: Array, w: Array) -> Array:
        return _correlated(window, groups, x, w)

    def padded(x: Array, w: Array) -> Array:
        """Taps that may meet the zeros around the data."""
        taps: Array = w.sum(axis=tuple(range(1, w.ndim))).reshape(-1, *[1] * rank)
        return taps * (max(*window.before, *window.after) > 0)

    result = bounds.sum_of_products(data, kernel, correlated, dtype, stuffing=padded)
    wanted = text(node, "out_layout", layout)
    result = _with_layout(result, lambda x: from_canonical(x, wanted, canonical))
    return stored(result, numerics)


def _with_layout(estimate: Estimate, change: Callable[[Array], Array]) -> Estimate:
    return replace(estimate, value=change(estimate.value), error=change(estimate.error))


def _correlated(window: Window, groups: int, data: Array, kernel: Array) -> Array:
    """Output (N, O, spatial) of data (N, C, spatial) and a kernel (O, C / groups, spatial)."""
    batch, _, *spatial = data.shape
    wide, inner = kernel.shape[:2]
    places = window.places(spatial)
    count = int(np.prod(places))
    summed = np.zeros((batch, groups, wide // groups, count), np.result_type(data, kernel))
    apart = data.reshape(batch, groups, inner, *spatial)
    for tap, elements in window.taps(apart):
        weight = np.moveaxis(kernel, (0, 1), (-2, -1))[tap].reshape(groups, wide // groups, inner)
        summed += np.matmul(weight, elements.reshape(batch, groups, inner, count))
    return summed.reshape(batch, wide, *places)


@operator("nn.max_pool1d")
def _max_pool1d(node: Node, operands: list[Estimate]) -> Estimate:
    return _max_pool(1, node, operands[0])


@operator("nn.max_pool2d")
def _max_pool2d(node: Node, operands: list[Estimate]) -> Estimate:
    return _max_pool(2, node, operands[0])


@operator("nn.max_pool3d")
def _max_pool3d(node: Node, operands: list[Estimate]) -> Estimate:
    return _max_pool(3, node, operands[0])


def pool_window(rank: int, node: Node) -> Window:
    """The window of a pooling. Raises ``ValueError`` for padding of more than half of it."""
    window = window_of(node, rank, several(node, "pool_size", 1, rank))
    for before, after, size in zip(window.before, window.after, window.size, strict=True):
        if max(before, after) > size // 2:
            raise ValueError(f"{node.operator}: padding {before, after} on windows of {size}")
    return window


def _max_pool(rank: int, node: Node, data: Estimate) -> Estimate:
    """Padding is below every element; a window of padding alone is unconstrained."""
    window = pool_window(rank, node)
    x = ordinary(data)
    if x.value.dtype.kind == "i":
        least: float = -(2**62)
    else:
        least = -np.inf
    tops = [
        np.maximum.reduce([elements for _, elements in window.taps(array, least)])
        for array in (x.value, x.value + x.error, x.value - x.error)
    ]
    wild = np.logical_or.reduce([elements for _, elements in window.taps(unknown(data) * 1.0)])
    inside = np.add.reduce([elements for _, elements in window.taps(np.ones(data.value.shape))])
    unconstrained = wild | (inside == 0)
    tops = [np.where(unconstrained, 0, top) for top in tops]
    off = np.maximum(tops[1] - tops[0], tops[0] - tops[2]).astype(np.float64)
    return unconstrain(Estimate(tops[0], off, data.dtype), unconstrained)


@operator("nn.avg_pool1d")
def _avg_pool1d(node: Node, operands: list[Estimate]) -> Estimate:
    return _avg_pool(1, node, operands[0], flag(node, "count_include_pad", True))


@operator("nn.avg_pool2d")
def _avg_pool2d(node: Node, operands: list[Estimate]) -> Estimate:
    return _avg_pool(2, node, operands[0], flag(node, "count_include_pad", False))


@operator("nn.avg_pool3d")
def _avg_pool3d(node: Node, operands: list[Estimate]) -> Estimate:
    return _avg_pool(3, node, operands[0], flag(node, "count_include_pad", True))


def _avg_pool(rank: int, node: Node, data: Estimate, include_pad: bool) -> Estimate:
    window = pool_window(rank, node)

    def windows(each: Array) -> Array:
        summed: Array = np.add.reduce([elements for _, elements in window.taps(each)])
        return summed

    summed = bounds.sum_of_products(data, ONE, lambda a, b: windows(a * b), data.dtype)
    spatial = np.ones(data.value.shape[-rank:], np.int64)
    count = windows(spatial)
    if include_pad:
        count = np.full_like(count, int(np.prod(window.size)))
    if (count == 0).any():
        raise ValueError(f"{node.operator}: a window holds nothing but padding")
    return shared(summed, count)


@operator("nn.adaptive_avg_pool1d")
def _adaptive_avg_pool1d(node: Node, operands: list[Estimate]) -> Estimate:
    return _adaptive(1, node, operands[0])


@operator("nn.adaptive_avg_pool2d")
def _adaptive_avg_pool2d(node: Node, operands: list[Estimate]) -> Estimate:
    return _adaptive(2, node, operands[0])


@operator("nn.adaptive_avg_pool3d")
def _adaptive_avg_pool3d(node: Node, operands: list[Estimate]) -> Estimate:
    return _adaptive(3, node, operands[0])


def _adaptive(rank: int, node: Node, data: Estimate) -> Estimate:
    """Place i of n takes ``floor(i * size / n)`` to ``ceil((i + 1) * size / n)``, exclusive."""
    spatial = data.value.shape[-rank:]
    out = spatial
    if node.attributes.get("output_size") is not None:
        out = several(node, "output_size", 1, rank)
    if min(spatial) < 1:
        raise ValueError(f"{node.operator}: nothing to average in {spatial}")
    members = [_members(size, n) for size, n in zip(spatial, out, strict=True)]

    def windows(each: Array) -> Array:
        for at, member in enumerate(members):
            axis = at - rank
            kept = np.tensordot(each, member.astype(each.dtype), axes=([axis], [0]))
            each = np.moveaxis(kept, -1, axis)
        return each

    summed = bounds.sum_of_products(data, ONE, lambda a, b: windows(a * b), data.dtype)
    return shared(summed, windows(np.ones(spatial, np.int64)))


def _members(size: int, places: int) -> Array:
    """The indicator (size, places), 0 or 1, of the elements that each window holds."""
    at, element = np.arange(places), np.arange(size)[:, None]
    begin, end = at * size // places, -(-(at + 1) * size // places)
    inside: Array = ((element >= begin) & (element < end)).astype(np.int64)
    return inside
