"""The reference's rows that are valid: above a score, and of a class."""

from dataclasses import replace

import numpy as np

from relaxcheck.generators.core.program import ITEM, Node
from relaxcheck.oracles.reference.attribute_values import integer, number
from relaxcheck.oracles.reference.bounds import unconstrain
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, Flags, unknown
from relaxcheck.oracles.reference.evaluation import operator


@operator("vision.get_valid_counts")
def _valid_counts(node: Node, operands: list[Estimate]) -> Estimate:
    """A batch where rounding decides about a row, or NaN, is open."""
    (data,) = operands
    score, identity = integer(node, "score_index", 1), integer(node, "id_index", 0)
    limit = number(node, "score_threshold", 0)
    if data.value.ndim != 3:
        raise ValueError(f"rank {data.value.ndim} is not 3")
    if not 0 <= score < data.value.shape[2] or not -1 <= identity < data.value.shape[2]:
        raise ValueError(f"a row of {data.value.shape[2]} has no place {score} or {identity}")
    valid = data.value[..., score] > limit
    # The threshold is rounded to the dtype; which side a score on it is on is not defined.
    off = data.error[..., score] + abs(limit) * FORMATS[data.dtype].unit
    unsure = np.abs(data.value[..., score] - limit) <= off
    if identity >= 0:
        valid &= data.value[..., identity] >= 0
        unsure |= np.abs(data.value[..., identity]) < data.error[..., identity]
    unsure |= unknown(data).any(-1)
    open_batches: Flags = np.asarray(unsure.any(1))
    counts = valid.sum(1)
    order = np.argsort(~valid, axis=1, kind="stable")
    after = np.arange(data.value.shape[1]) >= counts[:, None]
    item = integer(node, ITEM)
    if item == 0:
        return unconstrain(Estimate(counts, np.zeros(counts.shape), "int32"), open_batches)
    if item == 2:
        places = np.where(after, -1, order)
        return unconstrain(Estimate(places, np.zeros(places.shape), "int32"), open_batches[:, None])
    value, error = (
        np.where(after[..., None], empty, np.take_along_axis(each, order[..., None], 1))
        for each, empty in ((data.value, -1), (data.error, 0))
    )
    rows = replace(data, value=value, error=error)
    return unconstrain(rows, open_batches[:, None, None])
