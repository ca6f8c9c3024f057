"""The reference's ``zeros_like``, ``ones_like``, ``full_like``: a number in an operand's shape."""

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.generators.core.values import numpy_dtype
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.attribute_values import number, text
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, exact
from relaxcheck.oracles.reference.evaluation import operator


@operator("zeros_like")
def _zeros_like(node: Node, operands: list[Estimate]) -> Estimate:
    return _filled(node, operands[0], 0)


@operator("ones_like")
def _ones_like(node: Node, operands: list[Estimate]) -> Estimate:
    return _filled(node, operands[0], 1)


@operator("full_like")
def _full_like(node: Node, operands: list[Estimate]) -> Estimate:
    return _filled(node, operands[0], number(node, "fill_value"))


def _filled(node: Node, like: Estimate, value: float) -> Estimate:
    """``value`` in the attribute ``dtype``, or the operand's."""
    dtype = text(node, "dtype", like.dtype)
    if dtype in FORMATS:
        return bounds.cast(exact(np.full(like.value.shape, value, np.float64), "float64"), dtype)
    return exact(np.full(like.value.shape, np.array(value).astype(numpy_dtype(dtype))), dtype)
