"""Arithmetic of operands that broadcast; integers wrap around, and are divided towards zero."""

from collections.abc import Callable
from dataclasses import replace
from functools import reduce

import numpy as np

from relaxcheck.generators.core.values import Array, numpy_dtype
from relaxcheck.oracles.onnx.reference.call import (
    Call,
    Function,
    composite,
    constant,
    operator,
    relax,
)
from relaxcheck.oracles.onnx.reference.operators.casting import converted
from relaxcheck.oracles.onnx.reference.values import chosen, is_float, limits, moved
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.averages import shared
from relaxcheck.oracles.reference.bounds import unconstrain
from relaxcheck.oracles.reference.estimate import Estimate, unknown


def _binary(name: str) -> Function:
    return lambda call: relax(name, call[0], call[1])


for _onnx, _relax in {
    **{"Add": "add", "Sub": "subtract", "Mul": "multiply", "And": "logical_and"},
    **{"Or": "logical_or", "Xor": "logical_xor", "BitwiseAnd": "bitwise_and"},
    **{"BitwiseOr": "bitwise_or", "BitwiseXor": "bitwise_xor", "Equal": "equal"},
    **{"Less": "less", "LessOrEqual": "less_equal", "Greater": "greater"},
    "GreaterOrEqual": "greater_equal",
}.items():
    operator(_onnx)(_binary(_relax))


@operator("Div")
def _div(call: Call) -> Estimate:
    a, b = call[0], call[1]
    if is_float(a.dtype):
        return relax("divide", a, b)
    least = limits(a.dtype)[0]
    open_ = (b.value == 0) | unknown(a, b) | ((a.value == least) & (b.value == -1) & (least < 0))
    x, y = np.where(open_, 0, a.value), np.where(open_, 1, b.value)
    quotient = x // y
    # Towards 0, not down.
    quotient = quotient + ((quotient < 0) & (quotient * y != x))
    return unconstrain(bounds.wrapped(quotient, a.dtype), open_)


@operator("Mod")
def _mod(call: Call) -> Estimate:
    """``fmod`` has the dividend's sign. Otherwise integers, with the divisor's."""
    a, b = call[0], call[1]
    if call.flag("fmod"):
        if is_float(a.dtype):
            return relax("mod", a, b)
        return _rest(a, b, np.fmod)
    return _floored(a, b) if is_float(a.dtype) else _rest(a, b, np.mod)


def _floored(a: Estimate, b: Estimate) -> Estimate:
    """The rest of a division rounded down, of floating-point numbers; 0 has either sign."""
    rest = replace(relax("mod", a, b), signed=False)
    shifted = relax("add", rest, replace(b, signed=False))
    turned = (rest.value != 0) & ((rest.value < 0) != (b.value < 0))
    return unconstrain(chosen(turned, shifted, rest), unknown(rest))


def _rest(a: Estimate, b: Estimate, divide: Callable[[Array, Array], Array]) -> Estimate:
    open_ = (b.value == 0) | unknown(a, b)
    rest = divide(np.where(open_, 0, a.value), np.where(open_, 1, b.value))
    return unconstrain(bounds.wrapped(rest, a.dtype), open_)


@operator("Pow")
def _pow(call: Call) -> Estimate:
    """In the dtype of the base; integers to powers that they hold."""
    a, b = call[0], call[1]
    if is_float(a.dtype):
        exponent = b if b.dtype == a.dtype else _as(b, a.dtype)
        return relax("power", a, exponent)
    if is_float(b.dtype):
        return _whole_power(a, b, b.value == np.rint(b.value))
    return _whole_power(a, b, np.ones(b.value.shape, np.bool_))


def _as(exponent: Estimate, dtype: str) -> Estimate:
    """``exponent`` as a number of ``dtype``, where every dtype holds it; else unconstrained."""
    narrow = converted(exponent, dtype)
    exact = narrow.value == exponent.value
    return unconstrain(narrow, ~exact & np.isfinite(exponent.value))


def _whole_power(a: Estimate, b: Estimate, whole: Array) -> Estimate:
    """Unconstrained unless the power is an integer of the dtype that a double holds."""
    open_ = unknown(a, b) | ~whole | (b.value < 0)
    x, y = np.where(open_, 0, a.value), np.where(open_, 1, b.value)
    power = x.astype(np.longdouble) ** y.astype(np.longdouble)
    low, high = limits(a.dtype)
    open_ = open_ | (np.abs(power) > 2.0**53) | (power < low) | (power > high)
    result = np.where(open_, 0, power).astype(np.int64)
    return unconstrain(Estimate(result, np.zeros(result.shape), a.dtype), open_)


@composite("Sum")
def _sum(call: Call) -> Estimate:
    """In any order: each addition rounds."""
    return _added(call.tensors)


def _added(operands: tuple[Estimate, ...]) -> Estimate:
    if len(operands) == 1:
        return operands[0]
    shape = np.broadcast_shapes(*(each.value.shape for each in operands))
    wide = [moved(each, lambda array: np.broadcast_to(array, shape)) for each in operands]
    stacked = Estimate(
        np.stack([each.value for each in wide]), np.stack([each.error for each in wide]),
        operands[0].dtype,
    )  # fmt: skip
    return relax("sum", stacked, axis=(0,))


@composite("Mean")
def _mean(call: Call) -> Estimate:
    return shared(_added(call.tensors), np.array(len(call.tensors)))


def extreme(a: Estimate, b: Estimate, choose: Callable[[Array, Array], Array]) -> Estimate:
    """The larger or smaller; unconstrained where either is NaN."""
    with np.errstate(invalid="ignore"):
        value = choose(a.value, b.value)
        low, high = (choose(a.value + side * a.error, b.value + side * b.error) for side in (-1, 1))
        error = np.maximum(high - value, value - low).astype(np.float64)
    if not is_float(a.dtype):
        result = Estimate(value, np.zeros(value.shape), a.dtype)
        return unconstrain(result, unknown(a, b))
    open_ = np.isnan(a.value) | np.isnan(b.value) | np.isinf(a.error) | np.isinf(b.error)
    error = np.where(np.isfinite(value) & ~np.isnan(error), error, 0.0)
    return unconstrain(Estimate(value, error, a.dtype), open_)


@operator("Max")
def _max(call: Call) -> Estimate:
    return reduce(lambda a, b: extreme(a, b, np.maximum), call.tensors)


@operator("Min")
def _min(call: Call) -> Estimate:
    return reduce(lambda a, b: extreme(a, b, np.minimum), call.tensors)


@operator("Clip")
def _clip(call: Call) -> Estimate:
    """``min(max(x, low), high)``, of attributes before opset 11."""
    x = call[0]
    low, high = call.named("min"), call.named("max")
    if call.schema.input("min") is None:
        low, high = (
            None if call.attribute(name) is None else constant(call.attribute(name), x)
            for name in ("min", "max")
        )
    if low is not None:
        x = extreme(x, low, np.maximum)
    return x if high is None else extreme(x, high, np.minimum)


@operator("PRelu")
def _prelu(call: Call) -> Estimate:
    x, slope = call[0], call[1]
    product = relax("multiply", x, slope)
    if not is_float(x.dtype):
        return unconstrain(chosen(x.value < 0, product, x), unknown(x, slope))
    sure = np.isfinite(x.error) & ~np.isnan(x.value)
    below, above = sure & (x.value + x.error < 0), sure & (x.value - x.error >= 0)
    either = chosen(x.value < 0, product, x)
    # Both branches meet at 0: either is as far from it as its own error says.
    reach = (np.abs(x.value).astype(np.float64) + x.error) * (1 + slope.reach)
    error = np.where(below | above, either.error, either.error + reach)
    result = Estimate(either.value, error, x.dtype)
    return unconstrain(result, ~sure)


_ANY_SHIFT = 28
"""The version that defines a shift by less than 0, or by as many bits as there are."""


@operator("BitShift")
def _bit_shift(call: Call) -> Estimate:
    x, by, left = call[0], call[1], call.attribute("direction") == "LEFT"
    result = relax("left_shift" if left else "right_shift", x, by)
    if call.since < _ANY_SHIFT:
        return result
    far = (by.value < 0) | (by.value >= 8 * numpy_dtype(x.dtype).itemsize)
    rest = np.where((x.value < 0) & (not left), -1, 0)
    known = np.where(far, rest, result.value), np.where(far, 0.0, result.error)
    return unconstrain(Estimate(*known, x.dtype), unknown(x, by))


@operator("Where")
def _where(call: Call) -> Estimate:
    condition, a, b = call[0], call[1], call[2]
    return unconstrain(chosen(condition.value != 0, a, b), unknown(condition))
