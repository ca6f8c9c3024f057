"""PyTorch's ``scaled_dot_product_attention``."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.source import Value, assigned, call_text, source
from relaxcheck.oracles.pytorch.tensors import Held, operator


@operator("nn.attention")
def _attention(node: Node, operands: list[Held]) -> Held:
    query, key, value, *rest = (each.tensor for each in operands)
    bias = rest[0] if rest else None
    return Held(_attend(node.attributes, query, key, value, bias), operands[0].dtype)


@operator("nn.attention_var_len")
def _attention_var_len(node: Node, operands: list[Held]) -> Held:
    """Each sequence on its own."""
    query, key, value, starts_q, _, starts_k, _ = (each.tensor for each in operands)
    result = query.new_zeros((*query.shape[:3], value.shape[3]))
    for n in range(len(starts_q) - 1):
        q = slice(int(starts_q[n]), int(starts_q[n + 1]))
        k = slice(int(starts_k[n]), int(starts_k[n + 1]))
        result[:, q] = _attend(node.attributes, query[:, q], key[:, k], value[:, k], None)
    return Held(result, operands[0].dtype)


def _attend(
    attributes: Mapping[str, Any], query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None
) -> Tensor:
    """Attention of BSNH tensors through ``scaled_dot_product_attention``."""
    causal_mask, window_size = attributes.get("causal_mask"), attributes.get("window_size")
    heads = query.shape[2]
    if not key.shape[1]:
        # PyTorch multiplies zeros by the query, which then has to be finite.
        query = torch.zeros_like(query)
    q, k, v = (each.permute(0, 2, 1, 3) for each in (query, key, value))
    k, v = (each.repeat_interleave(heads // each.shape[1], dim=1) for each in (k, v))
    # PyTorch's own causal mask is aligned at the top left.
    built_in = causal_mask == "TopLeft" and window_size is None and bias is None
    mask = bias
    if (causal_mask is not None or window_size is not None) and not built_in:
        seen = _visible(q.shape[2], k.shape[2], causal_mask, window_size)
        mask = seen if bias is None else torch.where(seen, bias, -torch.inf)
    with _kernels(q, k, v, bias):
        y = functional.scaled_dot_product_attention(
            q, k, v, attn_mask=mask, is_causal=built_in, scale=attributes.get("scale")
        )
    return y.permute(0, 2, 1, 3)


def _kernels(*operands: Tensor | None) -> AbstractContextManager[None]:
    """The kernels that may be used: only the plain one where an operand is not finite.

    The fused one takes some rows of NaN or infinite scores for rows without a visible key, and
    gives zeros, as the number of keys is (seen in 2.13).
    """
    tensors = [each for each in operands if each is not None]
    if all(bool(each.isfinite().all()) for each in tensors):
        return nullcontext()
    plain: AbstractContextManager[None] = sdpa_kernel(SDPBackend.MATH)
    return plain


def _visible(queries: int, keys: int, causal_mask: str | None, window_size: int | None) -> Tensor:
    """The mask (queries, keys): a band about a diagonal."""
    if causal_mask not in (None, "TopLeft", "BottomRight"):
        raise ValueError(f"causal_mask {causal_mask!r} is unknown")
    diagonal = abs(queries - keys) if causal_mask == "BottomRight" else 0
    seen = torch.ones(queries, keys, dtype=torch.bool)
    if causal_mask is not None:
        seen = seen.tril(diagonal)
    if window_size is not None:
        seen = seen.triu(diagonal - window_size + 1)
    return seen


@source("nn.attention")
def _attention_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    query, key, value, *rest = operands
    bias = rest[0].name if rest else None
    lines = [_by_head([each.name for each in (query, key, value)])]
    lines += _shared_heads(query, key, value)
    queries, keys = query.shape[1], key.shape[1]
    lines += _masked(node, str(queries), str(keys), f"{abs(queries - keys)}", bias)
    return [*lines, *assigned(result, _attended(node, bias))]


@source("nn.attention_var_len")
def _attention_var_len_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    query, key, value, starts_q, _, starts_k, _ = operands
    parts = [f"{query.name}[:, q0:q1]", f"{key.name}[:, k0:k1]", f"{value.name}[:, k0:k1]"]
    body = [
        _by_head(parts),
        *_shared_heads(query, key, value),
        *_masked(node, "q1 - q0", "k1 - k0", "abs((q1 - q0) - (k1 - k0))", None),
        f"{result.name}[:, q0:q1] = {_attended(node, None)}",
    ]
    return [
        f"{result.name} = torch.zeros({result.shape}, dtype=torch.float64)",
        f"q_starts, k_starts = {starts_q.name}.tolist(), {starts_k.name}.tolist()",
        "for q0, q1, k0, k1 in zip(q_starts, q_starts[1:], k_starts, k_starts[1:]):",
        *(f"    {line}" for line in body),
    ]


def _by_head(names: Sequence[str]) -> str:
    return f"q, k, v = (each.transpose(1, 2) for each in ({', '.join(names)}))"


def _shared_heads(query: Value, key: Value, value: Value) -> list[str]:
    return [
        f"{name} = {name}.repeat_interleave({query.shape[2] // tensor.shape[2]}, dim=1)"
        for name, tensor in (("k", key), ("v", value))
        if tensor.shape[2] != query.shape[2]
    ]


def _masked(node: Node, queries: str, keys: str, shift: str, bias: str | None) -> list[str]:
    """Lines that make ``mask``, where PyTorch's own causal mask will not do."""
    attributes = node.attributes
    window = attributes.get("window_size")
    if window is None and (attributes.get("causal_mask") is None or _is_built_in(node, bias)):
        return []
    diagonal = shift if attributes.get("causal_mask") == "BottomRight" else "0"
    mask = f"torch.ones({queries}, {keys}, dtype=torch.bool)"
    if attributes.get("causal_mask") is not None:
        mask += f".tril({'' if diagonal == '0' else diagonal})"
    if window is not None:
        least = _sum(diagonal, 1 - int(str(window)))
        mask += f".triu({'' if least == '0' else least})"
    lines = [f"mask = {mask}"]
    if bias is not None:
        lines.append(f"mask = torch.where(mask, {bias}, -torch.inf)")
    return lines


def _sum(left: str, right: int) -> str:
    if left.isdecimal():
        return str(int(left) + right)
    return f"{left} {'-' if right < 0 else '+'} {abs(right)}" if right else left


def _is_built_in(node: Node, bias: str | None) -> bool:
    attributes = node.attributes
    alone = attributes.get("window_size") is None and bias is None
    return alone and attributes.get("causal_mask") == "TopLeft"


def _attended(node: Node, bias: str | None) -> str:
    attributes = node.attributes
    masked = attributes.get("causal_mask") is not None or attributes.get("window_size") is not None
    built_in = _is_built_in(node, bias)
    mask = "mask" if masked and not built_in else bias
    call = call_text(
        "F.scaled_dot_product_attention",
        *("q", "k", "v"),
        attn_mask=mask,
        is_causal=True if built_in else None,
        scale=attributes.get("scale"),
    )
    return f"{call}.transpose(1, 2)"
