"""``nn.selu``, ``nn.softplus`` and ``nn.dropout``."""

from collections.abc import Sequence

import numpy as np

from relaxcheck.generators.core.program import ITEM, Node
from tests.measure.quality.control.operator import (
    FLOATS,
    Array,
    Type,
    number,
    one_dtype,
    operator,
    whole,
)
from tests.measure.quality.control.rounding import computed_in, constant, function
from tests.measure.quality.control.summation import Freedom

_ALPHA, _SCALE = 1.6732632423543772, 1.0507009873554805


def _infer(node: Node, operands: Sequence[Type]) -> Type:
    return Type(operands[0].shape, one_dtype(node, operands, FLOATS))


@operator("nn.selu", _infer)
def _selu(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    """By expm1, or as the definition is written."""

    def compute(x: Array) -> Array:
        alpha, scale, zero = (constant(each, x) for each in (_ALPHA, _SCALE, 0))
        low = np.minimum(x, zero)
        if freedom.choice(("library", "difference")) == "library":
            below = function(np.expm1, low, freedom)
        else:
            below = function(np.exp, low, freedom) - constant(1, x)
        return scale * np.where(x > zero, x, alpha * below)

    return computed_in(operands[0].dtype, freedom, operands[0], compute=compute)


@operator("nn.softplus", _infer)
def _softplus(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    (data,) = operands
    beta, threshold = number(node, "beta", 1.0), number(node, "threshold", 20.0)

    def compute(x: Array) -> Array:
        factor, zero = constant(beta, x), constant(0, x)
        scaled = factor * x
        rest = function(np.log1p, function(np.exp, -np.abs(scaled), freedom), freedom)
        smooth = (np.maximum(scaled, zero) + rest) / factor
        return np.where(scaled > constant(threshold, x), x, smooth)

    return computed_in(data.dtype, freedom, data, compute=compute)


@operator("nn.dropout", _infer)
def _dropout(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    (data,) = operands
    return data if whole(node, ITEM, 0) == 0 else np.ones_like(data)
