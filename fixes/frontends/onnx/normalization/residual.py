"""The normalizations of com.microsoft that add their operands first.

TVM has SkipLayerNormalization with both optional inputs alone, gives 0 for its mean and for one
over its standard deviation, and lacks the sum, which both operators have as an output. It reads
sizes of EmbedLayerNormalization as numbers. Source: ONNX Runtime's documentation of contributed
operators.
"""

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.framework.probes import Array
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.normalization import statistics
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr

UPSTREAM = NewFile("relax/frontend/onnx/residual.py")

_EPSILON = 1e-12


def skip_layer_normalization(node: Node) -> Expr:
    """The sum of data, skip and bias, normalized along the last axis; its statistics; the sum.

    Raises:
        ValueError: a required input is left out.
        OpNotImplemented: the data are no floats.
    """
    data, skip = operands.required(node, 0, "input"), operands.required(node, 1, "skip")
    total = node.emit(relax.op.add(data, skip))
    bias = operands.optional(node, 4, "bias")
    if bias is not None:
        total = node.emit(relax.op.add(total, bias))
    gamma, beta = operands.required(node, 2, "gamma"), operands.optional(node, 3, "beta")
    result, mean, inverse = _normalized(node, total, gamma, beta)
    return _chosen(node, result, mean, inverse, total)


def embed_layer_normalization(node: Node) -> Expr:
    """The sum of the embeddings of words, places and segments, normalized; the lengths; the sum.

    Raises:
        ValueError: a required input is left out.
        OpNotImplemented: the embeddings are no floats.
    """
    ids = operands.required(node, 0, "input_ids")
    rows, length = tvm_api.shape_of(ids)
    words = operands.required(node, 2, "word_embedding")
    total = node.emit(relax.op.take(words, ids, axis=0))
    places = operands.required(node, 3, "position_embedding")
    position_ids = operands.optional(node, 8, "position_ids")
    if position_ids is None:
        position_ids = node.emit(relax.op.arange(0, length, 1, "int64"))
    total = node.emit(relax.op.add(total, node.emit(relax.op.take(places, position_ids, axis=0))))
    segment_ids = operands.optional(node, 1, "segment_ids")
    if segment_ids is not None:
        segments = operands.required(node, 4, "segment_embedding")
        chosen = node.emit(relax.op.take(segments, segment_ids, axis=0))
        total = node.emit(relax.op.add(total, chosen))
    gamma, beta = operands.required(node, 5, "gamma"), operands.required(node, 6, "beta")
    result, _, _ = _normalized(node, total, gamma, beta)
    mask = operands.optional(node, 7, "mask")
    if mask is None:
        index = node.emit(relax.op.zeros(relax.ShapeExpr([rows]), "int32"))
    else:
        counted = relax.op.equal(mask, tvm_api.const(np.array(1, np.int32)))
        index = node.emit(relax.op.sum(relax.op.astype(counted, "int32"), axis=[1]))
    return _chosen(node, result, index, total)


def _normalized(node: Node, total: Expr, gamma: Expr, beta: Expr | None) -> tuple[Expr, Expr, Expr]:
    """``total`` normalized along the last axis, its mean, and one over its deviation."""
    dtype = statistics.floats(node, "input", total)
    epsilon = operands.decimal(node, "epsilon", _EPSILON)
    wide = operands.widened(node, total, operands.inner_dtype(dtype))
    mean, variance, difference = statistics.centered(node, wide, [operands.rank_of(total) - 1])
    inverse = statistics.inverse_deviation(node, variance, epsilon)
    result = operands.widened(node, node.emit(relax.op.multiply(difference, inverse)), dtype)
    result = statistics.scaled(node, result, gamma, beta)
    further = [operands.widened(node, value, "float32") for value in (mean, inverse)]
    return result, further[0], further[1]


def _chosen(node: Node, *values: Expr) -> Expr:
    """The first of ``values``: as many as the node has outputs."""
    return values[0] if node.outputs == 1 else relax.Tuple(values[: node.outputs])


CONVERSIONS: dict[str, Convert] = {
    "SkipLayerNormalization": skip_layer_normalization,
    "EmbedLayerNormalization": embed_layer_normalization,
}

_DOMAIN = "com.microsoft"


def _lacks_sum() -> bool:
    """True if data and skip are not added to be the fourth output."""
    ones = np.ones(2, np.float32)
    inputs = {"input": np.array([[[1, 2]]], np.float32), "skip": np.array([[[0, 1]]], np.float32)}
    inputs |= {"gamma": ones, "beta": ones, "bias": ones}
    model = node_model("SkipLayerNormalization", inputs, 17, outputs=4, domain=_DOMAIN)
    expected = [[[0, 2]]], [[[3]]], [[[1]]], [[[2, 4]]]
    return fails(model, list(inputs.values()), [np.array(each, np.float32) for each in expected])


def _lacks_embeddings() -> bool:
    """True if the sum of embeddings is not the third output."""
    table, ones = np.array([[0, 1], [2, 5]], np.float32), np.ones(2, np.float32)
    inputs: dict[str, Array | None] = {
        "input_ids": np.array([[1]], np.int32),
        "segment_ids": None,
        "word_embedding": table,
        "position_embedding": table,
        "segment_embedding": None,
        "gamma": ones,
        "beta": ones,
    }
    model = node_model("EmbedLayerNormalization", inputs, 17, outputs=3, domain=_DOMAIN)
    expected = [np.array([[[0, 2]]], np.float32), np.zeros(1, np.int32)]
    expected.append(np.array([[[2, 6]]], np.float32))
    return fails(model, [each for each in inputs.values() if each is not None], expected)


FIX = Fix(
    name="onnx_residual_normalization",
    operators=tuple(CONVERSIONS),
    fault=(
        "SkipLayerNormalization and EmbedLayerNormalization of ONNX models lack outputs, and fail"
        " where optional inputs are left out or sizes are symbols"
    ),
    issue=None,
    parts=(FaultPart("skip", _lacks_sum), FaultPart("embeddings", _lacks_embeddings)),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_layer_normalization",
    patch=patch(CONVERSIONS),
)
