"""The reference's gradients of operators that move, repeat or leave out elements, and of casts.

The operator itself, applied to the numbers of the operand's elements, says which element each
element of the result is. The gradient adds up at each element what its copies have.
"""

from collections.abc import Sequence

import numpy as np

from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.averages import ONE
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, exact
from relaxcheck.oracles.reference.evaluation import OPERATORS, Numerics
from relaxcheck.oracles.reference.gradients.rules import GRADIENTS, Call, gradient

_NUMBERS = "int64"


def _collected(call: Call) -> Sequence[Estimate | None]:
    return [
        _share(call, at) if operand.dtype in FORMATS else None
        for at, operand in enumerate(call.operands)
    ]


def _share(call: Call, at: int) -> Estimate:
    """The gradient in operand ``at``."""
    shape = call.operands[at].value.shape
    size = call.operands[at].value.size
    # Elements count from 1: 0 is what comes from elsewhere.
    operands = [
        operand
        if operand.dtype not in FORMATS
        else exact(np.zeros(operand.value.shape, np.int64), _NUMBERS)
        for operand in call.operands
    ]
    operands[at] = exact(np.arange(1, size + 1).reshape(shape), _NUMBERS)
    sources = OPERATORS[call.node.operator](call.node, operands, Numerics.OWN)
    if sources.error.any():
        raise ValueError(f"{call.node.operator}: nothing says which elements it takes")
    flat = sources.value.ravel()

    def collected(a: Array, b: Array) -> Array:
        terms = (a * b).ravel()
        result = np.zeros(size + 1, terms.dtype)
        np.add.at(result, flat, terms)
        return result[1:].reshape(shape)

    return bounds.sum_of_products(call.gradient, ONE, collected, call.gradient.dtype)


for _name in (
    *("broadcast_to", "concat", "expand_dims", "permute_dims", "reshape", "split"),
    *("take", "triu", "where"),
):
    GRADIENTS[_name] = _collected


@gradient("astype")
def _astype(call: Call) -> Sequence[Estimate | None]:
    if call.dtype not in FORMATS:
        return [None]
    return [bounds.cast(call.gradient, call.dtype)]
