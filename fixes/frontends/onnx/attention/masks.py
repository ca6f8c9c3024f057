"""Keys that a query does not attend to, by a mask or by their positions."""

import math

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import invalid
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.attention import heads
from relaxcheck.fixes.frontends.onnx.converting import Node
from relaxcheck.fixes.frontends.onnx.elementwise.numbers import cast, constant
from relaxcheck.fixes.tvm_api import Expr, PrimExpr

UPSTREAM = NewFile("relax/frontend/onnx/attention_masks.py")

_MASK, _PAST, _VALID = 3, 4, 6
"""Numbers of inputs."""


def masked(node: Node, scores: Expr, dtype: str) -> Expr:
    """``scores`` plus the mask; -infinity where a mask of truth values is false."""
    if node.input(_MASK) is None:
        return scores
    mask = _of_all_keys(
        node, operands.required(node, _MASK, "attn_mask"), tvm_api.shape_of(scores)[3]
    )
    lowest = constant(-math.inf, dtype)
    kind = tvm_api.dtype_of(mask)
    if kind == "bool":
        return node.emit(relax.op.where(mask, scores, lowest))
    mask = node.emit(cast(mask, kind, dtype))
    # The sum of two infinities would be NaN.
    total = relax.op.add(scores, mask)
    return node.emit(relax.op.where(relax.op.equal(mask, lowest), lowest, total))


def _of_all_keys(node: Node, mask: Expr, keys: PrimExpr) -> Expr:
    """``mask`` for all ``keys``: it may end before them, and the rest is excluded."""
    shape = tvm_api.shape_of(mask)
    if not shape or tvm_api.proves_equal(shape[-1], keys):
        return mask
    last, total = tvm_api.as_int(shape[-1]), tvm_api.as_int(keys)
    if last is None or total is None:
        # The model says by other symbols that they are as many.
        wanted = tvm_api.tensor_type([*shape[:-1], keys], tvm_api.dtype_of(mask))
        return node.builder.match_cast(mask, wanted)
    if last > total:
        raise invalid(node.operator, f"there are {total} keys", attn_mask=tvm_api.show(shape))
    excluded = False if tvm_api.dtype_of(mask) == "bool" else -math.inf
    value = relax.const(excluded, tvm_api.dtype_of(mask))
    rest = relax.op.broadcast_to(value, [*shape[:-1], total - last])
    return node.emit(relax.op.concat([mask, node.emit(rest)], axis=len(shape) - 1))


def within_reach(node: Node, scores: Expr, dtype: str) -> Expr:
    """``scores``, -infinity for keys too far before or after a query, or behind the last one."""
    conditions = _conditions(node, scores)
    if not conditions:
        return scores
    allowed = conditions[0]
    for condition in conditions[1:]:
        allowed = node.emit(relax.op.logical_and(allowed, condition))
    return node.emit(relax.op.where(allowed, scores, constant(-math.inf, dtype)))


def _conditions(node: Node, scores: Expr) -> list[Expr]:
    batch, _, queries, keys = tvm_api.shape_of(scores)
    key = heads.positions(node, keys, 1, keys)
    query = heads.positions(node, queries, queries, 1)
    conditions = []
    if node.input(_VALID) is not None:
        valid = operands.required(node, _VALID, "nonpad_kv_seqlen")
        valid = node.emit(relax.op.reshape(valid, (batch, 1, 1, 1)))
        conditions.append(node.emit(relax.op.less(key, valid)))
        query = node.emit(query + valid - heads.size(node, queries))
    elif node.input(_PAST) is not None:
        past = tvm_api.shape_of(operands.required(node, _PAST, "past_key"))[2]
        query = node.emit(relax.op.add(query, heads.size(node, past)))
    if node.attribute("is_causal", 0):
        conditions.append(node.emit(relax.op.less_equal(key, query)))
    for name, first, second in (
        ("left_window_size", query, key),
        ("right_window_size", key, query),
    ):
        reach = node.attribute(name, -1)
        if reach < -1:
            raise invalid(node.operator, "it must be -1 or more", **{name: reach})
        if reach >= 0:
            distance = relax.op.subtract(first, second)
            conditions.append(node.emit(relax.op.less_equal(distance, constant(reach, "int64"))))
    return conditions
