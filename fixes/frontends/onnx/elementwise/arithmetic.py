"""Powers, remainders, shifts and comparisons of ONNX, in all pairs of dtypes and of all numbers."""

from typing import Any

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.elementwise.numbers import (
    HALVES,
    cast,
    constant,
    is_float,
    tensor,
    wide,
)
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr
from relaxcheck.fixes.tvm_api import functions as tvm_api_functions

UPSTREAM = NewFile(
    "relax/frontend/onnx/elementwise/arithmetic.py",
    "Powers, remainders, shifts and comparisons of ONNX, in all dtypes and of all numbers.",
)

_BITS = 6
"""Powers of 2 and more overflow beyond exponents of so many bits."""


_LONG = ("int32", "uint32", "int64", "uint64")
"""Integers that float32 may not hold."""


def _is_integer_expression(node: Node) -> bool:
    """True if an input is an integer of the model's shapes, which the importer computes with."""
    return any(
        not isinstance(each, relax.ShapeExpr) and not tvm_api.is_tensor(each)
        for each in node.inputs
    )


def _pow(node: Node) -> Expr:
    """The result has the dtype of the base; the wider one of the two is computed in."""
    if _is_integer_expression(node):
        return node.converted()
    base, exponent = tensor(node, 0), tensor(node, 1)
    dtype, other = tvm_api.dtype_of(base), tvm_api.dtype_of(exponent)
    if not is_float(dtype) and not is_float(other):
        return _integer_power(node, base, exponent)
    if dtype == other and dtype not in HALVES:
        return node.converted()
    # In float32 a large integer would lose its last bit, which decides the sign of the power.
    exact = not is_float(dtype) or "float64" in (dtype, other) or other in _LONG
    inner = "float64" if exact else "float32"
    result = relax.op.power(cast(base, dtype, inner), cast(exponent, other, inner))
    return cast(result, inner, dtype)


def _integer_power(node: Node, base: Expr, exponent: Expr) -> Expr:
    """The power by repeated squaring: exact where the dtype holds it.

    Of negative exponents it is 0, except for the bases 1 and -1.
    """
    dtype = tvm_api.dtype_of(base)
    emit = node.emit
    is_scalar = _is_scalar(base) and _is_scalar(exponent)
    if tvm_api_functions.is_constant(base) and _is_scalar(base):
        # TVM folds products of a scalar constant, and dies where they overflow.
        base = tvm_api.const(np.asarray(tvm_api.tensor_of(base).numpy()).reshape(1))

    def number(value: int) -> Expr:
        return constant(value, "int64")

    wanted = emit(cast(exponent, tvm_api.dtype_of(exponent), "int64"))
    size = relax.op.abs(wanted)
    # Beyond, the powers of all but 0, 1 and -1 overflow; those depend on the last bit.
    large = number(2**_BITS - 2) + relax.op.bitwise_and(size, number(1))
    left = emit(relax.op.where(relax.op.less(size, number(2**_BITS)), size, large))
    result, square = constant(1, dtype), base
    for bit in range(_BITS):
        digit = relax.op.bitwise_and(relax.op.right_shift(left, number(bit)), number(1))
        is_set = emit(relax.op.equal(digit, number(1)))
        result = emit(relax.op.where(is_set, relax.op.multiply(result, square), result))
        square = emit(relax.op.multiply(square, square))
    is_unit = relax.op.equal(base, constant(1, dtype))
    if not dtype.startswith("u"):
        is_unit = relax.op.logical_or(is_unit, relax.op.equal(base, constant(-1, dtype)))
    is_unit = emit(is_unit)
    inverse = relax.op.where(is_unit, result, constant(0, dtype))
    power = emit(relax.op.where(relax.op.less(wanted, number(0)), inverse, result))
    return relax.op.reshape(power, ()) if is_scalar else power


def _is_scalar(value: Expr) -> bool:
    return tvm_api.has_shape(value) and not tvm_api.shape_of(value)


def _mod(node: Node) -> Expr:
    """Remainders of floats are fmod's; without ``fmod`` they have the sign of the divisor."""
    if _is_integer_expression(node):
        return node.converted()
    dividend, divisor = tensor(node, 0), tensor(node, 1)
    dtype = tvm_api.dtype_of(dividend)
    if not is_float(dtype):
        return node.converted()
    inner = wide(dtype)
    x, y = (node.emit(cast(each, dtype, inner)) for each in (dividend, divisor))
    result = node.emit(relax.op.mod(x, y))
    if not node.attribute("fmod", 0):
        zero = constant(0.0, inner)
        differ = relax.op.logical_xor(relax.op.less(result, zero), relax.op.less(y, zero))
        away = relax.op.logical_and(differ, relax.op.not_equal(result, zero))
        result = relax.op.where(away, relax.op.add(result, y), result)
    return cast(result, inner, dtype)


def _div(node: Node) -> Expr:
    """TVM folds a division by a scalar, refuses 0 there, and computes that by a vector of 0."""
    if any(not tvm_api.is_tensor(each) for each in node.inputs):
        return node.converted()
    x, y = node.inputs
    if not _is_zero(y) or not tvm_api.has_shape(x):
        return node.converted()
    return _over_zero(node, x, y)


def _reciprocal(node: Node) -> Expr:
    x = tensor(node, 0)
    if not _is_zero(x):
        return node.converted()
    return _over_zero(node, constant(1.0, tvm_api.dtype_of(x)), x)


def _is_zero(value: Expr) -> bool:
    """True for a floating-point constant of one element, a zero."""
    if not tvm_api_functions.is_constant(value) or not is_float(tvm_api.dtype_of(value)):
        return False
    array = tvm_api.tensor_of(value).numpy()
    return bool(array.size == 1 and not array.astype("float64").any())


def _over_zero(node: Node, x: Expr, zero: Expr) -> Expr:
    array = tvm_api.tensor_of(zero).numpy()
    quotient = relax.op.divide(x, tvm_api.const(array.reshape((1,) * max(array.ndim, 1))))
    if array.ndim or tvm_api.shape_of(node.emit(x)):
        return quotient
    return relax.op.reshape(quotient, ())


def _bit_shift(node: Node) -> Expr:
    """By all bits and more, and by negative numbers, what is left is 0, or -1 of negative ones."""
    direction = node.attribute("direction")
    if direction not in ("LEFT", "RIGHT"):
        raise invalid(node.operator, "it must be LEFT or RIGHT", direction=direction)
    x, by = tensor(node, 0), tensor(node, 1)
    dtype = tvm_api.dtype_of(x)
    last = int("".join(filter(str.isdigit, dtype))) - 1
    zero = constant(0, dtype)
    inside = relax.op.less_equal(by, constant(last, dtype))
    if not dtype.startswith("u"):
        inside = relax.op.logical_and(inside, relax.op.greater_equal(by, zero))
    inside = node.emit(inside)
    by = node.emit(relax.op.where(inside, by, constant(last, dtype)))
    if direction == "LEFT":
        return relax.op.where(inside, relax.op.left_shift(x, by), zero)
    shifted = relax.op.right_shift(x, by)
    return relax.op.where(inside, shifted, zero) if dtype.startswith("u") else shifted


def _equal(node: Node) -> Expr:
    """Truth values are equal unless one alone is true."""
    if any(not tvm_api.is_tensor(each) for each in node.inputs):
        return node.converted()
    x, y = node.inputs
    if tvm_api.dtype_of(x) != "bool":
        return node.converted()
    return relax.op.logical_not(relax.op.logical_xor(x, y))


CONVERSIONS: dict[str, Convert] = {
    "Pow": _pow,
    "Mod": _mod,
    "Div": _div,
    "Reciprocal": _reciprocal,
    "BitShift": _bit_shift,
    "Equal": _equal,
}


def _computes(
    operator: str, x: Any, y: Any, wanted: Any, opset: int = 15, **attributes: Any
) -> bool:
    arrays = [np.array(each) for each in (x, y, wanted)]
    model = node_model(operator, dict(zip("xy", arrays, strict=False)), opset, **attributes)
    return not fails(model, arrays[:2], arrays[2:])


def _raises_to_integers() -> bool:
    base = np.array([2, 1.5], "float32")
    return _computes("Pow", base, np.array([3, 2]), np.array([8, 2.25], "float32"))


def _raises_integers() -> bool:
    return _computes("Pow", np.array([2, -3]), np.array([10, 3]), np.array([1024, -27]))


def _shifts_out() -> bool:
    x, by = np.array([5, 5, -5], "int32"), np.array([1, 32, -1], "int32")
    return _computes("BitShift", x, by, np.array([10, 0, 0], "int32"), 28, direction="LEFT")


def _divides_by_zero() -> bool:
    x, zero = np.array([1, -1], "float32"), np.array(0, "float32")
    model = node_model("Div", {"x": x, "zero": zero}, 13, held=["zero"])
    return not fails(model, [x], [np.array([np.inf, -np.inf], "float32")])


def _compares_truth() -> bool:
    x, y = np.array([True, True]), np.array([True, False])
    return _computes("Equal", x, y, np.array([True, False]))


FIX = Fix(
    name="onnx_arithmetic",
    operators=tuple(CONVERSIONS),
    fault=(
        "Pow of ONNX models takes operands of one floating-point dtype alone, BitShift shifts by"
        " too many bits, Equal of truth values is not compiled, nor Div by a constant of 0"
    ),
    issue=None,
    parts=(
        FaultPart("powers", lambda: not (_raises_to_integers() and _raises_integers())),
        FaultPart("shifts", lambda: not _shifts_out()),
        FaultPart("zeros", lambda: not _divides_by_zero()),
        FaultPart("truth values", lambda: not _compares_truth()),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_activations",
    patch=patch(CONVERSIONS),
)
