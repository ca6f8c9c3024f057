"""ONNX's InstanceNormalization, GroupNormalization, and normalizations without parameters.

TVM imports groups of float32 alone before opset 21; computes a variance as a difference of squares,
which may be negative; mixes float32 into other dtypes; takes an even number of nearby channels for
an odd one; and lacks LpNormalization.
"""

from collections.abc import Sequence

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.computing import computed, filled, within
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.normalization import statistics
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/onnx/group_normalization.py")

_EPSILON = 1e-5
_SCALES_BY_CHANNEL = 21
"""The opset from which GroupNormalization has a scale for each channel, not for each group."""


def _inner(node: Node, data: Expr, least: int) -> tuple[Expr, str]:
    """``data`` in the dtype of the computation, and their own dtype."""
    dtype = statistics.floats(node, "X", data)
    if operands.rank_of(data) < least:
        shape = tvm_api.show(tvm_api.shape_of(data))
        why = f"it must have {least} dimensions or more"
        raise invalid(node.operator, why, **{"shape of X": shape})
    return operands.widened(node, data, operands.inner_dtype(dtype)), dtype


def instance_normalization(node: Node) -> Expr:
    """Each channel of each instance, normalized on its own.

    Raises:
        ValueError: a shape is invalid.
        OpNotImplemented: the data are no floats.
    """
    data, dtype = _inner(node, operands.required(node, 0, "input"), 3)
    rank = operands.rank_of(data)
    _, variance, difference = statistics.centered(node, data, list(range(2, rank)))
    inverse = statistics.inverse_deviation(
        node, variance, operands.decimal(node, "epsilon", _EPSILON)
    )
    result = node.emit(relax.op.multiply(difference, inverse))
    scale, bias = (
        statistics.of_channels(
            node,
            operands.widened(node, operands.required(node, index, name), tvm_api.dtype_of(data)),
            rank,
        )
        for index, name in ((1, "scale"), (2, "B"))
    )
    return operands.widened(node, statistics.scaled(node, result, scale, bias), dtype)


def group_normalization(node: Node) -> Expr:
    """The channels of each group, normalized together.

    Raises:
        ValueError: an attribute or a shape is invalid.
        OpNotImplemented: the data are no floats, or the number of channels is not known.
    """
    data, dtype = _inner(node, operands.required(node, 0, "X"), 2)
    dims = tvm_api.shape_of(data)
    channels, groups = tvm_api.as_int(dims[1]), node.attribute("num_groups")
    if channels is None:
        raise refuse(node.operator, **{"shape of X": tvm_api.show(dims)})
    if groups is None or groups < 1 or channels % groups:
        why = f"it must divide the number of channels, {channels}"
        raise invalid(node.operator, why, num_groups=groups)
    each = channels // groups
    split = [dims[0], groups, each, *dims[2:]]
    apart = operands.reshaped(node, data, split)
    _, variance, difference = statistics.centered(node, apart, list(range(2, len(split))))
    inverse = statistics.inverse_deviation(
        node, variance, operands.decimal(node, "epsilon", _EPSILON)
    )
    result = operands.reshaped(node, node.emit(relax.op.multiply(difference, inverse)), dims)
    weights = []
    for index, name in ((1, "scale"), (2, "bias")):
        value = operands.widened(node, operands.required(node, index, name), tvm_api.dtype_of(data))
        if node.opset < _SCALES_BY_CHANNEL:
            value = node.emit(relax.op.repeat(value, each, 0))
        weights.append(statistics.of_channels(node, value, len(dims)))
    return operands.widened(node, statistics.scaled(node, result, weights[0], weights[1]), dtype)


def mean_variance_normalization(node: Node) -> Expr:
    """The data less their mean, over their standard deviation plus 1e-9.

    Raises:
        ValueError: there is no such axis.
        OpNotImplemented: the data are no floats.
    """
    data, dtype = _inner(node, operands.required(node, 0, "X"), 1)
    rank = operands.rank_of(data)
    axes = operands.normalized_axes(node, node.attribute("axes", (0, 2, 3)), rank)
    _, variance, difference = statistics.centered(node, data, axes)
    shift = tvm_api.const(np.array(1e-9, tvm_api.dtype_of(data)))
    deviation = relax.op.add(relax.op.sqrt(variance), shift)
    return operands.widened(node, node.emit(relax.op.divide(difference, deviation)), dtype)


def local_response_normalization(node: Node) -> Expr:
    """The data over a power of the sum of squares in nearby channels.

    Raises:
        ValueError: an attribute or a shape is invalid.
        OpNotImplemented: the data are no floats.
    """
    data, dtype = _inner(node, operands.required(node, 0, "X"), 2)
    inner = tvm_api.dtype_of(data)
    size = node.attribute("size")
    if size is None or size < 1:
        raise invalid(node.operator, "it must be 1 or more", size=size)
    alpha, beta, bias = (
        operands.decimal(node, name, default)
        for name, default in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0))
    )
    below = (size - 1) // 2

    def compute(source: Tensor) -> Tensor:
        near = te.reduce_axis((0, tvm_api.integer(size)), "near")

        def squares(indices: Sequence[PrimExpr]) -> PrimExpr:
            channel = indices[1] + near.var - tvm_api.integer(below)
            value = source[(indices[0], channel, *indices[2:])]
            inside = within(channel, source.shape[1])
            zero = tirx.const(0, inner)
            return te.sum(tirx.if_then_else(inside, value * value, zero), axis=near)

        total = filled(source.shape, squares, "squares")

        def element(indices: Sequence[PrimExpr]) -> PrimExpr:
            place = tuple(indices)
            base = tirx.const(bias, inner) + tirx.const(alpha / size, inner) * total[place]
            return source[place] / tirx.power(base, tirx.const(beta, inner))

        return filled(source.shape, element, "normalized")

    return operands.widened(node, computed(node, compute, data), dtype)


def lp_normalization(node: Node) -> Expr:
    """The data over their norm along an axis; zeros where that is zero.

    Raises:
        ValueError: an attribute or a shape is invalid.
        OpNotImplemented: the data are no floats.
    """
    data, dtype = _inner(node, operands.required(node, 0, "input"), 1)
    axis = int(node.attribute("axis", -1))
    axis = operands.normalized(node, "axis", axis, operands.rank_of(data))
    power = node.attribute("p", 2)
    if power not in (1, 2):
        raise invalid(node.operator, "it must be 1 or 2", p=power)
    if power == 1:
        norm = relax.op.sum(node.emit(relax.op.abs(data)), [axis], True)
    else:
        norm = relax.op.sqrt(relax.op.sum(node.emit(relax.op.multiply(data, data)), [axis], True))
    norm = node.emit(norm)
    zero, one = (tvm_api.const(np.array(value, tvm_api.dtype_of(data))) for value in (0, 1))
    divisor = node.emit(relax.op.where(relax.op.equal(norm, zero), one, norm))
    return operands.widened(node, node.emit(relax.op.divide(data, divisor)), dtype)


CONVERSIONS: dict[str, Convert] = {
    "InstanceNormalization": instance_normalization,
    "GroupNormalization": group_normalization,
    "MeanVarianceNormalization": mean_variance_normalization,
    "LRN": local_response_normalization,
    "LpNormalization": lp_normalization,
}


def _mistakes_even_sizes() -> bool:
    """True if of an even number of channels one too many, or the wrong one, is taken."""
    data = np.array([[[1], [2], [4]]], np.float32)
    model = node_model("LRN", {"X": data}, 13, size=2, alpha=2.0, beta=1.0, bias=0.0)
    squares = np.array([[[1 + 4], [4 + 16], [16]]], np.float32)
    return fails(model, [data], [data / squares])


def _lacks_float64() -> bool:
    """True if float64 is not normalized without parameters."""
    data = np.array([[1.0], [3.0]])
    model = node_model("MeanVarianceNormalization", {"X": data}, 13, axes=[0])
    return fails(model, [data], [np.array([[-1.0], [1.0]])])


def _lacks_norms() -> bool:
    """True if the data are not divided by their norm."""
    data = np.array([[3, 4], [0, 0]], np.float32)
    model = node_model("LpNormalization", {"input": data}, 22)
    return fails(model, [data], [np.array([[0.6, 0.8], [0, 0]], np.float32)])


FIX = Fix(
    name="onnx_group_normalization",
    operators=tuple(CONVERSIONS),
    fault=(
        "ONNX's LRN takes an even number of channels for an odd one; MeanVarianceNormalization and"
        " GroupNormalization fail outside float32; LpNormalization is not imported"
    ),
    issue=None,
    parts=(
        FaultPart("even sizes", _mistakes_even_sizes),
        FaultPart("float64", _lacks_float64),
        FaultPart("norms", _lacks_norms),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_batch_normalization",
    patch=patch(CONVERSIONS),
)
