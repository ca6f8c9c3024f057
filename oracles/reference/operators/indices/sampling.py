"""The reference's samples from distributions."""

from dataclasses import replace

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.attribute_values import text
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, exact, unknown
from relaxcheck.oracles.reference.evaluation import operator


@operator("multinomial_from_uniform")
def _sampled(node: Node, operands: list[Estimate]) -> Estimate:
    """A sample next to a sum is open: the sum is rounded, and which side an equal one is on is not
    defined. So is one that is not below the sum of all.
    """
    prob, sample, rows = operands
    if not {prob.dtype, sample.dtype} <= set(FORMATS) or rows.dtype in FORMATS:
        raise ValueError("probabilities and samples are of floating-point dtypes, indices are not")
    if prob.value.ndim != 2 or sample.value.shape != rows.value.shape or sample.value.ndim != 2:
        raise ValueError("rows of probabilities, and as many samples as indices of rows")
    if sample.value.shape[1] != 1:
        raise ValueError("samples and indices are columns")
    places = rows.value[:, 0]
    if ((places < 0) | (places >= prob.value.shape[0])).any():
        raise ValueError(f"an index of no row: there are {prob.value.shape[0]}")
    sums = _sums(prob)
    chosen = replace(sums, value=sums.value[places], error=sums.error[places])
    below = (sample.value < chosen.value).astype(np.int64)
    near = np.abs(sample.value - chosen.value) <= sample.error + chosen.error
    unsure = near | unknown(sample, chosen)
    result = below.argmax(axis=1, keepdims=True) if below.shape[1] else below[:, :0]
    # A sum beyond the place may be near, too, where all between are the same.
    open_places = unsure.any(axis=1, keepdims=True) | ~below.any(axis=1, keepdims=True)
    estimate = Estimate(result, np.zeros(result.shape), text(node, "dtype", "int64"))
    return bounds.unconstrain(estimate, open_places)


def _sums(prob: Estimate) -> Estimate:
    one = exact(np.ones((), np.float64), "float64")

    def up_to(a: Array, b: Array) -> Array:
        sums: Array = np.cumsum(a * b, axis=1)
        return sums

    return bounds.sum_of_products(prob, one, up_to, prob.dtype)
