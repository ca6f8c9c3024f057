"""Judges results by a ratio: TVM's error to PyTorch's own, both against float64."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

THRESHOLD = 20.0
"""The ratio from which on a result is wrong.

Right models of this zoo are below 4, and wrong ones above 1e4: nothing lies between.
"""

UNIT = 2.0**-23
"""The least error that PyTorch is credited with, relative to the largest value of a result."""

Array = NDArray[np.generic]


def ratio(result: Array, eager: Array, exact: Array) -> float:
    """The error of ``result`` as a multiple of that of ``eager``, both against ``exact``.

    Infinite where shape or dtype differ, where infinities and NaN do not lie where those of
    ``eager`` do, and where integers are not equal.
    """
    if result.shape != eager.shape or result.dtype != eager.dtype:
        return float("inf")
    if result.dtype.kind != "f":
        return 0.0 if np.array_equal(result, eager) else float("inf")
    finite = np.isfinite(eager)
    if not np.array_equal(np.isfinite(result), finite):
        return float("inf")
    if not np.array_equal(result[~finite], eager[~finite], equal_nan=True):
        return float("inf")
    if not finite.any():
        return 0.0
    wide = exact[finite].astype(np.float64)
    error = float(np.abs(result[finite].astype(np.float64) - wide).max())
    own = float(np.abs(eager[finite].astype(np.float64) - wide).max())
    floor = UNIT * float(np.abs(wide).max())
    least = max(own, floor)
    if least == 0.0:
        return 0.0 if error == 0.0 else float("inf")
    return error / least


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
