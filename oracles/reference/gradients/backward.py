"""Reverse accumulation: the gradients of a scalar in everything that it is computed from."""

from collections.abc import Mapping, Sequence

import numpy as np

from relaxcheck.generators.core.program import GRADIENT, Node
from relaxcheck.oracles.answer import Unsupported
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, exact
from relaxcheck.oracles.reference.gradients.rules import (
    GRADIENTS,
    Call,
    settled,
    summed,
    zeros,
)
from relaxcheck.oracles.registry import discover

discover("relaxcheck.oracles.reference.gradients.operators")


def gradient(node: Node, nodes: Sequence[Node], values: Mapping[str, Estimate]) -> Estimate:
    """The gradient that ``node`` stands for, in a program of ``nodes`` of these ``values``.

    Raises:
        Unsupported: an operator has no gradient here.
        ValueError: the target is no scalar of floating point, or the other value is none of it.
    """
    target, variable = node.arguments
    scalar, operand = values[target], values[variable]
    if scalar.value.shape or not {scalar.dtype, operand.dtype} <= FORMATS.keys():
        raise ValueError(
            f"the gradient of {scalar.dtype} {scalar.value.shape} in {operand.dtype} is undefined"
        )
    partials: dict[str, list[Estimate]] = {target: [exact(np.ones(()), scalar.dtype)]}
    for each in reversed(nodes):
        if each.operator == GRADIENT or each.name not in partials:
            continue
        if each.operator not in GRADIENTS:
            raise Unsupported(f"reference: no gradient of {each.operator}")
        operands = [values[name] for name in each.arguments]
        of_result = settled(summed(partials[each.name]))
        shares = GRADIENTS[each.operator](Call(each, operands, values[each.name], of_result))
        for name, share in zip(each.arguments, shares, strict=True):
            if share is not None:
                partials.setdefault(name, []).append(settled(share))
    return settled(summed(partials[variable])) if variable in partials else zeros(operand)
