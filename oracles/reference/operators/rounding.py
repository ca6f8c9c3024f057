"""The reference's roundings to whole numbers, ``sign`` and ``square``.

Roundings are exact, of infinities and NaN too, and keep the sign of a zero (IEEE 754-2019, 5.9);
``round`` takes a half to the even neighbour (roundToIntegralTiesToEven). Integers are as they are.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.bounds import unconstrain
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, as_in
from relaxcheck.oracles.reference.evaluation import Plain, operator
from relaxcheck.oracles.reference.functions import monotone, tame

_ROUNDINGS: dict[str, Callable[[Array], Array]] = {
    "ceil": np.ceil,
    "floor": np.floor,
    "round": np.rint,
    "trunc": np.trunc,
}


def _rounding(function: Callable[[Array], Array]) -> Plain:
    def evaluated(node: Node, operands: list[Estimate]) -> Estimate:
        operand = operands[0]
        if operand.dtype not in FORMATS:
            return operand
        value, error = tame(operand)
        moved = monotone(value, error, function)
        return as_in(operand, replace(operand, value=function(value), error=moved))

    return evaluated


for _name, _function in _ROUNDINGS.items():
    operator(_name)(_rounding(_function))


@operator("sign")
def _sign(node: Node, operands: list[Estimate]) -> Estimate:
    """-1, 0 or 1; unconstrained for NaN. A zero has either sign."""
    operand = operands[0]
    if operand.dtype not in FORMATS:
        return replace(operand, value=np.sign(operand.value))
    open_ = np.isnan(operand.value) | np.isinf(operand.error)
    value, error = np.where(open_, 0, operand.value), np.where(open_, 0, operand.error)
    with np.errstate(invalid="ignore"):
        moved = np.where(np.isinf(value), 0, monotone(value, error, np.sign))
    return unconstrain(Estimate(np.sign(value), moved, operand.dtype), open_)


@operator("square")
def _square(node: Node, operands: list[Estimate]) -> Estimate:
    return bounds.multiplied(operands[0], operands[0], operands[0].dtype)
