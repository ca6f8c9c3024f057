"""ONNX's ConvInteger, QLinearConv and QLinearMatMul, which TVM does not import.

Products are sums of int32. A quantized result is rounded half to even, moved by its zero point and
saturated.
"""

from collections.abc import Callable, Sequence

import numpy as np
from tvm import relax, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.framework.probes import Array
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.computing import broadcast, computed, filled
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.frontends.onnx.products.matrices import (
    less_zero_point,
    placed_along,
    product,
)
from relaxcheck.fixes.frontends.onnx.windows.convolution import biased, operands_of
from relaxcheck.fixes.frontends.onnx.windows.sliding import Indices, Read, convolved
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/onnx/quantized.py")

_QUANTIZED = ("int8", "uint8")
_SUMS = "int32"


def _checked(node: Node, name: str, value: Expr) -> Expr:
    """``value``, whose dtype is one of 8 bits.

    Raises:
        OpNotImplemented: it is another, such as a float of 8 bits.
    """
    dtype = tvm_api.dtype_of(value)
    if dtype not in _QUANTIZED:
        raise refuse(node.operator, **{f"dtype of {name}": dtype})
    return value


def _zero_point(node: Node, index: int, name: str, least: int = 1) -> Expr | None:
    """The zero point that is input number ``index``, a vector, or a tensor of more dimensions."""
    value = operands.optional(node, index, name)
    if value is None:
        return None
    _checked(node, name, value)
    if operands.rank_of(value) < least:
        return node.emit(relax.op.reshape(value, relax.ShapeExpr([1])))
    return value


def _read(tensor: Tensor, zero: Tensor | None) -> Read:
    """The elements of ``tensor`` less its zero point, which may differ along the first axis."""

    def read(at: Indices) -> PrimExpr:
        value = tensor[tuple(at)].astype(_SUMS)
        if zero is None:
            return value
        each = tvm_api.as_int(zero.shape[0]) != 1
        place = at[0] if each else tvm_api.integer(0)
        return value - zero[place].astype(_SUMS)

    return read


def _sums(node: Node, indices: Sequence[int], zeros: Sequence[Expr | None]) -> Expr:
    """The convolution of quantized data, in int32."""
    data, weight, window, groups = operands_of(node, indices)
    _checked(node, "x", data)
    _checked(node, "w", weight)
    count = tvm_api.as_int(tvm_api.shape_of(zeros[0])[0]) if zeros[0] is not None else 1
    if count != 1:
        shape = tvm_api.show(tvm_api.shape_of(zeros[0]))
        why = "it must have 1 element"
        raise invalid(node.operator, why, **{"shape of x_zero_point": shape})
    present = [zero for zero in zeros if zero is not None]

    def compute(source: Tensor, factors: Tensor, *points: Tensor) -> Tensor:
        left = list(points)
        both = [None if zero is None else left.pop(0) for zero in zeros]
        reads = (_read(source, both[0]), _read(factors, both[1]))
        return convolved(window, source, factors, groups, reads, _SUMS)

    return computed(node, compute, data, weight, *present)


def conv_integer(node: Node) -> Expr:
    """The convolution of integers less their zero points.

    Raises:
        ValueError: a shape or an attribute is invalid.
        OpNotImplemented: a dtype is not one of 8 bits, or the size of the window is not known.
    """
    zeros = [
        _zero_point(node, index, name) for index, name in ((2, "x_zero_point"), (3, "w_zero_point"))
    ]
    return _sums(node, (0, 1), zeros)


def qlinear_conv(node: Node) -> Expr:
    """The convolution of quantized data, quantized.

    Raises:
        ValueError: a shape or an attribute is invalid.
        OpNotImplemented: a dtype is not one of 8 bits, or the size of the window is not known; or
            channels are last, as com.microsoft's may have them.
    """
    if node.attribute("channels_last", 0):
        raise refuse(node.operator, channels_last=1)
    zeros = [
        _zero_point(node, index, name) for index, name in ((2, "x_zero_point"), (5, "w_zero_point"))
    ]
    result = biased(node, _sums(node, (0, 3), zeros), 8)
    scales = [operands.required(node, index, "scale") for index in (1, 4, 6)]
    point = operands.required(node, 7, "y_zero_point")

    def scaled(at: Indices, tensors: Sequence[Tensor]) -> PrimExpr:
        x, weight, y = (_element(tensor, at[1]) for tensor in tensors)
        return x * weight / y

    return _quantized(node, result, scales, point, scaled)


def _element(tensor: Tensor, at: PrimExpr) -> PrimExpr:
    """The element of a scalar, of a tensor of one element, or of a vector at ``at``."""
    zero = tvm_api.integer(0)
    if len(tensor.shape) == 1 and tvm_api.as_int(tensor.shape[0]) != 1:
        return tensor[at].astype("float32")
    return tensor[tuple(zero for _ in tensor.shape)].astype("float32")


def _quantized(
    node: Node,
    result: Expr,
    scales: Sequence[Expr],
    point: Expr,
    scaled: Callable[[Indices, Sequence[Tensor]], PrimExpr],
) -> Expr:
    """``result``, of int32, times a scale at each place, in the dtype of the zero ``point``."""
    _checked(node, "y_zero_point", point)
    dtype = tvm_api.dtype_of(point)

    def compute(sums: Tensor, zero: Tensor, *tensors: Tensor) -> Tensor:
        def element(at: Indices) -> PrimExpr:
            value = sums[tuple(at)].astype("float32") * scaled(at, tensors)
            value = tirx.nearbyint(value) + broadcast(zero, at).astype("float32")
            low, high = tirx.min_value(dtype), tirx.max_value(dtype)
            value = tirx.max(tirx.min(value, high.astype("float32")), low.astype("float32"))
            return value.astype(dtype)

        return filled(sums.shape, element, "quantized")

    return computed(node, compute, result, point, *scales)


def qlinear_matmul(node: Node) -> Expr:
    """The product of quantized matrices, quantized.

    Raises:
        ValueError: a shape is invalid.
        OpNotImplemented: a dtype is not one of 8 bits.
    """
    left = less_zero_point(node, 0, "a", 2, True)
    right = less_zero_point(node, 3, "b", 5, False)
    result = product(node, left, right, ("a", "b"))
    rank = operands.rank_of(result)
    scales = [
        placed_along(node, operands.required(node, index, name), rows, rank)
        for index, name, rows in ((1, "a_scale", True), (4, "b_scale", False))
    ]
    y_scale = placed_along(node, operands.required(node, 6, "y_scale"), True, rank)
    point = placed_along(node, operands.required(node, 7, "y_zero_point"), True, rank)

    def scaled(at: Indices, tensors: Sequence[Tensor]) -> PrimExpr:
        a, b, y = (broadcast(tensor, at).astype("float32") for tensor in tensors)
        return a * b / y

    return _quantized(node, result, [*scales, y_scale], point, scaled)


CONVERSIONS: dict[str, Convert] = {
    "ConvInteger": conv_integer,
    "QLinearConv": qlinear_conv,
    "QLinearMatMul": qlinear_matmul,
}

_ROW = np.array([[[1, 2, 5]]], np.uint8)
_TAPS = np.array([[[1, 3]]], np.uint8)
_HALF = np.array(0.5, np.float32)
_POINT = np.array(1, np.uint8)


def _lacks_integers() -> bool:
    """True if the convolution of integers is not imported."""
    inputs: dict[str, Array] = {"x": _ROW, "w": _TAPS, "x_zero_point": _POINT}
    expected = np.array([[[3, 1 + 12]]], np.int32)
    return fails(node_model("ConvInteger", inputs, 10), list(inputs.values()), [expected])


def _lacks_quantized() -> bool:
    """True if the convolution of quantized data is not imported."""
    names = ("x", "x_scale", "x_zero_point", "w", "w_scale", "w_zero_point", "y_scale")
    values = (_ROW, _HALF, _POINT, _TAPS, _HALF, np.array(0, np.uint8), _HALF)
    inputs: dict[str, Array] = {**dict(zip(names, values, strict=True)), "y_zero_point": _POINT}
    # Halves of 3 and 13, rounded to even, and moved by 1.
    expected = np.array([[[2 + 1, 6 + 1]]], np.uint8)
    return fails(node_model("QLinearConv", inputs, 10), list(inputs.values()), [expected])


def _lacks_products() -> bool:
    """True if the product of quantized matrices is not imported."""
    names = ("a", "a_scale", "a_zero_point", "b", "b_scale", "b_zero_point", "y_scale")
    values = (_ROW[0], _HALF, _POINT, _ROW[0].T, _HALF, _POINT, _HALF)
    inputs: dict[str, Array] = {**dict(zip(names, values, strict=True)), "y_zero_point": _POINT}
    # Half of 0 * 0 + 1 * 1 + 4 * 4, rounded to even.
    expected = np.array([[8 + 1]], np.uint8)
    return fails(node_model("QLinearMatMul", inputs, 10), list(inputs.values()), [expected])


FIX = Fix(
    name="onnx_quantized_products",
    operators=tuple(CONVERSIONS),
    fault="ONNX's ConvInteger, QLinearConv and QLinearMatMul are not imported",
    issue=None,
    parts=(
        FaultPart("integers", _lacks_integers),
        FaultPart("quantized convolutions", _lacks_quantized),
        FaultPart("quantized products", _lacks_products),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_losses",
    patch=patch(CONVERSIONS),
)
