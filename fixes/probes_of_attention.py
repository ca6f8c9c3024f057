"""What of the faults of the three attention operators the running TVM has.

Tensors are BSNH: (batch, sequence, heads, head dim). The numbers that an answer is held against are
those of ``attention.py``'s meaning, in float64.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from tvm import relax

from fixes import tvm_api
from fixes.probes import (
    Array,
    Shape,
    computes,
    inputs,
    is_lowered,
    is_refused,
    one_call,
    sums_are_initialized,
)
from fixes.tvm_api import Call, Expr

_SHAPE = (2, 3, 2, 4)
_VAR_LEN_DTYPES = ("float32", "float32", "float32", "int32", "int32")


def computes_windows() -> bool:
    """Whether windows are computed, with and without a causal mask."""
    shape, i = (1, 4, 2, 3), np.arange(4)
    near = i[None, :] > i[:, None] - 2
    return _attends(shape, shape, visible=near, window_size=2) and _attends(
        shape, shape, visible=near & np.tri(4, dtype=bool), window_size=2, causal_mask="TopLeft"
    )


def computes_grouped_queries() -> bool:
    """Whether every two query heads share a head of key and value."""
    return _attends((1, 2, 4, 3), (1, 5, 2, 3))


def computes_causal_masks() -> bool:
    """Whether hidden scores count for nothing where visible ones are far below 0; both masks."""
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
    """Whether a scale counts, and leaves the output in the dtype that its type says."""
    return all(_attends(_SHAPE, _SHAPE, dtype=name, scale=0.25) for name in ("float16", "float32"))


def computes_symbolic_dimensions() -> bool:
    """Whether attention over symbolic batch, queries, keys and heads is computed."""
    sizes = {tvm_api.shape_var(name): size for name, size in zip("bqkh", (2, 3, 5, 2), strict=True)}
    batch, queries, keys, heads = sizes
    return _attends((batch, queries, heads, 3), (batch, keys, heads, 3), sizes=sizes)


def initializes_sums() -> bool:
    """Whether no key, and heads without a dimension, leave nothing to what memory held."""
    query, value = (1, 2, 2, 0), (1, 4, 2, 3)
    return all(
        sums_are_initialized(one_call(relax.op.nn.attention, *shapes))
        for shapes in (((1, 2, 2, 3), (1, 0, 2, 3), (1, 0, 2, 3)), (query, (1, 4, 2, 0), value))
    )


def computes_sequences() -> bool:
    """Whether each of two sequences laid end to end sees itself alone."""
    shape, starts = (1, 5, 2, 3), np.array([0, 2, 5], "int32")
    query, key, value = _operands(shape, shape, "float32")
    number = np.searchsorted(starts, np.arange(5), side="right")
    call = one_call(
        relax.op.nn.attention_var_len,
        *(shape, shape, shape, (3,), ()),
        dtypes=_VAR_LEN_DTYPES,
    )
    expected = _expected(query, key, value, visible=number[:, None] == number[None, :])
    # The lowered function takes no more than it uses of these, in the order of the call.
    return computes(call, (query, key, value, starts, starts), expected)


def _attends(
    query: Shape,
    key: Shape,
    *,
    visible: Any = True,
    far: bool = False,
    dtype: str = "float32",
    sizes: Mapping[Any, int] | None = None,
    **attributes: object,
) -> bool:
    """Whether attention is computed where query i sees the keys of ``visible``.

    With a bias it has to be lowered too. ``far``: every score is far below 0. ``sizes`` has the
    values of symbolic dimensions.
    """

    def size(shape: Shape) -> tuple[int, ...]:
        return tuple(dim if isinstance(dim, int) else (sizes or {})[dim] for dim in shape)

    arrays = _operands(size(query), size(key), dtype)
    if far:
        arrays = (np.full_like(arrays[0], 30), np.full_like(arrays[1], -30), arrays[2])

    def make(*operands: Expr) -> Expr:
        return relax.op.nn.attention(*operands, **attributes)

    shapes = (query, key, key)
    plain = one_call(make, *shapes, dtypes=(dtype,) * 3)
    biased = one_call(make, *shapes, (1, 1, 1, key[1]), dtypes=(dtype,) * 4)
    expected = _expected(*arrays, visible=visible, scale=attributes.get("scale"))
    return is_lowered(biased) and computes(plain, arrays, expected)


def _operands(query: Shape, key: Shape, dtype: str) -> tuple[Array, Array, Array]:
    """Query, key and value; of a value the shape is that of the key."""
    generator = np.random.default_rng(0)
    first, second, third = (
        generator.standard_normal(shape).astype(dtype) for shape in (query, key, key)
    )
    return first, second, third


def _expected(query: Array, key: Array, value: Array, *, visible: Any, scale: Any = None) -> Array:
    heads = np.arange(query.shape[2]) // (query.shape[2] // key.shape[2])
    query, key, value = (array.astype("float64") for array in (query, key, value))
    scores = np.einsum("bqhd,bkhd->bhqk", query, key[:, :, heads])
    scores *= 1 / math.sqrt(query.shape[3]) if scale is None else scale
    scores = np.where(visible, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.asarray(np.einsum("bhqk,bkhd->bqhd", weights, value[:, :, heads]))


def _refused(
    *shapes: Shape,
    terms: tuple[str, ...],
    operator: str = "attention",
    dtypes: tuple[str, ...] = (),
    **attributes: object,
) -> bool:
    """Whether the call is refused by the operator's name and one of ``terms``."""

    def make(*tensors: Expr) -> Expr:
        return getattr(relax.op.nn, operator)(*tensors, **attributes)

    return is_refused(lambda: one_call(make, *shapes, dtypes=dtypes), operator, *terms)


def refuses_shapes() -> bool:
    """Whether shapes that do not go together are refused by the operator's name."""
    return all(
        _refused(*shapes, terms=(term,))
        for term, *shapes in (
            ("batch", _SHAPE, (3, 3, 2, 4), _SHAPE),
            ("batch", _SHAPE, _SHAPE, (3, 3, 2, 4)),
            ("sequence", _SHAPE, _SHAPE, (2, 5, 2, 4)),
            ("heads", _SHAPE, (2, 3, 3, 4), (2, 3, 3, 4)),
            ("dimension", _SHAPE, (2, 3, 2, 5), _SHAPE),
            ("rank", (2, 3, 4), _SHAPE, _SHAPE),
        )
    )


def refuses_biases() -> bool:
    """Whether a bias that does not fit is refused by the operator's name."""
    return all(
        _refused(_SHAPE, _SHAPE, _SHAPE, bias, terms=("bias",), operator="attention_bias")
        for bias in ((2, 1, 3, 4), (2, 1, 3, 1), (3, 1, 3, 3), (3, 3))
    )


def refuses_dtypes() -> bool:
    """Whether dtypes that differ, and integers, are refused by the operator's name."""
    return all(
        _refused(_SHAPE, _SHAPE, _SHAPE, dtypes=dtypes, terms=("dtype",))
        for dtypes in (("float32", "float16", "float16"), ("int32", "int32", "int32"))
    )


def refuses_masks() -> bool:
    """Whether an unknown mask and an empty window are refused by the operator's name."""
    shapes = (_SHAPE, _SHAPE, _SHAPE)
    return _refused(*shapes, terms=("causal_mask",), causal_mask="Middle") and _refused(
        *shapes, terms=("window",), window_size=0
    )


def refuses_offsets() -> bool:
    """Whether offsets that are no integers, of another number, or of a batch, are refused."""

    def refused(shape: Shape, ends: Shape, dtype: str, *terms: str) -> bool:
        def make(query: Expr, starts: Expr, longest: Expr, others: Expr) -> Expr:
            attention = relax.op.nn.attention_var_len
            return attention(query, query, query, starts, longest, others, longest)

        dtypes = ("float32", dtype, "int32", dtype)
        return is_refused(
            lambda: one_call(make, shape, (3,), (), ends, dtypes=dtypes), "attention", *terms
        )

    return (
        refused((1, 3, 2, 4), (3,), "float32", "dtype")
        and refused((1, 3, 2, 4), (4,), "int32", "seqstart", "offsets")
        and refused(_SHAPE, (3,), "int32", "batch")
    )


def refuses_no_heads() -> bool:
    """Whether a key without heads is refused by the operator's name; or TVM dies."""
    none = (2, 3, 0, 4)
    return _refused(_SHAPE, none, none, terms=("heads",))


def refuses_unknown_shapes() -> bool:
    """Whether a key of unknown shape is refused by the operator's name; or TVM dies."""

    def make() -> Call:
        query, value = inputs((_SHAPE, _SHAPE))
        key = relax.Var("key", tvm_api.unshaped_type(4, "float32"))
        return relax.BlockBuilder().normalize(relax.op.nn.attention(query, key, value))

    return is_refused(make, "attention", "shape")
