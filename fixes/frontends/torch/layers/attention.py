"""Attention of PyTorch programs that are not decomposed, with its scale, masks and groups."""

import math
from functools import partial
from typing import Any

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.torch.probing import differs
from relaxcheck.fixes.tvm_api import Expr

UPSTREAM = NewFile("relax/frontend/torch/attention.py")

_RANK = 4
"""The rank of the operands of Relax's attention: batch, length, heads, size of a head."""


def convert_attention(node: Node) -> Expr:
    """The values weighted by the softmax of scaled products of queries and keys.

    A query of which nothing is left by the mask has the result 0.

    Raises:
        OpNotImplemented: there is dropout.
    """
    if node.argument("dropout_p"):
        raise refuse(node.operator, dropout_p=node.argument("dropout_p"))
    query, key, value = (node.argument(name) for name in ("query", "key", "value"))
    if node.argument("enable_gqa"):
        key, value = (_repeated(node, each, query) for each in (key, value))
    bias = _bias(node)
    if _has_operator(query, key, value, bias):
        result = _by_operator(node, query, key, value, bias)
    else:
        result = _by_products(node, query, key, value, bias)
    if bias is None:
        return result
    # TVM's maximum of minus infinities is the lowest finite number.
    nothing = relax.const(-math.inf, tvm_api.dtype_of(bias))
    is_left = operands.cast(node, node.emit(relax.op.not_equal(bias, nothing)), "int8")
    some = operands.cast(node, node.emit(relax.op.max(is_left, [-1], keepdims=True)), "bool")
    return node.emit(relax.op.where(some, result, relax.const(0, node.dtype)))


def _repeated(node: Node, tensor: Expr, query: Expr) -> Expr:
    """``tensor`` with as many heads as ``query``, each as often as it has queries."""
    heads, wanted = (tvm_api.as_int(tvm_api.shape_of(each)[-3]) for each in (tensor, query))
    if not heads or wanted is None:
        raise refuse(node.operator, heads=tvm_api.shape_of(tensor)[-3])
    if heads == wanted:
        return tensor
    return node.emit(relax.op.repeat(tensor, wanted // heads, operands.rank_of(tensor) - 3))


def _bias(node: Node) -> Expr | None:
    """The mask as a summand of the products: 0 where it is true, else minus infinity."""
    mask = node.argument("attn_mask")
    if mask is None or tvm_api.dtype_of(mask) != "bool":
        return mask
    none, all_ = (relax.const(value, node.dtype) for value in (-math.inf, 0))
    return node.emit(relax.op.where(mask, all_, none))


def _has_operator(query: Expr, key: Expr, value: Expr, bias: Expr | None) -> bool:
    """True if Relax's attention takes the operands: it does not broadcast, and takes no size 0."""
    shapes = [tvm_api.shape_of(each) for each in (query, key, value)]
    rank = len(shapes[0])
    if any(len(shape) != rank for shape in shapes) or rank > _RANK:
        return False
    if bias is not None and operands.rank_of(bias) > rank:
        return False
    if any(tvm_api.as_int(dim) == 0 for shape in shapes for dim in shape):
        # Its lowering divides by sizes.
        return False
    return all(
        tvm_api.proves_equal(dim, first)
        for shape in shapes[1:]
        for dim, first in zip(shape[:-2], shapes[0][:-2], strict=True)
    )


def _by_operator(node: Node, query: Expr, key: Expr, value: Expr, bias: Expr | None) -> Expr:
    """The result of Relax's attention, of tensors with the heads before the length."""
    missing = list(range(_RANK - operands.rank_of(query)))

    def turned(tensor: Expr) -> Expr:
        return node.emit(relax.op.permute_dims(tensor, [0, 2, 1, 3]))

    def widened(tensor: Expr) -> Expr:
        added = list(range(_RANK - operands.rank_of(tensor)))
        return node.emit(relax.op.expand_dims(tensor, added)) if added else tensor

    result = relax.op.nn.attention(
        *(turned(widened(each)) for each in (query, key, value)),
        bias=None if bias is None else widened(bias),
        scale=node.argument("scale"),
        causal_mask="TopLeft" if node.argument("is_causal") else None,
    )
    back = turned(node.emit(result))
    return node.emit(relax.op.squeeze(back, missing)) if missing else back


def _by_products(node: Node, query: Expr, key: Expr, value: Expr, bias: Expr | None) -> Expr:
    """The same of products, softmax and sums, whose batches and heads broadcast."""
    inner = operands.inner_dtype(node.dtype)
    query, key, value = (operands.cast(node, each, inner) for each in (query, key, value))
    scale = node.argument("scale")
    if scale is None:
        size = tvm_api.as_int(tvm_api.shape_of(query)[-1])
        if not size:
            raise refuse(node.operator, query=tvm_api.show_type(tvm_api.type_of(query)))
        scale = 1 / math.sqrt(size)
    axes = list(range(operands.rank_of(key)))
    turned = node.emit(relax.op.permute_dims(key, [*axes[:-2], axes[-1], axes[-2]]))
    scaled = node.emit(relax.op.multiply(query, relax.const(scale, inner)))
    scores = node.emit(relax.op.matmul(scaled, turned, out_dtype=inner))
    if node.argument("is_causal"):
        ones = node.emit(relax.op.ones_like(scores, "int8"))
        before = node.emit(relax.op.astype(node.emit(relax.op.tril(ones)), "bool"))
        scores = node.emit(relax.op.where(before, scores, relax.const(-math.inf, inner)))
    if bias is not None:
        scores = node.emit(relax.op.add(scores, operands.cast(node, bias, inner)))
    weights = node.emit(relax.op.nn.softmax(scores, -1))
    result = node.emit(relax.op.matmul(weights, value, out_dtype=inner))
    return operands.cast(node, result, node.dtype)


CONVERSIONS: dict[str, Convert] = {
    "scaled_dot_product_attention.default": convert_attention,
}

_DATA = np.sin(np.arange(24, dtype=np.float32) * 7).reshape(1, 4, 3, 2)


def _misreads(mask: Any = None, heads: int = 4, **keywords: Any) -> bool:
    few = _DATA[:, :heads]
    name = "scaled_dot_product_attention.default"
    return differs(name, _DATA, few, few, mask, **keywords)


FIX = Fix(
    name="torch_attention",
    operators=tuple(CONVERSIONS),
    fault="the importer drops the scale of attention, and masks of bools and groups are refused",
    issue=None,
    parts=(
        FaultPart("scale", partial(_misreads, scale=0.125)),
        FaultPart("groups", partial(_misreads, heads=2, enable_gqa=True)),
        FaultPart("masks", partial(_misreads, np.array([[True, False, True]]))),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="torch_products",
    patch=patch(CONVERSIONS),
)
