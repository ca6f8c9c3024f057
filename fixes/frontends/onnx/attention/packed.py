"""Attention of com.microsoft, whose weights of queries, keys and values are one matrix.

It is computed in float32 and rounded at the end. Source: ONNX Runtime's documentation of
contributed operators; masks are applied as its kernel for CPUs does.
"""

import math
from typing import Any

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import invalid, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.attention import heads
from relaxcheck.fixes.frontends.onnx.converting import Node
from relaxcheck.fixes.frontends.onnx.elementwise.numbers import cast, constant
from relaxcheck.fixes.tvm_api import Expr

UPSTREAM = NewFile(
    "relax/frontend/onnx/packed_attention.py",
    "Attention of com.microsoft, whose weights of queries, keys and values are one matrix.",
)

_BIAS, _MASK, _PAST, _SCORES, _PAST_LENGTH = 2, 3, 4, 5, 6
"""Numbers of inputs."""

_FILTER = -10000.0
"""The default of mask_filter_value."""


def attention(node: Node) -> Expr:
    """The output, and the keys and values of all positions if they are used.

    Raises:
        ValueError: an attribute or a shape is invalid.
        OpNotImplemented: an attribute, an input or the rank of a mask is not supported.
    """
    for name in ("do_rotary", "past_present_share_buffer"):
        if node.attribute(name, 0):
            raise refuse(node.operator, **{name: node.attribute(name)})
    if node.input(_PAST_LENGTH) is not None:
        raise refuse(node.operator, past_sequence_length="an input")
    data = operands.required(node, 0, "input")
    dtype = tvm_api.dtype_of(data)
    query, key, value = _projected(node, data, dtype)
    if node.input(_PAST) is not None:
        past = operands.widened(node, operands.required(node, _PAST, "past"), "float32")
        held = relax.op.split(past, 2, 0)
        first, second = (
            node.emit(relax.op.squeeze(node.emit(relax.TupleGetItem(held, number)), [0]))
            for number in range(2)
        )
        key = node.emit(relax.op.concat([first, key], axis=2))
        value = node.emit(relax.op.concat([second, value], axis=2))
    scores = _scores(node, query, key)
    weights = node.emit(relax.op.nn.softmax(scores, axis=-1))
    result = heads.joined(node, node.emit(relax.op.matmul(weights, value)))
    output = node.emit(cast(result, "float32", dtype))
    if node.outputs == 1:
        return output
    present = node.emit(relax.op.stack([key, value], axis=0))
    return relax.Tuple([output, node.emit(cast(present, "float32", dtype))])


def _projected(node: Node, data: Expr, dtype: str) -> list[Expr]:
    """Queries, keys and values as (batch, heads, length, features), in float32."""
    weights = operands.required(node, 1, "weights")
    sizes = _sizes(node, tvm_api.as_int(tvm_api.shape_of(weights)[1]))
    wide = [operands.widened(node, each, "float32") for each in (data, weights)]
    product = node.emit(relax.op.matmul(*wide))
    if node.input(_BIAS) is not None:
        bias = operands.widened(node, operands.required(node, _BIAS, "bias"), "float32")
        product = node.emit(relax.op.add(product, bias))
    parts = node.emit(relax.op.split(product, [sizes[0], sizes[0] + sizes[1]], 2))
    return [
        heads.split(node, node.emit(relax.TupleGetItem(parts, number)), "num_heads")
        for number in range(3)
    ]


def _sizes(node: Node, columns: int | None) -> list[int]:
    """The hidden sizes of queries, keys and values."""
    stated = node.attribute("qkv_hidden_sizes")
    if columns is None:
        raise refuse(node.operator, weights="of an unknown number of columns")
    sizes = [columns // 3] * 3 if stated is None else [int(size) for size in stated]
    if len(sizes) != 3 or sum(sizes) != columns or sizes[0] != sizes[1]:
        why = f"the weights have {columns} columns, and queries as many features as keys"
        raise invalid(node.operator, why, qkv_hidden_sizes=sizes)
    return sizes


def _scores(node: Node, query: Expr, key: Expr) -> Expr:
    """The scores of all keys for each query, those of excluded keys lowered."""
    features = tvm_api.as_int(tvm_api.shape_of(query)[3]) or 1
    scale = float(node.attribute("scale", 0.0)) or 1 / math.sqrt(features)
    turned = node.emit(relax.op.permute_dims(key, [0, 1, 3, 2]))
    scores = node.emit(relax.op.matmul(query, turned))
    scores = node.emit(relax.op.multiply(scores, constant(scale, "float32")))
    if node.input(_SCORES) is not None:
        bias = operands.required(node, _SCORES, "attention_bias")
        bias = operands.widened(node, bias, "float32")
        scores = node.emit(relax.op.add(scores, bias))
    dims = tvm_api.shape_of(scores)
    if node.input(_MASK) is not None:
        mask = operands.required(node, _MASK, "mask_index")
        kept = _kept(node, mask, dims)
        filtered = constant(float(node.attribute("mask_filter_value", _FILTER)), "float32")
        lowered = relax.op.where(kept, constant(0.0, "float32"), filtered)
        scores = node.emit(relax.op.add(scores, node.emit(lowered)))
    if operands.flag(node, "unidirectional"):
        scores = _causal(node, scores)
    return scores


def _kept(node: Node, mask: Expr, scores: Any) -> Expr:
    """True for the keys that ``mask`` keeps, in a shape that broadcasts to that of ``scores``.

    A vector has the end of each sequence, and may have the beginnings behind; a matrix is of
    sequences and keys, and three axes are of sequences, queries and keys.
    """
    batch, _, queries, keys = scores
    shape = tvm_api.shape_of(mask)
    zero = constant(0, tvm_api.dtype_of(mask))
    wanted = {2: [batch, keys], 3: [batch, queries, keys]}.get(len(shape))
    if wanted is not None:
        own = node.builder.match_cast(mask, tvm_api.tensor_type(wanted, tvm_api.dtype_of(mask)))
        middle = [1] if len(shape) == 3 else [1, 1]
        apart = node.emit(relax.op.reshape(own, (batch, *middle, *wanted[1:])))
        return node.emit(relax.op.greater(apart, zero))
    if len(shape) != 1:
        raise refuse(node.operator, **{"shape of mask_index": tvm_api.show(shape)})
    places = heads.positions(node, keys, 1, 1, 1, keys)
    position = node.emit(cast(places, "int64", "int32"))
    if tvm_api.proves_equal(shape[0], batch):
        ends = node.emit(relax.op.reshape(mask, (batch, 1, 1, 1)))
        return node.emit(relax.op.less(position, ends))
    if not tvm_api.proves_equal(shape[0], batch * 2):
        raise refuse(node.operator, **{"shape of mask_index": tvm_api.show(shape)})
    both = node.emit(relax.op.reshape(mask, (2, batch, 1, 1, 1)))
    halves = node.emit(relax.op.split(both, 2, 0))
    ends, begins = (
        node.emit(relax.op.squeeze(node.emit(relax.TupleGetItem(halves, number)), [0]))
        for number in range(2)
    )
    before = relax.op.less(position, ends)
    return node.emit(relax.op.logical_and(before, relax.op.greater_equal(position, begins)))


def _causal(node: Node, scores: Expr) -> Expr:
    """``scores``, -infinity for keys behind the query."""
    _, _, queries, keys = tvm_api.shape_of(scores)
    key = heads.positions(node, keys, 1, keys)
    query = heads.positions(node, queries, queries, 1)
    total, own = heads.size(node, keys), heads.size(node, queries)
    past = node.emit(relax.op.subtract(total, own))
    within = relax.op.less_equal(key, node.emit(relax.op.add(query, past)))
    return node.emit(relax.op.where(within, scores, constant(-math.inf, "float32")))
