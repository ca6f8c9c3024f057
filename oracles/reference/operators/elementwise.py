"""The reference's elementwise operators and their error bounds.

An element is unconstrained where an operand is not a number or may lie outside the function's
domain. ``bounds.LIBM`` is the error granted to a function of the C library. Cancellation near zero
in the usual formulas is granted as an absolute error: ``tanh`` as ``(1 - e) / (1 + e)``, ``gelu``
as ``x * (1 + erf) / 2``.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.attribute_values import number
from relaxcheck.oracles.reference.bounds import computed, unconstrain
from relaxcheck.oracles.reference.correct import corrected
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, exact, unknown
from relaxcheck.oracles.reference.evaluation import Plain, operator, same_dtype
from relaxcheck.oracles.reference.functions import (
    UNITS,
    floating,
    infinite_at_zero,
    keeping_zeros,
    of_one,
    tame,
)


@operator("subtract")
def _subtract(node: Node, operands: list[Estimate]) -> Estimate:
    dtype = same_dtype(node, operands)
    if dtype not in FORMATS:
        return bounds.wrapped(operands[0].value - operands[1].value, dtype, *operands)
    return bounds.added(operands[0], bounds.negated(operands[1]), dtype)


@operator("divide")
def _divide(node: Node, operands: list[Estimate]) -> Estimate:
    dtype = same_dtype(node, operands)
    return bounds.divided(floating(node, operands[0]), operands[1], dtype)


@operator("floor_divide")
def _floor_divide(node: Node, operands: list[Estimate]) -> Estimate:
    return _whole(node, operands, np.floor_divide)


@operator("floor_mod")
def _floor_mod(node: Node, operands: list[Estimate]) -> Estimate:
    return _whole(node, operands, np.mod)


def _whole(
    node: Node, operands: list[Estimate], divide: Callable[[Array, Array], Array]
) -> Estimate:
    """Integers only; unconstrained where the divisor is 0."""
    dtype = same_dtype(node, operands)
    if dtype in FORMATS:
        raise ValueError(f"{node.operator} of {dtype}")
    a, b = (each.value for each in operands)
    unconstrained = (b == 0) | unknown(*operands)
    return unconstrain(bounds.wrapped(divide(a, np.where(b == 0, 1, b)), dtype), unconstrained)


@operator("maximum")
def _maximum(node: Node, operands: list[Estimate]) -> Estimate:
    return _chosen(node, operands, np.maximum)


@operator("minimum")
def _minimum(node: Node, operands: list[Estimate]) -> Estimate:
    return _chosen(node, operands, np.minimum)


def _chosen(
    node: Node, operands: list[Estimate], choose: Callable[[Array, Array], Array]
) -> Estimate:
    same_dtype(node, operands)
    (a, off_a), (b, off_b) = (tame(each) for each in operands)
    value = choose(a, b)
    low, high = choose(a - off_a, b - off_b), choose(a + off_a, b + off_b)
    error = np.maximum(high - value, value - low).astype(np.float64)
    return unconstrain(Estimate(value, error, operands[0].dtype), unknown(*operands))


@operator("power")
def _power(node: Node, operands: list[Estimate]) -> Estimate:
    """Real powers; unconstrained for a base < 0, or one that may be 0 under a negative exponent."""
    dtype = same_dtype(node, [floating(node, each) for each in operands])
    (a, off_a), (b, off_b) = (tame(each) for each in operands)
    size = np.abs(a)
    whole = (b == np.rint(b)) & (off_b == 0)
    unconstrained = unknown(*operands) | ((a < 0) & ~whole) | ((off_a > 0) & (size <= off_a))
    unconstrained = unconstrained | ((size == 0) & (b - off_b <= 0) & ~(whole & (b == 0)))
    base, exponent = np.where(unconstrained, 1, size), np.where(unconstrained, 1, b)
    off_a, off_b = np.where(unconstrained, 0, off_a), np.where(unconstrained, 0, off_b)
    value = corrected("power", dtype, [(base, off_a), (exponent, off_b)], base**exponent)
    corners = [
        np.abs((base + i * off_a) ** (exponent + j * off_b) - value)
        for i in (-1, 1)
        for j in (-1, 1)
    ]
    moved = np.where((off_a > 0) | (off_b > 0), np.maximum.reduce(corners), 0).astype(np.float64)
    sign = np.where((a < 0) & (np.mod(np.where(unconstrained, 0, b), 2) == 1), -1, 1)
    return computed(dtype, sign * value, moved, UNITS, unconstrained=unconstrained, overflows=True)


@operator("negative")
def _negative(node: Node, operands: list[Estimate]) -> Estimate:
    return bounds.negated(operands[0])


@operator("abs")
def _abs(node: Node, operands: list[Estimate]) -> Estimate:
    operand = operands[0]
    if operand.dtype not in FORMATS:
        return bounds.wrapped(np.abs(operand.value), operand.dtype, operand)
    return replace(operand, value=np.abs(operand.value), signed=False)


@operator("exp")
def _exp(node: Node, operands: list[Estimate]) -> Estimate:
    value, error = tame(floating(node, operands[0]))
    # Far beyond any format's range, but within the reference's own.
    value = np.minimum(value, 11000)
    return of_one(operands[0], value, error, np.exp, operator="exp")


@operator("log")
def _log(node: Node, operands: list[Estimate]) -> Estimate:
    value, error = tame(floating(node, operands[0]))
    unconstrained = value - error <= 0
    result = of_one(
        operands[0],
        np.where(unconstrained, 1, value),
        np.where(unconstrained, 0, error),
        np.log,
        operator="log",
        unconstrained=unconstrained,
    )
    return infinite_at_zero(operands[0], result, sign=-1)


@operator("sqrt")
def _sqrt(node: Node, operands: list[Estimate]) -> Estimate:
    """Exact where the root is a number of the format (IEEE 754-2019 5.4.1).

    Elsewhere not only correct rounding is granted: PyTorch's vector kernel is off by more.
    """
    value, error = tame(floating(node, operands[0]))
    unconstrained = value - error < 0
    value, error = np.where(unconstrained, 1, value), np.where(unconstrained, 0, error)
    estimate = of_one(operands[0], value, error, np.sqrt, unconstrained=unconstrained, units=2)
    root = bounds.single(Estimate(np.sqrt(value), np.zeros(value.shape), operands[0].dtype))
    certain = (error == 0) & (root.error == 0) & np.isfinite(estimate.error)
    return keeping_zeros(
        operands[0], replace(estimate, error=np.where(certain, 0.0, estimate.error))
    )


@operator("rsqrt")
def _rsqrt(node: Node, operands: list[Estimate]) -> Estimate:
    value, error = tame(floating(node, operands[0]))
    unconstrained = value - error <= 0
    result = of_one(
        operands[0],
        np.where(unconstrained, 1, value),
        np.where(unconstrained, 0, error),
        lambda each: 1 / np.sqrt(each),
        operator="rsqrt",
        unconstrained=unconstrained,
    )
    negative = np.signbit(operands[0].value)
    # The root of a negative zero is one, and so is its inverse infinite.
    return infinite_at_zero(operands[0], result, sign=np.where(negative, -1, 1), even=False)


def _logistic(value: Array) -> Array:
    small: Array = np.exp(-np.abs(value))
    result: Array = np.where(value < 0, small, np.ones((), value.dtype)) / (1 + small)
    return result


@operator("sigmoid")
def _sigmoid(node: Node, operands: list[Estimate]) -> Estimate:
    value, error = tame(floating(node, operands[0]))
    return of_one(operands[0], value, error, _logistic, operator="sigmoid", units=2 * UNITS)


@operator("tanh")
def _tanh(node: Node, operands: list[Estimate]) -> Estimate:
    value, error = tame(floating(node, operands[0]))
    result = of_one(operands[0], value, error, np.tanh, operator="tanh", units=2 * UNITS)
    return keeping_zeros(operands[0], result)


def _gated(operand: Estimate, gate: Callable[[Array], Array], steepest: float) -> Estimate:
    """``x * gate(x)``; the gate, in [0, 1], is off by 8 unit roundoffs at most, absolutely."""
    value, error = tame(operand)
    size = np.abs(value).astype(np.float64) + error
    return computed(
        operand.dtype,
        value * gate(value),
        steepest * error,
        2,
        slack=8 * size,
        unconstrained=unknown(operand),
    )


@operator("nn.silu")
def _silu(node: Node, operands: list[Estimate]) -> Estimate:
    """Relative to the result, but that the gate may be 0 where it is below the normal numbers."""
    operand = floating(node, operands[0])
    value, error = tame(operand)
    size = np.abs(value).astype(np.float64) + error
    return computed(
        operand.dtype,
        value * _logistic(value),
        1.1 * error + FORMATS[operand.dtype].floor * size,
        2 * UNITS + 2,
        unconstrained=unknown(operand),
    )


@operator("nn.gelu_tanh")
def _gelu_tanh(node: Node, operands: list[Estimate]) -> Estimate:
    factor = np.sqrt(2 / np.longdouble(np.pi))

    def gate(x: Array) -> Array:
        capped = np.clip(x, -(2.0**60), 2.0**60)
        result: Array = (
            1 + np.tanh(factor * capped * (1 + np.longdouble("0.044715") * capped * capped))
        ) / 2
        return result

    return _gated(floating(node, operands[0]), gate, 1.13)


@operator("nn.gelu")
def _gelu(node: Node, operands: list[Estimate]) -> Estimate:
    return _gated(floating(node, operands[0]), _normal_distribution, 1.13)


def _normal_distribution(x: Array) -> Array:
    """The standard normal distribution function, to about 1e-16 absolutely.

    Source: ``erfc`` as ``math`` has it; the reference's longest type has none in NumPy.
    """
    from math import erfc

    flat = [erfc(-each / 2**0.5) / 2 for each in x.astype(np.float64).ravel().tolist()]
    return np.array(flat, np.longdouble).reshape(x.shape)


@operator("nn.leakyrelu")
def _leakyrelu(node: Node, operands: list[Estimate]) -> Estimate:
    operand = floating(node, operands[0])
    alpha = number(node, "alpha", 0.01)
    value, error = tame(operand)
    below = value - error < 0
    moved = np.where(below, max(1, abs(alpha)), 1) * error
    result = np.where(value > 0, value, np.longdouble(alpha) * value)
    estimate = computed(
        operand.dtype, result, moved, np.where(below, 3, 0), unconstrained=unknown(operand)
    )
    return replace(
        estimate, error=np.where(~below & np.isfinite(estimate.error), moved, estimate.error)
    )


def _constant(value: float, dtype: str) -> Array:
    """``value`` as a number of ``dtype``: attributes are constants of the operand's dtype."""
    return bounds.cast(exact(np.array(value), "float64"), dtype).value


@operator("clip")
def _clip(node: Node, operands: list[Estimate]) -> Estimate:
    operand = operands[0]
    low, high = number(node, "min"), number(node, "max")
    if operand.dtype not in FORMATS:
        return replace(operand, value=np.clip(operand.value, int(low), int(high)))
    value, error = tame(operand)
    ends = [_constant(each, operand.dtype) for each in (low, high)]
    middle = np.clip(value, *ends)
    sides = [np.abs(np.clip(value + side * error, *ends) - middle) for side in (-1, 1)]
    moved = np.asarray(np.maximum(*sides), np.float64)
    return unconstrain(Estimate(middle, moved, operand.dtype), unknown(operand))


_COMPARISONS: dict[str, Callable[[Array, Array], Array]] = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
}


def _comparison(compare: Callable[[Array, Array], Array]) -> Plain:
    def compared(node: Node, operands: list[Estimate]) -> Estimate:
        same_dtype(node, operands)
        a, b = operands
        off = a.error + b.error
        with np.errstate(invalid="ignore"):
            near = ~(np.abs(a.value - b.value) > off)
        unsure = np.isinf(off) | ((off > 0) & near & np.isfinite(a.value) & np.isfinite(b.value))
        value = compare(a.value, b.value).astype(np.int64)
        return unconstrain(Estimate(value, np.zeros(value.shape), "bool"), unsure)

    return compared


for _name, _compare in _COMPARISONS.items():
    operator(_name)(_comparison(_compare))
