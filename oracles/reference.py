"""The reference: every operator evaluated beyond float64, with an error bound of each element."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

import numpy as np

from generators.program import Node, Program
from oracles import (
    attributes,
    bounds,
    convolution,
    elementwise,
    masks,
    movement,
    normalization,
    reductions,
    resizing,
)
from oracles.answer import Array, Bounded, Unsupported, declare
from oracles.estimate import FORMATS, Estimate, finished, given
from oracles.evaluation import Numerics as Numerics
from oracles.evaluation import Operator, same_dtype
from oracles.layouts import from_canonical, to_canonical
from oracles.softmax import softmax_average

_NOTHING = 20_000.0
"""A key whose score is that far below another's has weight 0 in every format."""

OPERATORS: dict[str, Operator] = {
    **convolution.OPERATORS,
    **elementwise.OPERATORS,
    **movement.OPERATORS,
    **normalization.OPERATORS,
    **reductions.OPERATORS,
    **resizing.OPERATORS,
}

_VAR_LEN_OPERANDS = 7
"""Those of ``nn.attention_var_len``; where TVM lets the last go, nobody says what it means."""

operator = declare(OPERATORS)


def evaluate(
    program: Program, arrays: Mapping[str, Array], numerics: Numerics = Numerics.OWN
) -> tuple[Bounded, ...]:
    """The outputs of ``program`` for the input ``arrays``, each with its bound.

    Raises:
        Unsupported: an operator has no reference.
        ValueError: the program is not valid.
    """
    values: dict[str, Estimate] = {}
    for source in program.inputs:
        estimate = given(arrays[source.name], source.dtype)
        values[source.name] = replace(estimate, half=True) if source.constant else estimate
    # Overflow and invalid operations of the reference's own mean what they mean: infinities, room.
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        for node in program.nodes:
            operands = [values[name] for name in node.arguments]
            if node.operator not in OPERATORS:
                raise Unsupported(f"reference: no operator {node.operator}")
            values[node.name] = OPERATORS[node.operator](node, operands, numerics)
        return tuple(finished(values[name]) for name in program.outputs)


def _narrowed(operand: Estimate) -> Estimate:
    """A float32 operand where it may have been rounded to float16; others as they are."""
    if operand.dtype != "float32":
        return operand
    return bounds.rounded(operand, FORMATS["float16"], settled=False)


def _always(operands: list[Estimate], numerics: Numerics) -> list[Estimate]:
    """Operands of an operator that mixed precision always narrows."""
    return operands if numerics is Numerics.OWN else [_narrowed(each) for each in operands]


def _stored(result: Estimate, numerics: Numerics) -> Estimate:
    """The result of such an operator, which may be kept in float16."""
    if numerics is Numerics.OWN or result.dtype != "float32":
        return result
    return replace(_narrowed(result), half=True)


def _follow(
    operands: list[Estimate], numerics: Numerics, compute: Callable[[list[Estimate]], Estimate]
) -> Estimate:
    """``compute(operands)``, in float16 as well where mixed precision would have it so."""
    half = all(each.half for each in operands)
    if numerics is Numerics.OWN or not half or operands[0].dtype != "float32":
        return compute(operands)
    return replace(_narrowed(compute([_narrowed(each) for each in operands])), half=True)


@operator("nn.conv1d_transpose")
def _conv1d_transpose(node: Node, operands: list[Estimate], numerics: Numerics) -> Estimate:
    return _conv_transpose(1, node, operands, numerics)


@operator("nn.conv2d_transpose")
def _conv2d_transpose(node: Node, operands: list[Estimate], numerics: Numerics) -> Estimate:
    return _conv_transpose(2, node, operands, numerics)


@operator("nn.conv3d_transpose")
def _conv3d_transpose(node: Node, operands: list[Estimate], numerics: Numerics) -> Estimate:
    return _conv_transpose(3, node, operands, numerics)


def _conv_transpose(
    rank: int, node: Node, operands: list[Estimate], numerics: Numerics
) -> Estimate:
    attrs = attributes.conv_transpose(node, rank, same_dtype(node, operands))
    data, kernel = (bounds.cast(each, attrs.out_dtype) for each in _always(operands, numerics))
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
    return _stored(result, numerics)


def _stuffed(attrs: attributes.ConvTranspose, data: Array, kernel: Array) -> Array:
    """How many of the marked elements of ``data`` and ``kernel`` may meet zeros that were put in.

    TOPI and others put zeros between the data, so that every tap meets every output, and between
    the taps, so that data meet all outputs that a dilated kernel spans.
    """
    channels, wide, *taps = kernel.shape
    of_group = (attrs.groups, channels // attrs.groups, wide, prod(taps))
    every: Array = kernel.reshape(of_group).sum(axis=(1, 3)).reshape(-1, *[1] * len(taps))
    proper = scatter(attrs, np.ones(data.shape), kernel)
    span = [step * (count - 1) + 1 for step, count in zip(attrs.dilation, taps, strict=True)]
    dense = replace(attrs, dilation=(1,) * len(taps))
    met = scatter(dense, data, np.ones((channels, wide, *span)))
    met -= scatter(attrs, data, np.ones(kernel.shape))
    stuffed: Array = (every - proper) + met
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


@operator("nn.attention")
def _attention(node: Node, operands: list[Estimate], numerics: Numerics) -> Estimate:
    attrs = attributes.attention(node)
    queries, keys = operands[0].value.shape[1], operands[1].value.shape[1]
    seen = masks.visible(queries, keys, attrs.causal_mask, attrs.window_size)
    bias = operands[3] if len(operands) > 3 else None
    return _attend(node, operands[:3], bias, seen, numerics)


@operator("nn.attention_var_len")
def _attention_var_len(node: Node, operands: list[Estimate], numerics: Numerics) -> Estimate:
    attrs = attributes.attention(node)
    if len(operands) != _VAR_LEN_OPERANDS:
        raise ValueError(f"{node.operator} takes {_VAR_LEN_OPERANDS} operands, not {len(operands)}")
    queries, keys = operands[0].value.shape[1], operands[1].value.shape[1]
    starts_q, starts_k = operands[3].value, operands[5].value
    seen = masks.visible_within(
        starts_q, starts_k, queries, keys, attrs.causal_mask, attrs.window_size
    )
    return _attend(node, operands[:3], None, seen, numerics)


def _attend(
    node: Node,
    operands: list[Estimate],
    bias: Estimate | None,
    seen: masks.Mask,
    numerics: Numerics,
) -> Estimate:
    """Attention of BSNH operands where ``seen`` (queries, keys) tells what is visible."""
    tensors = operands if bias is None else [*operands, bias]
    own = same_dtype(node, tensors)
    query, key, value = (each.value.shape for each in operands)
    attributes.check_heads(query, key, value, None if bias is None else bias.value.shape)
    tensors = _always(tensors, numerics)
    dtype = "float16" if numerics is Numerics.MIXED_FLOAT16 and own == "float32" else own
    heads, head_dim = operands[0].value.shape[2:]
    q, k, v = (_by_head(each, heads) for each in tensors[:3])
    scores = _scores(q, k, attributes.attention(node).factor(head_dim), dtype)
    if bias is not None:
        scores = _biased(scores, tensors[3], seen, dtype)
    result = softmax_average(scores, seen, v, dtype)
    result = replace(
        result,
        value=result.value.transpose(0, 2, 1, 3),
        error=result.error.transpose(0, 2, 1, 3),
        dtype=own,
    )
    return replace(result, half=dtype != own)


def _biased(scores: Estimate, bias: Estimate, seen: masks.Mask, dtype: str) -> Estimate:
    """``scores + bias``, where a bias of -infinity or the lowest number may be taken for a mask.

    Then the score is never looked at, and the weight is 0: there is room unless it is anyway.
    """
    low = np.isfinite(bias.error) & (bias.value <= -FORMATS[dtype].largest)
    total = bounds.added(scores, bias, dtype, settled=False)
    if not low.any():
        return total
    usual = np.isfinite(total.error) & ~low & seen
    top = (total.value - total.error).max(axis=-1, keepdims=True, initial=-np.inf, where=usual)
    # However it is rounded, and even beyond the range; NaN and +infinity are not below anything.
    exact = scores.value + np.where(low, bias.value, 0)
    nothing = low & (exact + scores.error < top - _NOTHING)
    room = low & ((~nothing & (exact != -np.inf)) | np.isinf(scores.error))
    value = np.where(room, 0, np.where(low, np.longdouble(-np.inf), total.value))
    error = np.where(room, np.inf, np.where(low, 0.0, total.error))
    return replace(total, value=value, error=error)


def _scores(query: Estimate, key: Estimate, factor: float, dtype: str) -> Estimate:
    """The scaled products of every query with every key, (batch, head, queries, keys)."""

    def products(a: Array, b: Array) -> Array:
        result: Array = np.matmul(a, b.swapaxes(-1, -2))
        return result

    if FORMATS[dtype].precision < FORMATS["float32"].precision:
        # Kernels that compute in these formats scale the sums: a square root, a division and a
        # product round. The rest compute in float32, which rounds less wherever they scale.
        sums = bounds.sum_of_products(query, key, products, dtype, settled=False)
        return bounds.scaled(sums, factor, dtype, roundings=3)
    # Others scale both operands by a rounded square root first, so that no sum is exact: two
    # products round, and the root (once, in both) is off by the same factor everywhere.
    query, key = (_before_scaling(each, factor, dtype) for each in (query, key))
    sums = bounds.sum_of_products(query, key, products, dtype, extra=2, settled=False)
    return bounds.scaled(sums, factor, dtype, roundings=3)


def _before_scaling(operand: Estimate, factor: float, dtype: str) -> Estimate:
    """``operand``, uncertain where it is so small or large that scaling it may lose it."""
    size = np.abs(operand.value).astype(np.float64)
    tiny = (size > 0) & (size * min(abs(factor), 1) < 2 * FORMATS[dtype].floor)
    huge = np.isfinite(size) & (size * max(abs(factor) ** 0.5, 1) > FORMATS[dtype].largest)
    if not (tiny.any() or huge.any()):
        return operand
    error = np.where(tiny, np.maximum(operand.error, size), operand.error)
    value = np.where(huge, 0, operand.value)
    return replace(operand, value=value, error=np.where(huge, np.inf, error))


def _by_head(operand: Estimate, heads: int) -> Estimate:
    """BSNH to batch, head, sequence, dim; each head repeated for the queries that share it."""
    repeats = heads // operand.value.shape[2]
    return replace(
        operand,
        value=np.repeat(operand.value.transpose(0, 2, 1, 3), repeats, axis=1),
        error=np.repeat(operand.error.transpose(0, 2, 1, 3), repeats, axis=1),
    )


@operator("matmul")
def _matmul(node: Node, operands: list[Estimate], numerics: Numerics) -> Estimate:
    dtype = node.attributes.get("out_dtype") or same_dtype(node, operands)
    if not isinstance(dtype, str):
        raise ValueError(f"out_dtype {dtype!r} is not text")
    a, b = (bounds.cast(each, dtype) for each in _always(operands, numerics))
    return _stored(bounds.sum_of_products(a, b, np.matmul, dtype), numerics)


@operator("add")
def _add(node: Node, operands: list[Estimate], numerics: Numerics) -> Estimate:
    dtype = same_dtype(node, operands)
    return _follow(operands, numerics, lambda each: bounds.added(each[0], each[1], dtype))


@operator("multiply")
def _multiply(node: Node, operands: list[Estimate], numerics: Numerics) -> Estimate:
    dtype = same_dtype(node, operands)
    return _follow(operands, numerics, lambda each: bounds.multiplied(each[0], each[1], dtype))


@operator("nn.relu")
def _relu(node: Node, operands: list[Estimate], numerics: Numerics) -> Estimate:
    dtype = operands[0].dtype

    def rectified(each: list[Estimate]) -> Estimate:
        # No result lies beyond the larger of 0 and the operand's own upper limit. The maximum of
        # NaN and 0 is either (IEEE 754-2019, 9.6: maximum and maximumNumber).
        room = np.isnan(each[0].value) if dtype in FORMATS else np.bool_(False)
        value = np.where(room, 0, np.maximum(each[0].value, 0))
        above = np.maximum(each[0].value.astype(np.float64) + each[0].error, 0)
        error = np.where(each[0].value > 0, each[0].error, above)
        return replace(each[0], value=value, error=np.where(room, np.inf, error), signed=False)

    return _follow(operands, numerics, rectified)


@operator("permute_dims")
def _permute_dims(node: Node, operands: list[Estimate], numerics: Numerics) -> Estimate:
    axes = node.attributes.get("axes")
    if axes is not None and not isinstance(axes, tuple):
        raise ValueError(f"axes {axes!r} is not a list of integers")

    def permuted(each: list[Estimate]) -> Estimate:
        value = each[0].value.transpose(axes)
        return replace(each[0], value=value, error=each[0].error.transpose(axes))

    return _follow(operands, numerics, permuted)
