"""The reference's ``nn.selu``, ``nn.softplus`` and ``nn.dropout``.

``nn.selu`` is granted the cancellation of ``exp(x) - 1``, as its docstring writes it: 4 unit
roundoffs of the exponential, one each of the difference and of two products with rounded constants,
times 1.76. ``nn.softplus`` has no such margin: ``log(1 + exp(x))`` overflows and loses every digit
below 0, where the result is nearly ``exp(x)``.
"""

import numpy as np

from relaxcheck.generators.core.program import ITEM, Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.attribute_values import integer, number
from relaxcheck.oracles.reference.bounds import computed
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, exact, unknown
from relaxcheck.oracles.reference.evaluation import operator
from relaxcheck.oracles.reference.functions import UNITS, floating, of_one, tame

_ALPHA = np.longdouble("1.6732632423543772848170429916717")
_SCALE = np.longdouble("1.0507009873554804934193349852946")


def _scaled_unit(x: Array) -> Array:
    result: Array = _SCALE * np.where(x > 0, x, _ALPHA * np.expm1(np.minimum(x, 0)))
    return result


@operator("nn.selu")
def _selu(node: Node, operands: list[Estimate]) -> Estimate:
    operand = floating(node, operands[0])
    value, error = tame(operand)
    slack = np.where(value - error < 0, 4 * UNITS, 0)
    return of_one(operand, value, error, _scaled_unit, slack=slack)


@operator("nn.softplus")
def _softplus(node: Node, operands: list[Estimate]) -> Estimate:
    """Above ``threshold`` the operand itself; either where its error leaves that open."""
    operand = floating(node, operands[0])
    beta, threshold = (
        bounds.cast(exact(np.array(number(node, name, default)), "float64"), operand.dtype).value
        for name, default in (("beta", 1.0), ("threshold", 20.0))
    )
    value, error = tame(operand)
    target = FORMATS[operand.dtype]
    scaled = beta * value
    smooth = (np.maximum(scaled, 0) + np.log1p(np.exp(-np.abs(scaled)))) / beta
    # The product may be rounded to either side of the threshold, by its own rounding too.
    exact_product = (np.abs(np.frexp(beta)[0]) == 0.5) & (np.abs(scaled) >= target.floor)
    own = np.where(exact_product, 0, np.abs(scaled) * target.unit + target.floor)
    open_ = np.abs(scaled - threshold) <= beta * error + own
    open_ = open_ & ((error > 0) | (own > 0))
    above = scaled > threshold
    weight = 1 / (1 + np.exp(-scaled))
    # The slope is at most 1; a rounded product shifts the exponential, which may be subnormal.
    moved = error + weight * own / beta + np.where(open_, smooth - value, 0)
    subnormal = np.exp(-np.abs(scaled)) < target.smallest / target.unit
    moved = moved + np.where(subnormal & ~above, target.floor / beta, 0)
    return computed(
        operand.dtype,
        np.where(above, value, smooth),
        np.asarray(moved, np.float64),
        np.where(above & ~open_, 0, 2 * UNITS),
        unconstrained=unknown(operand),
    )


@operator("nn.dropout")
def _dropout(node: Node, operands: list[Estimate]) -> Estimate:
    (data,) = operands
    if integer(node, ITEM, 0) == 0:
        return data
    kind = np.longdouble if data.dtype in FORMATS else np.int64
    return Estimate(np.ones(data.value.shape, kind), np.zeros(data.value.shape), data.dtype)
