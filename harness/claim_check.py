"""What a check of a claim gives: a verdict, from arrays that are compared."""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from harness.outcome import Verdict

TOLD = "result of a check: "
"""What a line of a worker begins with that is a result, in JSON."""


class Result(msgspec.Struct, frozen=True):
    """What came of a check, and what there is to say of it."""

    verdict: Verdict
    message: str = ""


PASSES = Result(Verdict.PASS)


def compared(found: Any, wanted: Any, bound: Any) -> Result:
    """``pass`` where each element of ``found`` is within ``bound`` of ``wanted``, arrays all."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    if found.shape != wanted.shape:
        return Result(Verdict.WRONG_SHAPE, f"shape {found.shape}, not {wanted.shape}")
    # NaN is outside of any bound.
    outside = ~(np.abs(found - wanted) <= bound)
    if outside.any():
        worst = float(np.max(np.abs(found - wanted)))
        said = f"{int(outside.sum())} of {found.size} elements outside their bound, by up to"
        return Result(Verdict.WRONG_VALUE, f"{said} {worst:.2g}")
    return PASSES


def worst(results: Sequence[Result]) -> Result:
    """The first of ``results`` that is no pass; a pass where there is none."""
    return next((one for one in results if one.verdict is not Verdict.PASS), PASSES)
