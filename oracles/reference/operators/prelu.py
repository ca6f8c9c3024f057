"""The reference's ``nn.prelu``: the operand itself above 0, one rounded product elsewhere.

A NaN is not above 0, so that it is multiplied and stays NaN; alpha is not read above 0. At a zero
ONNX gives the zero itself and TVM the product: the sign is open, and the result unconstrained where
alpha is not finite. Where the error of the operand leaves its sign open, the result is off by at
most the steeper slope times that error, plus what alpha's own error makes of it.
"""

from dataclasses import replace

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.attribute_values import integer
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, ordinary, unknown
from relaxcheck.oracles.reference.evaluation import operator, same_dtype


@operator("nn.prelu")
def _prelu(node: Node, operands: list[Estimate]) -> Estimate:
    data, alpha = operands
    dtype = same_dtype(node, operands)
    if dtype not in FORMATS:
        raise ValueError(f"{node.operator} of {dtype}")
    slope = _along(node, alpha, data.value.shape)
    product = bounds.multiplied(data, slope, dtype)
    unsure = _of_either_sign(data, slope)
    above = data.value - data.error > 0
    below = ~(data.value + data.error > 0)
    result = Estimate(
        np.select([above, below], [data.value, product.value], unsure.value),
        np.select([above, below], [data.error, product.error], unsure.error),
        dtype,
    )
    return bounds.unconstrain(result, (data.value == 0) & unknown(data, slope))


def _along(node: Node, alpha: Estimate, shape: tuple[int, ...]) -> Estimate:
    """``alpha`` along the axis, to be broadcast to ``shape``. Raises ``ValueError``."""
    axis, rank = integer(node, "axis", 1), len(shape)
    if not -rank <= axis < rank:
        raise ValueError(f"{node.operator}: axis {axis} of a tensor of rank {rank}")
    if alpha.value.shape != (shape[axis],):
        raise ValueError(f"{node.operator}: alpha {alpha.value.shape} for {shape[axis]} channels")
    placed = [1] * rank
    placed[axis] = shape[axis]
    return replace(alpha, value=alpha.value.reshape(placed), error=alpha.error.reshape(placed))


def _of_either_sign(data: Estimate, slope: Estimate) -> Estimate:
    """The result where the sign of ``data`` is open; unconstrained at operands not finite."""
    x, a = ordinary(data), ordinary(slope)
    value = np.where(x.value > 0, x.value, a.value * x.value)
    moved = np.maximum(1, a.reach) * x.error + x.reach * a.error
    return bounds.computed(data.dtype, value, moved, 1, unconstrained=unknown(data, slope))
