"""The reference's attention, of one sequence or of several laid end to end."""

from dataclasses import replace

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference import attributes, bounds, masks
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate
from relaxcheck.oracles.reference.evaluation import Numerics, operator_with_numerics, same_dtype
from relaxcheck.oracles.reference.mixed_precision import always_narrowed
from relaxcheck.oracles.reference.operators.movement import places_of
from relaxcheck.oracles.reference.softmax import softmax_average

_NOTHING = 20_000.0
"""A key whose score is that far below another's has weight 0 in every format."""

_VAR_LEN_OPERANDS = 7
"""The operands of ``nn.attention_var_len``; TVM lets the last be omitted, but defines no result."""


@operator_with_numerics("nn.attention")
def _attention(node: Node, operands: list[Estimate], numerics: Numerics) -> Estimate:
    attrs = attributes.attention(node)
    queries, keys = operands[0].value.shape[1], operands[1].value.shape[1]
    seen = masks.visible(queries, keys, attrs.causal_mask, attrs.window_size)
    bias = operands[3] if len(operands) > 3 else None
    return _attend(node, operands[:3], bias, seen, numerics)


@operator_with_numerics("nn.attention_var_len")
def _attention_var_len(node: Node, operands: list[Estimate], numerics: Numerics) -> Estimate:
    attrs = attributes.attention(node)
    if len(operands) != _VAR_LEN_OPERANDS:
        raise ValueError(f"{node.operator} takes {_VAR_LEN_OPERANDS} operands, not {len(operands)}")
    if operands[0].value.shape[0] != 1:
        raise ValueError("sequences are packed along one batch")
    queries, keys = operands[0].value.shape[1], operands[1].value.shape[1]
    starts_q, starts_k = places_of(operands[3]), places_of(operands[5])
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
    tensors = always_narrowed(tensors, numerics)
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

    Then the score is never looked at, and the weight is 0: unconstrained unless it is 0 anyway.
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
    unconstrained = low & ((~nothing & (exact != -np.inf)) | np.isinf(scores.error))
    value = np.where(unconstrained, 0, np.where(low, np.longdouble(-np.inf), total.value))
    error = np.where(unconstrained, np.inf, np.where(low, 0.0, total.error))
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
