"""The reference's gradients of softmax, of losses, and of pooling over two axes."""

from collections.abc import Sequence

import numpy as np

from relaxcheck.oracles.reference.attribute_values import axis_of
from relaxcheck.oracles.reference.averages import shared, total
from relaxcheck.oracles.reference.bounds import unconstrain
from relaxcheck.oracles.reference.estimate import Estimate
from relaxcheck.oracles.reference.gradients.rules import (
    GRADIENTS,
    Call,
    difference,
    gradient,
    made,
    negative,
    product,
    reordered,
    widened,
    zeros,
)

Partials = Sequence[Estimate | None]


def _axis(call: Call) -> int:
    return axis_of(call.node, "axis", call.result.value.ndim, -1)


@gradient("nn.softmax")
def _softmax(call: Call) -> Partials:
    """``(g - sum(g y)) y``, or ``g y - sum(g y) y``, whose terms may cancel."""
    weighted = product(call.gradient, call.result)
    sums = total(weighted, (_axis(call),), keep=True)
    share = product(difference(call.gradient, sums), call.result)
    size = 2 * (call.gradient.reach + sums.reach) * call.result.reach
    return [widened(share, size)]


@gradient("nn.log_softmax")
def _log_softmax(call: Call) -> Partials:
    sums = total(call.gradient, (_axis(call),), keep=True)
    return [difference(call.gradient, product(sums, made("exp", call.result)))]


@gradient("nn.cross_entropy_with_logits")
def _cross_entropy(call: Call) -> Partials:
    x, y = call.operands
    if not x.value.size:
        return [zeros(x), zeros(y)]
    of_result = call.gradient
    if x.value.ndim > 1:
        of_result = reordered(shared(of_result, np.array(x.value.shape[0])), 1)
    return [negative(product(of_result, y)), negative(product(of_result, x))]


@gradient("nn.nll_loss")
def _nll_loss(call: Call) -> Partials:
    share = made("grad.nll_loss_backward", call.gradient, *call.operands, **call.node.attributes)
    return [share, *[None] * (len(call.operands) - 1)]


def _pooled(call: Call) -> Partials:
    kind = call.node.operator.removeprefix("nn.")
    (x,) = call.operands
    share = made(f"grad.{kind}_backward", call.gradient, x, **call.node.attributes)
    # A window of padding alone takes nothing of the data.
    return [unconstrain(share, np.isnan(share.value))]


for _kind in ("max", "avg"):
    GRADIENTS[f"nn.{_kind}_pool2d"] = _pooled
