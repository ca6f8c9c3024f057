"""The reference's transposed convolutions over one to three spatial axes."""

from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference import attributes, bounds
from relaxcheck.oracles.reference.estimate import Estimate
from relaxcheck.oracles.reference.evaluation import Numerics, operator_with_numerics, same_dtype
from relaxcheck.oracles.reference.layouts import from_canonical, to_canonical
from relaxcheck.oracles.reference.mixed_precision import always_narrowed, stored


@operator_with_numerics("nn.conv1d_transpose")
def _conv1d_transpose(node: Node, operands: list[Estimate], numerics: Numerics) -> Estimate:
    return _conv_transpose(1, node, operands, numerics)


@operator_with_numerics("nn.conv2d_transpose")
def _conv2d_transpose(node: Node, operands: list[Estimate], numerics: Numerics) -> Estimate:
    return _conv_transpose(2, node, operands, numerics)


@operator_with_numerics("nn.conv3d_transpose")
def _conv3d_transpose(node: Node, operands: list[Estimate], numerics: Numerics) -> Estimate:
    return _conv_transpose(3, node, operands, numerics)


def _conv_transpose(
    rank: int, node: Node, operands: list[Estimate], numerics: Numerics
) -> Estimate:
    attrs = attributes.conv_transpose(node, rank, same_dtype(node, operands))
    data, kernel = (
        bounds.cast(each, attrs.out_dtype) for each in always_narrowed(operands, numerics)
    )
    data = _rearranged(data, attrs.data_layout, attrs.canonical_data)
    kernel = _rearranged(kernel, attrs.kernel_layout, attrs.canonical_kernel)
    attributes.check_channels(attrs, data.value.shape, kernel.value.shape)

    result = bounds.sum_of_products(
        data,
        kernel,
        lambda x, w: scatter(attrs, x, w),
        attrs.out_dtype,
        stuffing=lambda x, w: _stuffed(attrs, x, w),
    )
    canonical = attrs.canonical_data
    result = replace(
        result,
        value=from_canonical(result.value, attrs.out_layout, canonical),
        error=from_canonical(result.error, attrs.out_layout, canonical),
    )
    return stored(result, numerics)


def _stuffed(attrs: attributes.ConvTranspose, data: Array, kernel: Array) -> Array:
    """Count the marked elements of ``data`` and ``kernel`` that inserted zeros may multiply.

    TOPI and others put zeros between the data, so that every tap meets every output, and between
    the taps, so that data meet all outputs that a dilated kernel spans.
    """
    channels, wide, *taps = kernel.shape
    of_group = (attrs.groups, channels // attrs.groups, wide, prod(taps))
    every: Array = kernel.reshape(of_group).sum(axis=(1, 3)).reshape(-1, *[1] * len(taps))
    proper = scatter(attrs, np.ones(data.shape), kernel)
    span = [step * (count - 1) + 1 for step, count in zip(attrs.dilation, taps, strict=True)]
    dense = replace(attrs, dilation=(1,) * len(taps))
    between = scatter(dense, data, np.ones((channels, wide, *span)))
    between -= scatter(attrs, data, np.ones(kernel.shape))
    stuffed: Array = (every - proper) + between
    return stuffed


def scatter(attrs: attributes.ConvTranspose, data: Array, kernel: Array) -> Array:
    """The transposed convolution of canonical arrays, in their own dtype.

    Output o sums data i times tap k over ``i * stride + k * dilation - pad_begin == o``. ``data``
    (N, I, spatial), ``kernel`` (I, O / groups, spatial), result (N, O, spatial).
    """
    batch, channels, *size = data.shape
    taps = kernel.shape[2:]
    groups, wide = attrs.groups, kernel.shape[1]
    full = attrs.full_size(size, taps)
    out = attrs.output_size(size, taps)
    end = tuple(max(f, b + o) for f, b, o in zip(full, attrs.pad_begin, out, strict=True))
    spread = np.zeros((batch, groups, wide, *end), data.dtype)
    x = data.reshape(batch, groups, channels // groups, prod(size))
    w = kernel.reshape(groups, channels // groups, wide, *taps)
    for tap in product(*map(range, taps)):
        part = np.matmul(w[_last(tap)].swapaxes(-1, -2), x)
        where = tuple(
            slice(k * dilation, k * dilation + n * stride, stride)
            for k, n, stride, dilation in zip(tap, size, attrs.strides, attrs.dilation, strict=True)
        )
        spread[_last(where)] += part.reshape(batch, groups, wide, *size)
    crop = tuple(slice(b, b + o) for b, o in zip(attrs.pad_begin, out, strict=True))
    result: Array = spread[_last(crop)].reshape(batch, groups * wide, *out)
    return result


def _last(index: tuple[int | slice, ...]) -> Any:
    # NumPy's stubs do not know an ellipsis before an unpacked index.
    return (..., *index)


def _rearranged(operand: Estimate, layout: str, canonical: str) -> Estimate:
    return replace(
        operand,
        value=to_canonical(operand.value, layout, canonical),
        error=to_canonical(operand.error, layout, canonical),
    )
