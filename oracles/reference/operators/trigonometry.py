"""The reference's circular and hyperbolic functions, their inverses, and the error function.

Each is computed in long double by the C library, whose error there is far below a unit roundoff of
float64. Outside the domain the result is NaN, and infinite at a pole (IEEE 754-2019, 9.2.1);
elements that may lie on either side are unconstrained. ``bounds.LIBM`` is all that is granted. It
covers ``tan`` as the quotient of ``sin`` and ``cos``, each off by a single unit roundoff as glibc's
are.
There is no further margin near zero: ``atanh`` as the difference of two logarithms, or ``sinh`` as
that of two exponentials, loses every digit there.
"""

from collections.abc import Callable
from math import erfc

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference.bounds import computed
from relaxcheck.oracles.reference.correct import corrected
from relaxcheck.oracles.reference.estimate import Errors, Estimate, unknown, with_specials
from relaxcheck.oracles.reference.evaluation import Plain, operator
from relaxcheck.oracles.reference.functions import (
    UNITS,
    floating,
    keeping_zeros,
    monotone,
    of_one,
    tame,
)

Function = Callable[[Array], Array]


_LARGE = 1e8
_LOST = 2.0**-91
_STEEPEST = 2.0**100


def _reduced(dtype: str, value: Array) -> Errors:
    """The error of a library's reduction of the angle ``value`` by multiples of pi/2, in radians.

    glibc's ``__branred`` reduces angles of float64 from 1.05e8 on. Its result has some 90 bits
    behind the point; where sine or cosine is closest to 0, tens of thousands of units in the last
    place are wrong (2.36: the worst of 3427 such angles is off by 2**-91.5).
    """
    large = (np.abs(value) > _LARGE) & (dtype == "float64")
    return np.where(large, _LOST, 0.0)


def _everywhere(function: Function) -> Plain:
    """A monotone function of all real numbers."""

    def evaluated(node: Node, operands: list[Estimate]) -> Estimate:
        operand = floating(node, operands[0])
        result = of_one(operand, *tame(operand), function, operator=node.operator)
        return keeping_zeros(operand, result)

    return evaluated


def _between(function: Function, least: float, largest: float) -> Plain:
    """A monotone function of the numbers from ``least`` to ``largest``; NaN elsewhere."""

    def evaluated(node: Node, operands: list[Estimate]) -> Estimate:
        operand = floating(node, operands[0])
        value, error = tame(operand)
        inside = (value - error >= least) & (value + error <= largest)
        outside = (value + error < least) | (value - error > largest)
        kept, off = np.where(inside, value, 1), np.where(inside, error, 0)
        infinite = inside & np.isinf(function(kept))
        estimate = of_one(
            operand,
            np.where(infinite, 0, kept),
            off,
            function,
            operator=node.operator,
            unconstrained=~(inside | outside) | (infinite & (error > 0)),
        )
        certain = ~unknown(operand)
        pole = infinite & (error == 0) & certain
        odd = function(np.zeros((), np.longdouble)) == 0
        return with_specials(
            keeping_zeros(operand, estimate) if odd else estimate,
            outside & certain,
            pole & (value > 0),
            pole & (value < 0),
            np.isinf(estimate.error),
        )

    return evaluated


def _wave(function: Function) -> Plain:
    """A function whose slope is at most 1."""

    def evaluated(node: Node, operands: list[Estimate]) -> Estimate:
        operand = floating(node, operands[0])
        value, error = tame(operand)
        moved = np.minimum(error, 2) + _reduced(operand.dtype, value)
        result = computed(
            operand.dtype,
            corrected(node.operator, operand.dtype, [(value, error)], function(value)),
            moved,
            UNITS,
            unconstrained=unknown(operand),
        )
        return keeping_zeros(operand, result) if node.operator == "sin" else result

    return evaluated


@operator("cosh")
def _cosh(node: Node, operands: list[Estimate]) -> Estimate:
    operand = floating(node, operands[0])
    value, error = tame(operand)
    # Far beyond any format's range, but within the reference's own.
    size = np.minimum(np.abs(value), 11000)
    middle = corrected("cosh", operand.dtype, [(size, error)], np.cosh(size))
    ends = (np.cosh(size + error) - middle, middle - np.cosh(np.maximum(size - error, 0)))
    moved = np.asarray(np.maximum(*ends), np.float64)
    return computed(
        operand.dtype, middle, moved, UNITS, unconstrained=unknown(operand), overflows=True
    )


@operator("tan")
def _tan(node: Node, operands: list[Estimate]) -> Estimate:
    """Unconstrained where a pole may lie within the operand's error."""
    operand = floating(node, operands[0])
    value, error = tame(operand)
    poles = (error > 0) & (np.abs(np.cos(value)) <= error)
    value, error = np.where(poles, 0, value), np.where(poles, 0, error)
    # The slope is 1 + tan(x)**2.
    slope = 1 + np.minimum(np.abs(np.tan(value)), _STEEPEST).astype(np.float64) ** 2
    moved = monotone(value, error, np.tan) + slope * _reduced(operand.dtype, value)
    return keeping_zeros(
        operand,
        computed(
            operand.dtype,
            corrected("tan", operand.dtype, [(value, error)], np.tan(value)),
            moved,
            UNITS,
            unconstrained=unknown(operand) | poles,
            overflows=True,
        ),
    )


def _sinh(value: Array) -> Array:
    result: Array = np.sinh(np.clip(value, -11000, 11000))
    return result


def _error_function(value: Array) -> Array:
    """erf, to about 1e-18 relatively.

    Source: Abramowitz and Stegun, 7.1.6, whose terms have one sign: below 3, fifty are enough.
    From there on ``erfc`` as ``math`` has it is so small that its own error does not count.
    """
    size = np.minimum(np.abs(value), 3)
    term = 2 / np.sqrt(np.longdouble(np.pi)) * size * np.exp(-size * size)
    total = np.zeros(value.shape, np.longdouble)
    for count in range(60):
        total, term = total + term, term * 2 * size * size / (2 * count + 3)
    flat = [erfc(each) for each in np.abs(value).astype(np.float64).ravel().tolist()]
    far = 1 - np.array(flat, np.longdouble).reshape(value.shape)
    result: Array = np.copysign(np.where(np.abs(value) < 3, total, far), value)
    return result


_MONOTONE: dict[str, Function] = {
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "sinh": _sinh,
    "erf": _error_function,
}

_DOMAINS: dict[str, tuple[Function, float, float]] = {
    "acos": (np.arccos, -1, 1),
    "asin": (np.arcsin, -1, 1),
    "acosh": (np.arccosh, 1, np.inf),
    "atanh": (np.arctanh, -1, 1),
}

for _name, _function in _MONOTONE.items():
    operator(_name)(_everywhere(_function))
for _name, (_function, *_ends) in _DOMAINS.items():
    operator(_name)(_between(_function, *_ends))
for _name, _function in {"cos": np.cos, "sin": np.sin}.items():
    operator(_name)(_wave(_function))
