"""Attention with symbolic dimensions, grouped queries, windows, and rows that see no key.

Tensors are BSNH: (batch, sequence, heads, head dim). The meaning taken:

* the score of query i and key j is ``(q·k)*scale + bias``, scale ``1/sqrt(head_dim)`` by default
  (heads without a dimension have the score 0 under any scale that is finite, and so by default);
  query head h uses key/value head ``h // (heads / kv_heads)`` (grouped queries: Ainslie et al.,
  "GQA", 2023);
* offset is 0, or ``|q_len - kv_len|`` for the causal mask "BottomRight" (the operator's docstring:
  ``np.tril(k=abs(seq_len - seq_len_kv))``);
* under either causal mask, key j is visible to query i only if ``j <= i + offset``; under a window
  of size w only if ``j > i + offset - w`` (flash-attention's ``window_size_left = w - 1``);
* a query that sees no key has an output of zeros (PyTorch's softmax since 2.5; flash-attention).

The keys that a query sees are an interval, so the mask is two bounds a query. 16-bit floats are
computed in float32 and rounded once, at the end.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

from tvm import te, tirx

from fixes import probes_of_attention as probes
from fixes import tvm_api
from fixes.attention_arguments import check_dtypes, read_mask, requirements
from fixes.batch_matmul import batch_matmul
from fixes.broadcast_elements import element
from fixes.fix import Fix, OperatorAttribute, Part, legalization, require_shapes
from fixes.requirements import Requirement, call_te
from fixes.tvm_api import BlockBuilder, Call, Expr, PrimExpr, Tensor

Bounds = Callable[[PrimExpr], tuple[PrimExpr, PrimExpr]]
"""Query position to the first key position that it sees, and the first after those."""


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None,
    bounds: Bounds,
    scale: float | None,
) -> Tensor:
    """Attention over BSNH tensors where query position i sees the keys ``bounds(i)``.

    Returns (batch, q_len, heads, v_dim) in the dtype of ``query``.
    """
    batch, q_len, heads, head_dim = query.shape
    kv_len, v_dim = value.shape[1], value.shape[3]
    dtype = accumulation_dtype(query)
    # Computed once: a second product of the same symbols would be another object, and TVM compares
    # batch dimensions by identity.
    rows = tvm_api.analyzer().simplify(batch * heads)
    # Without heads nothing is computed, but division by zero is an error even so.
    divisor = tvm_api.at_least_one(heads)

    query_rows = _merge(query, divisor, rows, dtype, "query")
    key_rows = _merge(key, divisor, rows, dtype, "key")
    value_rows = _merge(value, divisor, rows, dtype, "value")
    products = batch_matmul(query_rows, key_rows, oshape=[rows, q_len, kv_len])
    scaling = _scaling(scale, head_dim, dtype)

    def score(row: PrimExpr, i: PrimExpr, j: PrimExpr) -> PrimExpr:
        scaled = products[row, i, j] * scaling
        if bias is None:
            return scaled
        wanted = (tvm_api.floordiv(row, divisor), tvm_api.floormod(row, divisor), i, j)
        return scaled + element(bias, wanted, (batch, heads, q_len, kv_len)).astype(dtype)

    scores = te.compute((rows, q_len, kv_len), score, name="scores")

    def visible(i: PrimExpr, j: PrimExpr) -> PrimExpr:
        first, end = bounds(i)
        return tirx.all(j >= first, j < end, j < kv_len)

    # Exponents are taken against the largest visible score: a hidden one must not raise it.
    extent = tvm_api.at_least_one(kv_len)
    j = te.reduce_axis((0, extent), name="j")
    largest = te.compute(
        (rows, q_len),
        lambda row, i: te.max(
            tirx.if_then_else(visible(i, j.var), scores[row, i, j.var], tirx.min_value(dtype)),
            axis=j,
        ),
        name="largest",
    )
    weights = te.compute(
        (rows, q_len, kv_len),
        lambda row, i, j: tirx.if_then_else(
            visible(i, j),
            tirx.exp(scores[row, i, j] - largest[row, i]),
            tirx.const(0, dtype),
        ),
        name="weights",
    )
    k = te.reduce_axis((0, extent), name="k")
    total = te.compute(
        (rows, q_len),
        lambda row, i: te.sum(
            tirx.if_then_else(k.var < kv_len, weights[row, i, k.var], tirx.const(0, dtype)), axis=k
        ),
        name="total",
    )
    sums = batch_matmul(weights, value_rows, transpose_b=False, oshape=[rows, q_len, v_dim])

    def output(b: PrimExpr, i: PrimExpr, h: PrimExpr, d: PrimExpr) -> PrimExpr:
        row = b * heads + h
        # Equality, not "greater than": a total that is not a number must show in the output.
        nothing = tirx.EQ(total[row, i], tirx.const(0, dtype))
        mean = tirx.if_then_else(nothing, tirx.const(0, dtype), sums[row, i, d] / total[row, i])
        return mean.astype(tvm_api.dtype_of(query))

    return te.compute((batch, q_len, heads, v_dim), output, name="attention")


def accumulation_dtype(tensor: Tensor) -> str:
    """The dtype to compute in: that of ``tensor``, or float32 where it is a 16-bit float."""
    dtype = tvm_api.dtype_of(tensor)
    return "float32" if dtype in ("float16", "bfloat16") else dtype


def _merge(tensor: Tensor, heads: PrimExpr, rows: PrimExpr, dtype: str, name: str) -> Tensor:
    """``tensor`` as (batch*heads, sequence, dim), each head as often as query heads use it.

    ``heads`` is the number of query heads, 1 where there are none.
    """
    kv_heads = tvm_api.at_least_one(tensor.shape[2])
    group = tvm_api.at_least_one(tvm_api.analyzer().simplify(tvm_api.floordiv(heads, kv_heads)))

    def element(row: PrimExpr, i: PrimExpr, d: PrimExpr) -> PrimExpr:
        head = tvm_api.floordiv(tvm_api.floormod(row, heads), group)
        return tensor[tvm_api.floordiv(row, heads), i, head, d].astype(dtype)

    return te.compute((rows, tensor.shape[1], tensor.shape[3]), element, name=f"{name}_rows")


def _scaling(scale: float | None, head_dim: PrimExpr, dtype: str) -> PrimExpr:
    if scale is not None:
        return tirx.const(scale, dtype)
    known = tvm_api.as_int(head_dim)
    if known is not None:
        return tirx.const(1.0 / math.sqrt(max(known, 1)), dtype)
    return tirx.const(1, dtype) / tirx.sqrt(tvm_api.at_least_one(head_dim).astype(dtype))


def read_scale(call: Call) -> float | None:
    """The scale that ``call`` gives, or None."""
    scale = call.attrs.scale
    return None if scale is None else float(getattr(scale, "value", scale))


def _lower(builder: BlockBuilder, call: Call) -> Expr:
    require_shapes(call)
    operator = str(call.op.name)
    mask = read_mask(operator, call.attrs.causal_mask, call.attrs.window_size)
    scale = read_scale(call)
    check_dtypes(operator, *call.args[:3])

    def require(*tensors: Tensor) -> Iterator[Requirement]:
        return requirements(operator, *(tensor.shape for tensor in tensors))

    def compute(query: Tensor, key: Tensor, value: Tensor, *bias: Tensor) -> Tensor:
        def bounds(i: PrimExpr) -> tuple[PrimExpr, PrimExpr]:
            return mask.span(i, query.shape[1], key.shape[1])

        return attend(query, key, value, bias[0] if bias else None, bounds, scale)

    return call_te(builder, call, require, compute, *call.args)


def _attributes() -> tuple[OperatorAttribute, ...]:
    return tuple(
        attribute
        for operator in ("relax.nn.attention", "relax.nn.attention_bias")
        for attribute in legalization(operator, _lower)
    )


FIX: Any = Fix(
    name="attention",
    operators=("relax.nn.attention", "relax.nn.attention_bias"),
    fault=(
        "grouped queries are paired with the wrong key and value heads, without an error; windows"
        " are an assertion; the causal softmax takes its largest score over zeros put in for hidden"
        " scores, so that rows underflow to NaN; a scale turns 16-bit floats into float32; no key,"
        " or heads without a dimension, give what memory held; and, as first reported, the product"
        " of a symbolic batch and the heads is unequal to itself"
    ),
    issue="apache/tvm#19696",
    parts=(
        Part("windows", lambda: not probes.computes_windows()),
        Part("grouped queries", lambda: not probes.computes_grouped_queries()),
        Part("causal masks", lambda: not probes.computes_causal_masks()),
        Part("scales", lambda: not probes.computes_scales()),
        Part("empty axes", lambda: not probes.initializes_sums()),
        Part("symbolic dimensions", lambda: not probes.computes_symbolic_dimensions()),
    ),
    attributes=_attributes(),
)
