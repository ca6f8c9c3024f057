"""The reference's boxes and scores of anchors."""

from dataclasses import replace

import numpy as np

from relaxcheck.generators.core.program import ITEM, Node
from relaxcheck.oracles.reference.attribute_values import flag, integer, number
from relaxcheck.oracles.reference.bounds import added, multiplied, negated, unconstrain
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, exact, unknown
from relaxcheck.oracles.reference.evaluation import OPERATORS, Numerics, operator


@operator("vision.multibox_transform_loc")
def _decoded(node: Node, operands: list[Estimate]) -> Estimate:
    scores, places, anchors = operands
    if len({each.dtype for each in operands}) != 1:
        raise ValueError("the operands are of one dtype")
    if [each.value.ndim for each in operands] != [3, 2, 3]:
        raise ValueError("scores of rank 3, places of rank 2, anchors of rank 3")
    batch, _, count = scores.value.shape
    if places.value.shape != (batch, 4 * count) or anchors.value.shape != (1, count, 4):
        raise ValueError(f"places or anchors do not fit {count} anchors in {batch} batches")
    variances = node.attributes.get("variances", (1, 1, 1, 1))
    if not isinstance(variances, tuple) or len(variances) != 4:
        raise ValueError(f"variances {variances!r} are no four numbers")
    if integer(node, ITEM) == 0:
        return _boxes(places, anchors, variances, clip=flag(node, "clip", False))
    return _scores(node, scores)


def _boxes(
    places: Estimate, anchors: Estimate, variances: tuple[float, ...], *, clip: bool
) -> Estimate:
    """Corners (ymin, xmin, ymax, xmax), the last axis."""
    dtype = anchors.dtype
    batch, count = len(places.value), anchors.value.shape[1]
    moves = [
        replace(
            places,
            value=places.value.reshape(batch, count, 4)[..., at],
            error=places.error.reshape(batch, count, 4)[..., at],
        )
        for at in range(4)
    ]
    sides = [
        replace(anchors, value=anchors.value[..., at], error=anchors.error[..., at])
        for at in range(4)
    ]

    def times(a: Estimate, factor: float) -> Estimate:
        return multiplied(a, _number(factor, dtype), dtype)

    ends = {}
    for at in range(2):
        low, high = sides[at], sides[at + 2]
        length = added(high, negated(low), dtype)
        middle = times(added(low, high, dtype), 0.5)
        shift = multiplied(times(moves[at], variances[at]), length, dtype)
        center = added(shift, middle, dtype)
        grown = _exponential(times(moves[at + 2], variances[at + 2]))
        half = times(multiplied(grown, length, dtype), 0.5)
        ends[at] = (added(center, negated(half), dtype), added(center, half, dtype))
    corners = [ends[1][0], ends[0][0], ends[1][1], ends[0][1]]
    value, error = (
        np.stack([np.broadcast_to(part, (batch, count)) for part in parts], -1)
        for parts in zip(*((each.value, each.error) for each in corners), strict=True)
    )
    # Products and sums may be formed in another order, which is beyond the range elsewhere.
    unsure = ~(np.abs(value) + error <= FORMATS[dtype].largest / 4)
    moved = unconstrain(Estimate(value, error, dtype), unsure)
    return replace(moved, value=np.clip(moved.value, 0, 1)) if clip else moved


def _number(value: float, dtype: str) -> Estimate:
    """The number as ``dtype`` has it."""
    wide = np.asarray(float(value))
    unit = FORMATS[dtype].unit
    near = exact(wide, dtype)
    return near if float(value).is_integer() or value == 0.5 else replace(near, error=unit * wide)


def _exponential(operand: Estimate) -> Estimate:
    return OPERATORS["exp"](Node("e", "exp", ()), [operand], Numerics.OWN)


def _scores(node: Node, scores: Estimate) -> Estimate:
    """A score near the threshold, or that may be, is open; so is a product of 0 and infinity."""
    limit = number(node, "threshold", 0.0)
    if flag(node, "apply_softmax", True):
        softmax = Node("s", "nn.softmax", (), {"axis": 1})
        scores = OPERATORS["nn.softmax"](softmax, [scores], Numerics.OWN)
    off = scores.error + abs(limit) * FORMATS[scores.dtype].unit
    unsure = unknown(scores)
    with np.errstate(invalid="ignore"):
        below = scores.value < limit
        # On a threshold of 0 a score of 0 stays what it is.
        unsure = unsure | ((np.abs(scores.value - limit) <= off) & ((limit != 0) | (off > 0)))
    if limit == 0 and flag(node, "apply_softmax", True):
        # A softmax is never below 0.
        below, unsure = np.zeros_like(below), unknown(scores)
    value = np.where(below, 0, scores.value)
    error = np.where(below, 0, scores.error)
    kept = unconstrain(Estimate(value, error, scores.dtype), unsure)
    if flag(node, "keep_background", True) or not value.shape[1]:
        return kept
    value, error = kept.value.copy(), kept.error.copy()
    value[:, 0], error[:, 0] = 0, 0
    return replace(kept, value=value, error=error)
