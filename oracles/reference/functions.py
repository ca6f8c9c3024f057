"""Functions of one operand: value, and error from that of the operand and of the function itself.

An element is unconstrained where the operand is not a number or may lie outside the domain.
``bounds.LIBM`` is the error granted to a function of the C library.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.bounds import computed
from relaxcheck.oracles.reference.correct import corrected
from relaxcheck.oracles.reference.estimate import FORMATS, Errors, Estimate, unknown, with_specials

UNITS = 2 * bounds.LIBM
"""Error of a function, in unit roundoffs of the result."""


def floating(node: Node, operand: Estimate) -> Estimate:
    """``operand``, a floating-point number. Raises ``ValueError``."""
    if operand.dtype not in FORMATS:
        raise ValueError(f"{node.operator} of {operand.dtype}")
    return operand


def tame(operand: Estimate) -> tuple[Array, Errors]:
    """Value and error of ``operand``, with 0 where it is not a number."""
    unconstrained = unknown(operand)
    return np.where(unconstrained, 0, operand.value), np.where(unconstrained, 0, operand.error)


def monotone(value: Array, error: Errors, function: Callable[[Array], Array]) -> Errors:
    """The largest change of a monotone function over ``value - error`` to ``value + error``."""
    middle = function(value)
    moved = [np.abs(function(value + side * error) - middle) for side in (-1, 1)]
    return np.asarray(np.maximum(*moved), np.float64)


def of_one(
    operand: Estimate,
    value: Array,
    error: Errors,
    function: Callable[[Array], Array],
    operator: str = "",
    **options: Any,
) -> Estimate:
    """The monotone ``function`` of ``operand``, whose ``value`` and ``error`` are tame.

    ``operator`` is its name, where ``correct`` may know it. ``options`` are those of ``computed``;
    ``units`` is ``UNITS`` without one. Nothing but the result overflows.
    """
    unconstrained = unknown(operand) | options.pop("unconstrained", False)
    moved = monotone(value, error, function)
    units = options.pop("units", UNITS)
    result = corrected(operator, operand.dtype, [(value, error)], function(value))
    return computed(
        operand.dtype,
        result,
        moved,
        units,
        unconstrained=unconstrained,
        overflows=True,
        **options,
    )


def infinite_at_zero(
    operand: Estimate, result: Estimate, sign: Any, *, even: bool = True
) -> Estimate:
    """``result``, a function of ``operand``, infinite with ``sign`` where that is surely a zero.

    Unless ``even``, the zero's own sign decides, and is to be defined. Source: IEEE 754-2019,
    9.2.1.
    """
    pole = (operand.value == 0) & (operand.error == 0) & (even or operand.signed)
    if not pole.any():
        return result
    positive = np.broadcast_to(np.asarray(sign) > 0, pole.shape)
    infinite = np.isinf(result.value)
    return with_specials(
        result,
        np.isnan(result.value),
        (pole & positive) | (infinite & (result.value > 0)),
        (pole & ~positive) | (infinite & (result.value < 0)),
        np.isinf(result.error) & ~pole,
    )


def keeping_zeros(operand: Estimate, result: Estimate) -> Estimate:
    """``result``, an odd function of ``operand``, exact where that is a zero: with its sign.

    Source: IEEE 754-2019, 9.2.1.
    """
    zero = (operand.value == 0) & (operand.error == 0)
    return replace(
        result,
        value=np.where(zero, operand.value, result.value),
        error=np.where(zero, 0.0, result.error),
        signed=operand.signed,
    )
