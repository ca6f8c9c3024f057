"""What all checks of answers share: the fault of a wrong one, and whether a value was kept."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from generators.expressions import Expression
from generators.grid_values import evaluate
from harness.algebra.observed import Observed
from harness.fault import VALIDITY, Fault


def fault(check: str, message: str, seen: Observed, point: int | None) -> Fault:
    """What ``check`` found about the expression, wrong at ``point`` of the grid."""
    witness = {} if point is None else seen.points.binding(point)
    return Fault(check, message, str(seen.case.expression), witness)


def same(check: str, seen: Observed, new: Expression) -> Iterator[Fault]:
    """That ``new`` has the value of the expression wherever something is claimed."""
    old = seen.case.expression
    if new.dtype != old.dtype:
        yield fault(check, f"gives {new}, of dtype {new.dtype}", seen, None)
        return
    found = evaluate(new, seen.points)
    wrong = np.not_equal(found.values, seen.values.values)
    if found.invalid is not None:
        lost = seen.where(found.invalid)
        if lost is not None:
            why = "divides by zero or overflows"
            yield fault(f"{check}{VALIDITY}", f"gives {new}, which {why} there", seen, lost)
            return
    point = seen.where(wrong)
    if point is not None:
        was, now = (at(values, point) for values in (seen.values.values, found.values))
        yield fault(check, f"gives {new}, which is {now}, not {was}", seen, point)


def at(values: Any, point: int) -> int:
    """The value at ``point``, of a vector or of what is the same everywhere."""
    return int(values[point] if np.ndim(values) else values)
