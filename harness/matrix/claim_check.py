"""Results of the checks of claims: verdicts, from arrays that are compared."""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.wording import outside_of

RESULT = "result of a check: "
"""The prefix of a worker's line of output that is a result, in JSON."""


class Result(msgspec.Struct, frozen=True):
    """The verdict of a check, and a message."""

    verdict: Verdict
    message: str = ""


PASSES = Result(Verdict.PASS)


def compared(actual: Any, wanted: Any, bound: Any) -> Result:
    """``pass`` if each element of ``actual`` is within ``bound`` of ``wanted``; all are arrays."""
    actual, wanted = np.asarray(actual), np.asarray(wanted)
    if actual.shape != wanted.shape:
        return Result(Verdict.WRONG_SHAPE, f"shape {actual.shape}, not {wanted.shape}")
    # NaN is outside of any bound.
    outside = ~(np.abs(actual - wanted) <= bound)
    if outside.any():
        worst = float(np.max(np.abs(actual - wanted)))
        summary = f"{outside_of(int(outside.sum()), actual.size)}, by up to"
        return Result(Verdict.WRONG_VALUE, f"{summary} {worst:.2g}")
    return PASSES


def worst(results: Sequence[Result]) -> Result:
    """The first of ``results`` that is no pass; a pass if there is none."""
    return next((result for result in results if result.verdict is not Verdict.PASS), PASSES)
