"""Attention with symbolic dimensions, grouped queries, windows, and rows that see no key.

Tensors are BSNH: (batch, sequence, heads, head dim). Semantics:

* The score of query i and key j is ``(q·k)*scale + bias``; the default scale is
  ``1/sqrt(head_dim)``. With head dimension 0 all scores are 0, whatever the scale. Query head h
  uses key/value head ``h // (heads / kv_heads)`` (grouped queries: Ainslie et al., "GQA", 2023).
* The offset is 0, or ``|q_len - kv_len|`` for the causal mask "BottomRight" (the operator's
  docstring: ``np.tril(k=abs(seq_len - seq_len_kv))``).
* Under either causal mask, query i sees key j only if ``j <= i + offset``; under a window of size w
  only if ``j > i + offset - w`` (flash-attention's ``window_size_left = w - 1``).
* A query that sees no key gets zeros (PyTorch's softmax since 2.5; flash-attention).

The keys that a query sees form an interval, so the mask is two bounds a query. 16-bit floats are
computed in float32 and rounded once, at the end.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.broadcast_elements import element
from relaxcheck.fixes.framework.fix import (
    FaultPart,
    Fix,
    OperatorAttribute,
    legalization,
    require_shapes,
)
from relaxcheck.fixes.framework.patch import Lowering, NewFile
from relaxcheck.fixes.framework.requirements import Requirement, call_te
from relaxcheck.fixes.lowerings.attention.arguments import check_dtypes, read_mask, requirements
from relaxcheck.fixes.lowerings.batch_matmul import FIX as BATCH_MATMUL
from relaxcheck.fixes.lowerings.batch_matmul import batch_matmul
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/transform/legalize_ops/attention.py")

Bounds = Callable[[PrimExpr], tuple[PrimExpr, PrimExpr]]
"""Query position to the first key position that it sees, and the first position after those."""


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None,
    bounds: Bounds,
    scale: float | None,
) -> Tensor:
    """Attention over BSNH tensors in which query position i sees the keys ``bounds(i)``.

    Returns (batch, q_len, heads, v_dim) in the dtype of ``query``.
    """
    batch, q_len, heads, head_dim = query.shape
    kv_len, v_dim = value.shape[1], value.shape[3]
    dtype = accumulation_dtype(query)
    # Computed once: a second product of the same symbols would be another object, and TVM compares
    # batch dimensions by identity.
    rows = tvm_api.analyzer().simplify(batch * heads)
    # Without heads nothing is computed, but division by zero is still an error.
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

    # Subtract the largest visible score: a hidden score must not raise it.
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
        # Equality, not "greater than": a NaN total must show in the output.
        nothing = tirx.EQ(total[row, i], tirx.const(0, dtype))
        mean = tirx.if_then_else(nothing, tirx.const(0, dtype), sums[row, i, d] / total[row, i])
        return mean.astype(tvm_api.dtype_of(query))

    return te.compute((batch, q_len, heads, v_dim), output, name="attention")


def accumulation_dtype(tensor: Tensor) -> str:
    """The dtype to compute in: that of ``tensor``, or float32 for a 16-bit float."""
    dtype = tvm_api.dtype_of(tensor)
    return "float32" if dtype in ("float16", "bfloat16") else dtype


def _merge(tensor: Tensor, heads: PrimExpr, rows: PrimExpr, dtype: str, name: str) -> Tensor:
    """``tensor`` as (batch*heads, sequence, dim), each head repeated for the query heads that use
    it.

    ``heads`` is the number of query heads, 1 if there are none.
    """
    kv_heads = tvm_api.at_least_one(tensor.shape[2])
    group = tvm_api.at_least_one(tvm_api.analyzer().simplify(tvm_api.floordiv(heads, kv_heads)))

    def merged(row: PrimExpr, i: PrimExpr, d: PrimExpr) -> PrimExpr:
        head = tvm_api.floordiv(tvm_api.floormod(row, heads), group)
        return tensor[tvm_api.floordiv(row, heads), i, head, d].astype(dtype)

    return te.compute((rows, tensor.shape[1], tensor.shape[3]), merged, name=f"{name}_rows")


def _scaling(scale: float | None, head_dim: PrimExpr, dtype: str) -> PrimExpr:
    if scale is not None:
        return tirx.const(scale, dtype)
    known = tvm_api.as_int(head_dim)
    if known is not None:
        return tirx.const(1.0 / math.sqrt(max(known, 1)), dtype)
    return tirx.const(1, dtype) / tirx.sqrt(tvm_api.at_least_one(head_dim).astype(dtype))


def read_scale(call: Call) -> float | None:
    """The scale of ``call``, or None for the default."""
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


_SHAPE = (2, 3, 2, 4)


def computes_windows() -> bool:
    """True if windows are computed, with and without a causal mask."""
    shape, i = (1, 4, 2, 3), np.arange(4)
    near = i[None, :] > i[:, None] - 2
    return _attends(shape, shape, visible=near, window_size=2) and _attends(
        shape, shape, visible=near & np.tri(4, dtype=bool), window_size=2, causal_mask="TopLeft"
    )


def computes_grouped_queries() -> bool:
    """True if every two query heads share a head of key and value."""
    return _attends((1, 2, 4, 3), (1, 5, 2, 3))


def computes_causal_masks() -> bool:
    """True if hidden scores do not count where visible ones are far below 0; both masks."""
    square = (1, 3, 2, 3)
    return _attends(
        square, square, visible=np.tri(3, dtype=bool), far=True, causal_mask="TopLeft"
    ) and _attends(
        (1, 2, 2, 3),
        (1, 5, 2, 3),
        visible=np.tri(2, 5, k=3, dtype=bool),
        causal_mask="BottomRight",
    )


def computes_scales() -> bool:
    """True if a scale counts, and the output has the dtype of its type."""
    return all(_attends(_SHAPE, _SHAPE, dtype=name, scale=0.25) for name in ("float16", "float32"))


def computes_symbolic_dimensions() -> bool:
    """True if attention over symbolic batch, queries, keys and heads is computed."""
    sizes = {tvm_api.shape_var(name): size for name, size in zip("bqkh", (2, 3, 5, 2), strict=True)}
    batch, queries, keys, heads = sizes
    return _attends((batch, queries, heads, 3), (batch, keys, heads, 3), sizes=sizes)


def initializes_sums() -> bool:
    """True if outputs are initialized without keys, and with head dimension 0."""
    query, value = (1, 2, 2, 0), (1, 4, 2, 3)
    return all(
        probes.sums_are_initialized(probes.one_call(relax.op.nn.attention, *shapes))
        for shapes in (((1, 2, 2, 3), (1, 0, 2, 3), (1, 0, 2, 3)), (query, (1, 4, 2, 0), value))
    )


def _attends(
    query: probes.Shape,
    key: probes.Shape,
    *,
    visible: Any = True,
    far: bool = False,
    dtype: str = "float32",
    sizes: Mapping[Any, int] | None = None,
    **attributes: object,
) -> bool:
    """True if attention is computed where query i sees the keys of ``visible[i]``.

    With a bias it must be lowered too. ``far``: every score is far below 0. ``sizes`` holds the
    values of symbolic dimensions.
    """

    def size(shape: probes.Shape) -> tuple[int, ...]:
        return tuple(dim if isinstance(dim, int) else (sizes or {})[dim] for dim in shape)

    arrays = sample_operands(size(query), size(key), dtype)
    if far:
        arrays = (np.full_like(arrays[0], 30), np.full_like(arrays[1], -30), arrays[2])

    def make(*operands: Expr) -> Expr:
        return relax.op.nn.attention(*operands, **attributes)

    shapes = (query, key, key)
    plain = probes.one_call(make, *shapes, dtypes=(dtype,) * 3)
    biased = probes.one_call(make, *shapes, (1, 1, 1, key[1]), dtypes=(dtype,) * 4)
    expected = expected_output(*arrays, visible=visible, scale=attributes.get("scale"))
    return probes.is_lowered(biased) and probes.computes(plain, arrays, expected)


def sample_operands(
    query: probes.Shape, key: probes.Shape, dtype: str
) -> tuple[probes.Array, probes.Array, probes.Array]:
    """Random query, key and value; the value has the shape of the key."""
    generator = np.random.default_rng(0)
    first, second, third = (
        generator.standard_normal(shape).astype(dtype) for shape in (query, key, key)
    )
    return first, second, third


def expected_output(
    query: probes.Array, key: probes.Array, value: probes.Array, *, visible: Any, scale: Any = None
) -> probes.Array:
    """Attention in float64 where query i sees the keys of ``visible[i]``."""
    heads = np.arange(query.shape[2]) // (query.shape[2] // key.shape[2])
    query, key, value = (array.astype("float64") for array in (query, key, value))
    scores = np.einsum("bqhd,bkhd->bhqk", query, key[:, :, heads])
    scores *= 1 / math.sqrt(query.shape[3]) if scale is None else scale
    scores = np.where(visible, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.asarray(np.einsum("bhqk,bkhd->bqhd", weights, value[:, :, heads]))


FIX = Fix(
    name="attention",
    operators=("relax.nn.attention", "relax.nn.attention_bias"),
    fault=(
        "grouped queries are paired with the wrong key and value heads, without an error; windows"
        " fail an assertion; the causal softmax takes its maximum over zeros in place of hidden"
        " scores, so that rows underflow to NaN; a scale turns 16-bit floats into float32; without"
        " keys, or with head dimension 0, the output is never written; and, as first reported, the"
        " product of a symbolic batch and the heads is unequal to itself"
    ),
    issue="apache/tvm#19696",
    parts=(
        FaultPart("windows", lambda: not computes_windows()),
        FaultPart("grouped queries", lambda: not computes_grouped_queries()),
        FaultPart("causal masks", lambda: not computes_causal_masks()),
        FaultPart("scales", lambda: not computes_scales()),
        FaultPart("empty axes", lambda: not initializes_sums()),
        FaultPart("symbolic dimensions", lambda: not computes_symbolic_dimensions()),
    ),
    attributes=_attributes(),
    after="attention_arguments",
    patch=(
        *BATCH_MATMUL.patch,
        Lowering("relax.nn.attention", _lower),
        Lowering("relax.nn.attention_bias", _lower),
    ),
)
