"""ONNX's Attention, of one sequence or of several laid end to end."""

import numpy as np
from numpy.typing import NDArray

from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.limitations import When
from relaxcheck.oracles.onnxruntime import attributes
from relaxcheck.oracles.onnxruntime.call import Call, limit, operator
from relaxcheck.oracles.onnxruntime.graph import Graph, Wire
from relaxcheck.oracles.onnxruntime.masks import visible

_MODERATE = 1e18


@operator("nn.attention")
def _attention(call: Call) -> Wire:
    attrs = attributes.attention(call.node)
    query, key, value, *rest = call.operands
    bias = rest[0] if rest else None
    # ONNX's own causal mask is aligned at the top left. The kernel adds the lowest finite number.
    own = (
        attrs.causal_mask == "TopLeft"
        and attrs.window_size is None
        and query.dtype != "float64"
        and all(_is_moderate(each) for each in call.known.values())
    )
    if own or (attrs.causal_mask is None and attrs.window_size is None):
        return _attend(call.graph, attrs.scale, query, key, value, bias, None, causal=own)
    queries, keys = query.shape[1], key.shape[1]
    starts_q, starts_k = np.array((0, queries)), np.array((0, keys))
    seen = visible(starts_q, starts_k, queries, keys, attrs.causal_mask, attrs.window_size)
    return _attend(call.graph, attrs.scale, query, key, value, bias, seen)


def _is_moderate(array: Array) -> bool:
    """True if every product of two elements is far inside the range of float32."""
    return bool((np.abs(array.astype(np.float64)) <= _MODERATE).all())


limit(
    "nn.attention_var_len",
    When("computed sequence starts", lambda call: any(call.operands[at].computed for at in (3, 5))),
    "attention_var_len with computed sequence starts",
)


@operator("nn.attention_var_len")
def _attention_var_len(call: Call) -> Wire:
    """All sequences at once, under a mask that keeps them apart."""
    attrs = attributes.attention(call.node)
    query, key, value = call.operands[:3]
    names = (call.node.arguments[3], call.node.arguments[5])
    starts_q, starts_k = (call.known[name] for name in names)
    queries, keys = query.shape[1], key.shape[1]
    seen = visible(starts_q, starts_k, queries, keys, attrs.causal_mask, attrs.window_size)
    return _attend(call.graph, attrs.scale, query, key, value, None, seen)


def _attend(
    graph: Graph,
    scale: float | None,
    query: Wire,
    key: Wire,
    value: Wire,
    bias: Wire | None,
    seen: NDArray[np.bool_] | None,
    causal: bool = False,
) -> Wire:
    """Attention of BSNH operands; keys are seen as ``seen`` or ONNX's ``causal`` mask has it."""
    batch, queries, heads, head_dim = query.shape
    keys = key.shape[1]
    shape = (batch, queries, heads, value.shape[3])
    dtype = np.float64 if query.dtype == "float64" else np.float32
    if 0 in shape or keys == 0:
        return Wire(graph.constant(np.zeros(shape, dtype)), shape, query.dtype)
    q = graph.call("Transpose", query.name, perm=(0, 2, 1, 3))
    k, v = (_by_head(graph, each, heads) for each in (key, value))
    mask = None
    if bias is not None:
        # The CPU kernel of Attention does not broadcast every axis of its mask.
        mask = graph.call("Expand", bias.name, graph.integers((batch, heads, queries, keys)))
    if seen is not None:
        hidden = graph.constant(np.where(seen, 0, -np.inf).astype(dtype))
        mask = hidden if mask is None else graph.call("Add", mask, hidden)
    if query.dtype == "float64":
        y = _double_attention(graph, q, k, v, mask, head_dim**-0.5 if scale is None else scale)
    else:
        arguments = [q, k, v] if mask is None else [q, k, v, mask]
        # Without a scale, Attention takes 1 / sqrt(head dim) by itself.
        scaling = {} if scale is None else {"scale": scale}
        y = graph.call("Attention", *arguments, is_causal=int(causal), **scaling)
    if seen is not None and not seen.any(axis=1).all():
        sighted = graph.constant(np.asarray(seen.any(axis=1, keepdims=True)))
        y = graph.call("Where", sighted, y, graph.constant(np.zeros((), dtype)))
    return graph.settle(graph.call("Transpose", y, perm=(0, 2, 1, 3)), shape, query.dtype)


def _double_attention(graph: Graph, q: str, k: str, v: str, mask: str | None, factor: float) -> str:
    """Attention in float64 from primitive operators: Attention's ``scale`` is a float32."""
    scores = graph.call("MatMul", q, graph.call("Transpose", k, perm=(0, 1, 3, 2)))
    scores = graph.call("Mul", scores, graph.constant(np.array(factor, np.float64)))
    if mask is not None:
        scores = graph.call("Add", scores, mask)
    return graph.call("MatMul", graph.call("Softmax", scores, axis=-1), v)


def _by_head(graph: Graph, wire: Wire, heads: int) -> str:
    """BSNH to batch, head, sequence, dim; each head repeated for the queries that share it."""
    batch, length, own, dim = wire.shape
    turned = graph.call("Transpose", wire.name, perm=(0, 2, 1, 3))
    if own == heads:
        return turned
    apart = graph.reshape(turned, (batch, own, 1, length, dim))
    shape = (batch, own, heads // own, length, dim)
    repeated = graph.call("Expand", apart, graph.integers(shape))
    return graph.reshape(repeated, (batch, heads, length, dim))
