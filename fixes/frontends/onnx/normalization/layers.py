"""ONNX's LayerNormalization and RMSNormalization.

TVM gives 0 for the mean and for one over the standard deviation, which are outputs too; takes
scales of the last axis for all axes; and does not import float16 in its own precision.
"""

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.normalization import statistics
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr

UPSTREAM = NewFile("relax/frontend/onnx/layers.py")

_EPSILON = 1e-5


def _whole(data: Expr, axis: int, *weights: Expr | None) -> bool:
    """True if ``weights`` are of float32 and exactly as large as the last axes of ``data``."""
    dims = [tvm_api.as_int(dim) for dim in tvm_api.shape_of(data)[axis:]]
    if None in dims or 0 in dims or tvm_api.dtype_of(data) != "float32":
        return False
    present = [weight for weight in weights if weight is not None]
    return all(
        [tvm_api.as_int(dim) for dim in tvm_api.shape_of(weight)] == dims
        and tvm_api.dtype_of(weight) == "float32"
        for weight in present
    )


def layer_normalization(node: Node) -> Expr:
    """The data less their mean, over their standard deviation, and both of these if they are used.

    Raises:
        ValueError: an attribute or a shape is invalid.
        OpNotImplemented: the data are no floats.
    """
    data, scale = operands.required(node, 0, "X"), operands.required(node, 1, "Scale")
    bias = operands.optional(node, 2, "B")
    dtype = statistics.floats(node, "X", data)
    rank = operands.rank_of(data)
    axis = operands.normalized(node, "axis", int(node.attribute("axis", -1)), rank)
    axes = list(range(axis, rank))
    epsilon = operands.decimal(node, "epsilon", _EPSILON)
    stash = statistics.stash_dtype(node)
    if node.outputs == 1 and _whole(data, axis, scale, bias):
        dims = [int(dim) for dim in tvm_api.shape_of(scale)]
        zeros = tvm_api.const(np.zeros(dims, np.float32)) if bias is None else bias
        return node.emit(relax.op.nn.layer_norm(data, scale, zeros, axes, epsilon))
    inner = operands.inner_dtype(dtype if dtype == "float64" else stash)
    wide = operands.widened(node, data, inner)
    mean, variance, difference = statistics.centered(node, wide, axes)
    inverse = statistics.inverse_deviation(node, variance, epsilon)
    result = node.emit(relax.op.multiply(difference, inverse))
    result = operands.widened(node, result, dtype)
    result = statistics.scaled(node, result, scale, bias)
    if node.outputs == 1:
        return result
    further = [operands.widened(node, value, stash) for value in (mean, inverse)]
    return relax.Tuple([result, *further])


def rms_normalization(node: Node) -> Expr:
    """The data over the root of the mean of their squares.

    Raises:
        ValueError: an attribute or a shape is invalid.
        OpNotImplemented: the data are no floats.
    """
    data, scale = operands.required(node, 0, "X"), operands.required(node, 1, "scale")
    dtype = statistics.floats(node, "X", data)
    rank = operands.rank_of(data)
    axis = operands.normalized(node, "axis", int(node.attribute("axis", -1)), rank)
    axes = list(range(axis, rank))
    epsilon = operands.decimal(node, "epsilon", _EPSILON)
    stash = statistics.stash_dtype(node)
    if _whole(data, axis, scale):
        return node.emit(relax.op.nn.rms_norm(data, scale, axes, epsilon))
    wide = operands.widened(
        node, data, operands.inner_dtype(dtype if dtype == "float64" else stash)
    )
    squares = node.emit(relax.op.multiply(wide, wide))
    mean = node.emit(relax.op.mean(squares, axes, True))
    inverse = statistics.inverse_deviation(node, mean, epsilon)
    result = node.emit(relax.op.multiply(wide, inverse))
    # The scale decides the dtype of the output.
    result = operands.widened(node, result, tvm_api.dtype_of(scale))
    return statistics.scaled(node, result, scale, None)


CONVERSIONS: dict[str, Convert] = {
    "LayerNormalization": layer_normalization,
    "RMSNormalization": rms_normalization,
}

_DATA = np.array([[1, 3]], np.float32)


def _loses_statistics() -> bool:
    """True if the mean and one over the standard deviation are not computed."""
    inputs = {"X": _DATA, "Scale": np.ones(2, np.float32)}
    model = node_model("LayerNormalization", inputs, 17, outputs=3)
    expected = [np.array([[-1, 1]], np.float32), np.array([[2]], np.float32)]
    return fails(model, list(inputs.values()), [*expected, np.array([[1]], np.float32)])


def _lacks_scalar_scales() -> bool:
    """True if a scale for all elements, of both axes, is not taken."""
    inputs = {"X": _DATA, "scale": np.full(1, 2, np.float32)}
    model = node_model("RMSNormalization", inputs, 23, axis=0)
    return fails(model, list(inputs.values()), [2 * _DATA / np.sqrt(np.float32(5))])


FIX = Fix(
    name="onnx_layer_normalization",
    operators=tuple(CONVERSIONS),
    fault=(
        "ONNX's LayerNormalization gives 0 as the mean and as one over the deviation, and, as"
        " RMSNormalization does, fails on scales that broadcast"
    ),
    issue=None,
    parts=(
        FaultPart("statistics", _loses_statistics),
        FaultPart("scales that broadcast", _lacks_scalar_scales),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_reductions",
    patch=patch(CONVERSIONS),
)
