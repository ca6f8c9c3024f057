"""The form of the reference's gradients of operators, their registry, and helpers of theirs.

A gradient is made of the reference's own operators, so that its bound follows from theirs. Where
correct formulas round more often, or in another order, the bound says so.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.reference.averages import total
from relaxcheck.oracles.reference.bounds import unconstrain
from relaxcheck.oracles.reference.estimate import FORMATS, Errors, Estimate, Flags, exact
from relaxcheck.oracles.reference.evaluation import OPERATORS, Numerics
from relaxcheck.oracles.registry import declare


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an operator: its operands and result, and the ``gradient`` in that result."""

    node: Node
    operands: Sequence[Estimate]
    result: Estimate
    gradient: Estimate

    @property
    def dtype(self) -> str:
        """The dtype of the first operand."""
        return self.operands[0].dtype


Rule = Callable[[Call], Sequence[Estimate | None]]
"""The gradient in each operand; None where there is none."""

GRADIENTS: dict[str, Rule] = {}
"""Gradients by Relax name; modules of ``operators`` declare them."""

gradient = declare(GRADIENTS)
"""Declare the gradient of an operator."""


def made(operator: str, *operands: Estimate, **attributes: Any) -> Estimate:
    """The reference's result of ``operator``. Raises ``ValueError`` for an invalid call."""
    node = Node("gradient", operator, (), attributes)
    return OPERATORS[operator](node, list(operands), Numerics.OWN)


def collapsed(value: Estimate, like: Estimate) -> Estimate:
    """``value`` summed up over the axes along which ``like`` is repeated."""
    if value.value.shape == like.value.shape:
        return value
    return made("collapse_sum_to", value, shape=like.value.shape)


def negative(value: Estimate) -> Estimate:
    """``-value``."""
    return made("negative", value)


def difference(a: Estimate, b: Estimate) -> Estimate:
    """``a - b``, one rounding."""
    return made("subtract", a, b)


def product(a: Estimate, *others: Estimate) -> Estimate:
    """The product, multiplied in any order."""
    whole = a
    for other in others:
        whole = made("multiply", whole, other)
    if not others[1:]:
        return whole
    whole = underflowing(reordered(whole, len(others) - 1), a, *others)
    return overflowing(whole, a, *others)


def overflowing(value: Estimate, *factors: Estimate) -> Estimate:
    """``value``, unconstrained where it is finite and the product of some ``factors`` may not be.

    Multiplied in another order, the large ones come first.
    """
    largest = FORMATS[value.dtype].largest
    infinite: Flags = np.zeros((), np.bool_)
    for count in range(2, len(factors)):
        for some in combinations(factors, count):
            size: Errors = np.ones(())
            for each in some:
                with np.errstate(over="ignore"):
                    size = size * np.where(np.isfinite(each.error), each.reach, 1)
            infinite = infinite | (size > largest)
    return unconstrain(value, infinite & np.isfinite(value.value))


def underflowing(value: Estimate, *factors: Estimate) -> Estimate:
    """``value``, where a partial product of ``factors`` may underflow in another order."""
    size: Errors = np.ones(())
    for each in factors:
        size = size * np.maximum(1, np.where(np.isfinite(each.error), each.reach, 1))
    lost = FORMATS[value.dtype].floor * np.where(value.error > 0, size, 0)
    return replace(value, error=value.error + np.broadcast_to(lost, value.error.shape))


def number(value: float, dtype: str) -> Estimate:
    """A scalar that ``dtype`` represents exactly."""
    return exact(np.array(value), dtype)


def zeros(like: Estimate) -> Estimate:
    """Zeros of the shape and dtype of ``like``."""
    shape = like.value.shape
    return Estimate(np.zeros(shape, np.longdouble), np.zeros(shape), like.dtype)


def reordered(value: Estimate, roundings: float) -> Estimate:
    """``value``, which a formula of another order rounds so many times more."""
    return widened(value, roundings * np.abs(value.value).astype(np.float64))


def widened(value: Estimate, magnitude: Errors) -> Estimate:
    """``value`` with one rounding more of what has this ``magnitude``; zero stays certain."""
    known = np.isfinite(value.error) & np.isfinite(magnitude)
    more = np.where(known, FORMATS[value.dtype].unit * np.where(known, magnitude, 0), 0)
    return replace(value, error=value.error + more)


def settled(value: Estimate) -> Estimate:
    """``value``, unconstrained where it is NaN or infinite: formulas differ in what they make."""
    return unconstrain(replace(value, signed=False), ~np.isfinite(value.value))


def summed(partials: Sequence[Estimate]) -> Estimate:
    """The sum of ``partials`` of one shape, added up in any order."""
    first, *rest = partials
    if not rest:
        return first
    value = np.stack([each.value for each in partials])
    error = np.stack([each.error for each in partials])
    return total(replace(first, value=value, error=error), (0,), keep=False)
