"""Attention of ONNX's own domain, in which TVM sees com.microsoft's, and that of the latter.

It is computed in float32, or in float64 if an operand is, and rounded at the end. Keys that a mask
or a position excludes have the score -infinity; a query without keys has the probabilities 0.
"""

import math
from typing import Any

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.attention import heads, packed
from relaxcheck.fixes.frontends.onnx.attention.masks import masked, within_reach
from relaxcheck.fixes.frontends.onnx.casting.formats import required
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.elementwise.numbers import cast, constant
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr

UPSTREAM = NewFile(
    "relax/frontend/onnx/attention.py",
    "Attention of ONNX's own domain, of all inputs, outputs and attributes.",
)

_RAW, _CAPPED, _MASKED, _NORMALIZED = range(4)
"""Values of qk_matmul_output_mode."""


def _attention(node: Node) -> Expr:
    if "num_heads" in node.attributes:
        # The operator of com.microsoft.
        return packed.attention(node)
    if node.opset < 23:
        raise refuse(node.operator, opset=node.opset)
    query, key, value = (operands.required(node, index, name) for index, name in enumerate("QKV"))
    dtypes = [tvm_api.dtype_of(each) for each in (query, key, value)]
    joined = len(tvm_api.shape_of(query)) == 3
    query = heads.split(node, query, "q_num_heads")
    key, value = (heads.split(node, each, "kv_num_heads") for each in (key, value))
    keys, values = _with_past(node, key, 4), _with_past(node, value, 5)
    inner = "float64" if "float64" in dtypes else "float32"
    q, k, v = (
        node.emit(cast(each, dtype, inner))
        for each, dtype in zip((query, keys, values), dtypes, strict=True)
    )
    scores, probabilities = _scores(node, q, k, inner)
    y = node.emit(cast(_product(node, probabilities, v), inner, dtypes[0]))
    outputs = [heads.joined(node, y) if joined else y, keys, values]
    if node.outputs == 1:
        return outputs[0]
    outputs.append(node.emit(cast(scores, inner, dtypes[0])))
    return relax.Tuple(outputs)


def _with_past(node: Node, value: Expr, index: int) -> Expr:
    if node.input(index) is None:
        return value
    past = operands.required(node, index, "past")
    return node.emit(relax.op.concat([past, value], axis=2))


def _scores(node: Node, query: Expr, key: Expr, dtype: str) -> tuple[Expr, Expr]:
    """The output of scores that the mode asks for, and the probabilities."""
    mode = node.attribute("qk_matmul_output_mode", _RAW)
    if mode not in (_RAW, _CAPPED, _MASKED, _NORMALIZED):
        raise invalid(node.operator, "it must be 0, 1, 2 or 3", qk_matmul_output_mode=mode)
    scaled = node.emit(relax.op.multiply(query, _scale(node, query, dtype)))
    turned = node.emit(relax.op.permute_dims(key, [0, 1, 3, 2]))
    raw = _product(node, scaled, turned)
    capped = _capped(node, raw, dtype)
    bounded = within_reach(node, masked(node, capped, dtype), dtype)
    probabilities = _normalized(node, bounded, dtype)
    return (raw, capped, bounded, probabilities)[mode], probabilities


def _scale(node: Node, query: Expr, dtype: str) -> Expr:
    scale = node.attribute("scale")
    features = tvm_api.shape_of(query)[3]
    known = tvm_api.as_int(features)
    if scale is None and known is None:
        root = relax.op.sqrt(relax.op.astype(heads.size(node, features), dtype))
        return relax.op.divide(constant(1.0, dtype), root)
    if scale is None:
        scale = 1 / math.sqrt(max(known or 0, 1))
    return constant(float(scale), dtype)


def _capped(node: Node, scores: Expr, dtype: str) -> Expr:
    cap = float(node.attribute("softcap", 0.0))
    if cap <= 0:
        return scores
    limit = constant(cap, dtype)
    return node.emit(relax.op.multiply(limit, relax.op.tanh(relax.op.divide(scores, limit))))


def _product(node: Node, left: Expr, right: Expr) -> Expr:
    """The matrix products of each head of ``left`` with its head of ``right``.

    As many consecutive heads of ``left`` share one of ``right`` as there are more of them.
    """
    batch, many, rows, inner = tvm_api.shape_of(left)
    few, columns = (tvm_api.shape_of(right)[axis] for axis in (1, 3))
    if tvm_api.proves_equal(many, few):
        return node.emit(relax.op.matmul(left, right))
    numbers = tvm_api.as_int(many), tvm_api.as_int(few)
    if None in numbers or not numbers[1] or numbers[0] % numbers[1]:  # type: ignore[operator]
        why = f"there are {tvm_api.show(few)} heads of keys, which must divide those of queries"
        raise invalid(node.operator, why, heads=tvm_api.show(many))
    # Heads that share keys stand one below the other.
    stacked = relax.op.reshape(left, (batch, few, tvm_api.floordiv(many, few) * rows, inner))
    product = relax.op.matmul(node.emit(stacked), right)
    return node.emit(relax.op.reshape(node.emit(product), (batch, many, rows, columns)))


def _normalized(node: Node, scores: Expr, dtype: str) -> Expr:
    """The softmax of ``scores``, in the precision that the node asks for."""
    asked = node.attribute("softmax_precision", 0)
    precision = required(node.operator, "softmax_precision", asked) if asked else dtype
    inner = "float64" if "float64" in (dtype, precision) else "float32"
    values = node.emit(cast(cast(scores, dtype, precision), precision, inner))
    lowest, zero = constant(-math.inf, inner), constant(0.0, inner)
    largest = node.emit(relax.op.max(values, axis=[-1], keepdims=True))
    largest = node.emit(relax.op.where(relax.op.equal(largest, lowest), zero, largest))
    powers = node.emit(relax.op.exp(relax.op.subtract(values, largest)))
    total = node.emit(relax.op.sum(powers, axis=[-1], keepdims=True))
    divisor = relax.op.where(relax.op.equal(total, zero), constant(1.0, inner), total)
    result = node.emit(relax.op.divide(powers, divisor))
    return node.emit(cast(cast(result, inner, precision), precision, dtype))


CONVERSIONS: dict[str, Convert] = {"Attention": _attention}


def _attends() -> bool:
    query = np.array([[[[1, 2]], [[0, 1]]]], "float32")
    key = np.array([[[[1, 0], [0, 1], [5, 5]]]], "float32")
    value = np.array([[[[1], [2], [100]]]], "float32")
    inputs = {"Q": query, "K": key, "V": value, "mask": np.array([[True, True, False]])}
    weights = np.exp([[1, 2], [0, 1]])
    weights /= weights.sum(axis=1, keepdims=True)
    expected = (weights @ [1, 2]).reshape(1, 2, 1, 1).astype("float32")
    model = node_model("Attention", inputs, 23, scale=1.0)
    arrays: list[Any] = list(inputs.values())
    return not fails(model, arrays, [expected])


def _attends_to_the_past() -> bool:
    data, weights = np.ones((1, 1, 1), "float32"), np.array([[0, 0, 4]], "float32")
    past = np.array([0, 2], "float32").reshape(2, 1, 1, 1, 1)
    inputs: dict[str, Any] = {"input": data, "weights": weights, "bias": np.zeros(3, "float32")}
    inputs |= {"mask_index": None, "past": past}
    present = np.array([0, 0, 2, 4], "float32").reshape(2, 1, 1, 2, 1)
    model = node_model(
        "Attention", inputs, 17, outputs=2, num_heads=1, domain="com.microsoft", scale=0.5
    )
    fed: list[Any] = [each for each in inputs.values() if each is not None]
    return not fails(model, fed, [np.full((1, 1, 1), 3, "float32"), present])


FIX = Fix(
    name="onnx_attention",
    operators=tuple(CONVERSIONS),
    fault=(
        "Attention of ONNX models is taken for the operator of com.microsoft, which lacks the past,"
        " attributes, symbols as sizes and most forms of masks"
    ),
    issue=None,
    parts=(
        FaultPart("domain", lambda: not _attends()),
        FaultPart("past", lambda: not _attends_to_the_past()),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_quantization",
    patch=patch(CONVERSIONS),
)
