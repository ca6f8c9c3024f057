"""Functions of one operand: value, and error from that of the operand and of the function itself.

An element is unconstrained where the operand is not a number or may lie outside the domain.
``bounds.LIBM`` is the error granted to a function of the C library.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.bounds import computed
from relaxcheck.oracles.reference.estimate import FORMATS, Errors, Estimate, unknown

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
    **options: Any,
) -> Estimate:
    """The monotone ``function`` of ``operand``, whose ``value`` and ``error`` are tame.

    ``options`` are those of ``computed``; ``units`` is ``UNITS`` without one.
    """
    unconstrained = unknown(operand) | options.pop("unconstrained", False)
    moved = monotone(value, error, function)
    units = options.pop("units", UNITS)
    return computed(
        operand.dtype, function(value), moved, units, unconstrained=unconstrained, **options
    )
