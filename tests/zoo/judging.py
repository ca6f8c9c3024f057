"""Judges results by a ratio: TVM's error to PyTorch's own, both against float64."""

from collections.abc import Sequence

import numpy as np

from relaxcheck.generators.core.values import Array
from relaxcheck.harness.models.judging import MODEL_LIMIT, measured

THRESHOLD = MODEL_LIMIT
"""The ratio from which on a result is wrong."""


def ratio(result: Array, eager: Array, exact: Array) -> float:
    """The error of ``result`` as a multiple of that of ``eager``, both against ``exact``.

    As ``relaxcheck model`` measures it, but that integers have to be equal.
    """
    return measured(result, eager, exact if eager.dtype.kind == "f" else None).ratio


def worst(results: Sequence[Array], eager: Sequence[Array], exact: Sequence[Array]) -> float:
    """The largest ratio of several results; infinite if there are more or fewer than expected."""
    if len(results) != len(eager):
        return float("inf")
    return max(map(ratio, results, eager, exact), default=0.0)


def difference(results: Sequence[Array], eager: Sequence[Array]) -> str:
    """The first result that has another shape, dtype or value than ``eager``, and how it is."""
    if len(results) != len(eager):
        return f"{len(results)} results for {len(eager)}"
    for number, (result, expected) in enumerate(zip(results, eager, strict=True)):
        kind = f"{result.dtype}{list(result.shape)}", f"{expected.dtype}{list(expected.shape)}"
        if kind[0] != kind[1]:
            return f"result {number} is {kind[0]} for {kind[1]}"
    numbers = []
    for number, (result, expected) in enumerate(zip(results, eager, strict=True)):
        if np.array_equal(result, expected, equal_nan=result.dtype.kind == "f"):
            continue
        lost = int((np.isfinite(result) != np.isfinite(expected)).sum())
        text = f"{lost} infinities or NaN" if lost else f"off by {_largest(result, expected):.2g}"
        numbers.append(f"result {number}: {text}")
    return "; ".join(numbers[:2])


def _largest(result: Array, expected: Array) -> float:
    finite = np.isfinite(expected.astype(np.float64))
    apart = np.abs(result[finite].astype(np.float64) - expected[finite].astype(np.float64))
    return float(apart.max(initial=0.0))
