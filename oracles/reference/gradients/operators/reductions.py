"""The reference's gradients of sums, means, variances and running sums."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.attribute_values import axes_of, flag
from relaxcheck.oracles.reference.averages import shared, total
from relaxcheck.oracles.reference.estimate import Estimate
from relaxcheck.oracles.reference.gradients.rules import (
    Call,
    difference,
    gradient,
    made,
    negative,
    product,
    widened,
    zeros,
)
from relaxcheck.oracles.reference.operators.movement import moved

Partials = Sequence[Estimate | None]


def _axes(node: Node, rank: int) -> tuple[int, ...]:
    if node.attributes.get("axis") is None:
        return tuple(range(rank))
    return axes_of(node, "axis", rank)


def _with_axes(call: Call) -> tuple[Estimate, tuple[int, ...], int]:
    """The gradient with the axes that were summed over, these axes, and the number of terms."""
    shape = call.operands[0].value.shape
    axes = _axes(call.node, len(shape))
    kept = tuple(1 if at in axes else size for at, size in enumerate(shape))
    wide = moved(call.gradient, lambda each: each.reshape(kept))
    return wide, axes, prod(shape[axis] for axis in axes)


def _repeated(value: Estimate, like: Estimate) -> Estimate:
    return moved(value, lambda each: np.broadcast_to(each, like.value.shape))


@gradient("sum")
def _sum(call: Call) -> Partials:
    wide, _, _ = _with_axes(call)
    return [_repeated(wide, call.operands[0])]


@gradient("mean")
def _mean(call: Call) -> Partials:
    (x,) = call.operands
    wide, _, count = _with_axes(call)
    if not x.value.size:
        return [zeros(x)]
    return [_repeated(shared(wide, np.array(count)), x)]


@gradient("variance")
def _variance(call: Call) -> Partials:
    """``2 g (x - mean) / n``, or ``2 g x / n - 2 g sum(x) / n**2``, whose terms may cancel."""
    (x,) = call.operands
    wide, axes, count = _with_axes(call)
    if not x.value.size:
        return [zeros(x)]
    # As exact as the reference's own numbers are.
    two: Any = np.longdouble(2)
    ends = bounds.scaled(x, two / count, x.dtype, 2)
    middle = bounds.scaled(total(x, axes, keep=True), two / count**2, x.dtype, 3)
    apart = difference(ends, middle)
    # The mean may be rounded before it is subtracted, and the factors apart from each other. It
    # is made of sums that may cancel.
    size = total(replace(x, value=np.abs(x.value)), axes, keep=True).reach * (2 / count**2)
    return [product(wide, widened(apart, 4 * (ends.reach + size) + count * size))]


@gradient("cumsum")
def _cumsum(call: Call) -> Partials:
    """The sum from each element to the end, or the whole sum less the one before it."""
    (x,) = call.operands
    axis = call.node.attributes.get("axis")
    shape = call.gradient.value.shape
    at = 0 if axis is None else axes_of(call.node, "axis", len(shape))[0]
    whole = total(call.gradient, (at,), keep=True)
    rest = made("add", whole, negative(made("cumsum", call.gradient, axis=at)))
    if not flag(call.node, "exclusive", False):
        rest = made("add", rest, call.gradient)
    share = bounds.cast(rest, x.dtype)
    return [moved(share, lambda each: each.reshape(x.value.shape))]
