"""Samples from distributions: the rows are walked until the sample is passed."""

from collections.abc import Sequence

import numpy as np

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import FLOATS, Array, Type, operator, refuse, text
from tests.measure.quality.control.summation import Freedom

_INDICES = ("int8", "int16", "int32", "int64")


def _infer(node: Node, operands: Sequence[Type]) -> Type:
    prob, sample, rows = operands
    for name, each, among in (
        ("prob", prob, FLOATS),
        ("uniform_sample", sample, FLOATS),
        ("sample_indices", rows, _INDICES),
    ):
        if each.dtype not in among:
            raise refuse(node, f"the dtype {each.dtype} of {name} is none of {', '.join(among)}")
        if each.rank != 2:
            raise refuse(node, f"{name} has rank {each.rank}; the shape is that of a matrix")
    if sample.shape != rows.shape or sample.shape[1] != 1:
        raise refuse(
            node, f"samples of shape {sample.shape} and indices of shape {rows.shape}: no columns"
        )
    return Type(sample.shape, text(node, "dtype", "int64"))


@operator("multinomial_from_uniform", _infer)
def _sampled(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    prob, sample, rows = operands
    result = np.zeros(sample.shape, text(node, "dtype", "int64"))
    for at, (limit, row) in enumerate(zip(sample[:, 0], rows[:, 0], strict=True)):
        total, place = prob.dtype.type(0), 0
        for place, part in enumerate(prob[row]):  # noqa: B007
            total = prob.dtype.type(total + part)
            if float(limit) < float(total):
                break
        result[at, 0] = place
    return result
