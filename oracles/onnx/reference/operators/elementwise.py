"""Functions of one operand, element by element.

Sources: ONNX's schemas. Attributes are float32 numbers, which an implementation may round to the
operand's dtype. Where ``nan`` goes through a comparison the element is unconstrained.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from relaxcheck.generators.core.values import Array
from relaxcheck.oracles.onnx.reference.call import Call, Function, constant, operator, relax
from relaxcheck.oracles.onnx.reference.values import is_float
from relaxcheck.oracles.reference.bounds import computed, unconstrain
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, unknown
from relaxcheck.oracles.reference.functions import UNITS, tame

_SAME = {
    "Abs": "abs", "Acos": "acos", "Acosh": "acosh", "Asin": "asin", "Asinh": "asinh",
    "Atan": "atan", "Atanh": "atanh", "BitwiseNot": "bitwise_not", "Ceil": "ceil", "Cos": "cos",
    "Cosh": "cosh", "Exp": "exp", "Floor": "floor", "IsNaN": "isnan", "Log": "log",
    "Neg": "negative", "Not": "logical_not", "Relu": "nn.relu", "Round": "round",
    "Sigmoid": "sigmoid", "Sign": "sign", "Sin": "sin", "Sinh": "sinh", "Sqrt": "sqrt",
    "Tan": "tan", "Tanh": "tanh",
}  # fmt: skip
"""ONNX's operators that Relax has too, with its names."""


def _same(name: str) -> Function:
    return lambda call: relax(name, call[0])


for _onnx, _relax in _SAME.items():
    operator(_onnx)(_same(_relax))


@operator("Identity")
def _identity(call: Call) -> Estimate:
    return call[0]


@operator("Erf")
def _erf(call: Call) -> Estimate:
    """Of an integer other than 0 it is a fraction, whose rounding is not defined."""
    x = call[0]
    if is_float(x.dtype):
        return relax("erf", x)
    return unconstrain(x, x.value != 0)


@operator("Reciprocal")
def _reciprocal(call: Call) -> Estimate:
    return relax("divide", constant(1, call[0]), call[0])


@operator("IsInf")
def _is_inf(call: Call) -> Estimate:
    """Of both signs, or those that the attributes leave."""
    x, positive, negative = call[0], call.flag("detect_positive"), call.flag("detect_negative")
    value = np.isinf(x.value) & np.where(x.value > 0, positive, negative)
    result = Estimate(value.astype(np.int64), np.zeros(value.shape), "bool")
    return unconstrain(result, np.isinf(x.error))


def smooth(
    operand: Estimate,
    function: Callable[[Array], Array],
    steepest: float,
    units: float,
    slack: Any,
) -> Estimate:
    """A function whose slope is at most ``steepest``; ``units`` and ``slack`` as ``computed``.

    Finite limits at infinity are left open.
    """
    value, error = tame(operand)
    return computed(
        operand.dtype,
        function(value),
        steepest * error,
        units,
        slack=slack,
        unconstrained=unknown(operand),
    )


@operator("LeakyRelu")
def _leaky_relu(call: Call) -> Estimate:
    return relax("nn.leakyrelu", call[0], alpha=call.attribute("alpha"))


@operator("Elu")
def _elu(call: Call) -> Estimate:
    return elu(call[0], call.attribute("alpha"))


def elu(x: Estimate, alpha: float) -> Estimate:
    """The exponential less 1 loses digits near 0: so do ONNX's own definitions."""

    def function(x: Array) -> Array:
        return np.where(x >= 0, x, alpha * np.expm1(np.minimum(x, 0)))

    return smooth(x, function, max(1, abs(alpha)), UNITS, UNITS * abs(alpha))


@operator("Celu")
def _celu(call: Call) -> Estimate:
    alpha = call.attribute("alpha")
    if alpha == 0:
        raise ValueError("alpha is 0")

    def function(x: Array) -> Array:
        return np.asarray(np.maximum(x, 0) + np.minimum(0, alpha * np.expm1(x / alpha)))

    return smooth(call[0], function, 2, 2 * UNITS, 2 * UNITS * abs(alpha))


@operator("Selu")
def _selu(call: Call) -> Estimate:
    alpha, gamma = call.attribute("alpha"), call.attribute("gamma")

    def function(x: Array) -> Array:
        return np.asarray(gamma * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0))))

    steepest = abs(gamma) * max(1, abs(alpha))
    return smooth(call[0], function, steepest, UNITS + 2, UNITS * abs(gamma * alpha))


@operator("Softplus")
def _softplus(call: Call) -> Estimate:
    return softplus(call[0])


def softplus(x: Estimate) -> Estimate:
    """ONNX's own definition adds 1 to the exponential, so roundings are absolute below 0."""
    return smooth(x, lambda each: np.logaddexp(0, each), 1, UNITS, UNITS)


@operator("Softsign")
def _softsign(call: Call) -> Estimate:
    return softsign(call[0])


def softsign(x: Estimate) -> Estimate:
    """``x / (1 + |x|)``."""
    return smooth(x, lambda each: each / (1 + np.abs(each)), 1, 3, 0)


@operator("HardSigmoid")
def _hard_sigmoid(call: Call) -> Estimate:
    return clamped(call[0], call.attribute("alpha"), call.attribute("beta"))


def clamped(operand: Estimate, alpha: float, beta: float) -> Estimate:
    """``max(0, min(1, alpha * x + beta))``: 0 and 1 where it surely is beyond them."""
    value, error = tame(operand)
    line = alpha * value + beta
    unit = FORMATS[operand.dtype].unit
    off = abs(alpha) * error + 4 * unit * (np.abs(alpha * value) + abs(beta))
    off = off + FORMATS[operand.dtype].floor
    middle = np.clip(line, 0, 1)
    sides = [np.abs(np.clip(line + side * off, 0, 1) - middle) for side in (-1, 1)]
    result = Estimate(middle, np.maximum(*sides).astype(np.float64), operand.dtype)
    return unconstrain(result, unknown(operand))


@operator("HardSwish")
def _hard_swish(call: Call) -> Estimate:
    """``x * max(0, min(1, x / 6 + 1/2))``: a sixth is a number of float32, or nearer."""
    x = call[0]
    gate = clamped(x, 1 / 6, 0.5)
    off = abs(1 / 6 - float(np.float32(1 / 6))) * np.abs(tame(x)[0]).astype(np.float64)
    inside = (gate.value > 0) & (gate.value < 1) & np.isfinite(gate.error)
    gate = replace(gate, error=np.where(inside, gate.error + off, gate.error))
    return relax("multiply", replace(x, signed=False), gate)


@operator("ThresholdedRelu")
def _thresholded_relu(call: Call) -> Estimate:
    return thresholded_relu(call[0], call.attribute("alpha"))


def thresholded_relu(x: Estimate, alpha: float) -> Estimate:
    """``x`` above ``alpha``, else 0."""
    return _by_sides(x, (x, constant(alpha, x)), 1, x)


def _by_sides(x: Estimate, sides: tuple[Estimate, Estimate], sign: int, kept: Estimate) -> Estimate:
    """``kept`` where ``sign * (left - right) > 0``, else 0; unconstrained where that is open."""
    left, right = sides
    over = relax("greater", *((left, right) if sign > 0 else (right, left)))
    open_ = unknown(over) | np.isnan(x.value)
    value = np.where(over.value > 0, kept.value, 0)
    error = np.where(over.value > 0, kept.error, 0.0)
    return unconstrain(Estimate(value, error, x.dtype), open_)


@operator("Shrink")
def _shrink(call: Call) -> Estimate:
    """``x + bias`` below ``-lambd``, ``x - bias`` above ``lambd``, else 0."""
    x, edge, bias = call[0], call.attribute("lambd"), call.attribute("bias")
    if not is_float(x.dtype) and (edge != int(edge) or bias != int(bias)):
        # What is left of a fraction in an integer is not defined.
        return unconstrain(x, np.ones(x.value.shape, np.bool_))
    low, high = (constant(side * edge, x) for side in (-1, 1))
    if not is_float(x.dtype) and x.dtype.startswith("u") and edge > 0:
        below = replace(x, value=np.zeros_like(x.value))
    else:
        below = _by_sides(x, (x, low), -1, relax("add", x, constant(bias, x)))
    above = _by_sides(x, (x, high), 1, relax("subtract", x, constant(bias, x)))
    return relax("add", below, above)


@operator("Mish")
def _mish(call: Call) -> Estimate:
    """``x * tanh(log(1 + exp(x)))``: the factor may be off by a few roundings absolutely."""
    x = call[0]
    size = np.abs(tame(x)[0]).astype(np.float64) + tame(x)[1]

    def function(each: Array) -> Array:
        return each * np.tanh(np.logaddexp(0, each))

    return smooth(x, function, 1.2, 2 * UNITS, 2 * UNITS * size)


@operator("Swish")
def _swish(call: Call) -> Estimate:
    """``x * sigmoid(alpha * x)``; the product is rounded, which the exponential magnifies."""
    x, alpha = call[0], call.attribute("alpha")
    size = np.abs(tame(x)[0]).astype(np.float64) + tame(x)[1]

    def function(each: Array) -> Array:
        return np.asarray(each / (1 + np.exp(-alpha * each)))

    return smooth(x, function, 1.2, 2 * UNITS, 2 * UNITS * size)


@operator("Gelu")
def _gelu(call: Call) -> Estimate:
    """The constants of the approximation may be numbers of float32, as in ONNX's definition."""
    x = call[0]
    if call.attribute("approximate") != "tanh":
        return relax("nn.gelu", x)
    result = relax("nn.gelu_tanh", x)
    # An argument u of tanh that is off by two roundings moves it by 2 |u| (1 - tanh(u)^2) < 1.
    off = FORMATS["float32"].unit * np.abs(tame(x)[0]).astype(np.float64)
    return replace(result, error=result.error + off)
