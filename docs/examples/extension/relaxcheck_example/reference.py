"""The operator in the float64 reference: values, and a bound for each."""

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference.estimate import Estimate
from relaxcheck.oracles.reference.functions import floating, of_one, tame


def softsign(node: Node, operands: list[Estimate]) -> Estimate:
    """Two roundings, of the sum and of the quotient; a third, for the first one's effect."""
    operand = floating(node, operands[0])
    value, error = tame(operand)
    return of_one(operand, value, error, _exactly, units=3)


def _exactly(x: Array) -> Array:
    result: Array = x / (1 + np.abs(x))
    return result
