"""Helpers of all checks of answers: the fault of a wrong one, and whether a value was kept."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from relaxcheck.generators.expressions.grid_values import evaluate
from relaxcheck.generators.expressions.language import Expression, names
from relaxcheck.harness.expressions.analyzer.observed import Observed
from relaxcheck.harness.expressions.fault import Asked, Fault


def fault(
    question: str,
    message: str,
    seen: Observed,
    point: int | None,
    *,
    validity: bool = False,
    valued: bool = False,
) -> Fault:
    """A wrong answer to ``question`` about the expression, at ``point`` of the grid.

    The message ends with the point. ``valued``: it holds the value of the expression there already.
    """
    expression = seen.case.expression
    if point is None:
        return Fault(Asked(question, validity), message, str(expression), {})
    witness = seen.points.binding(point)
    parts = (expression,) if seen.case.other is None else (expression, seen.case.other)
    used = frozenset().union(*map(names, parts))
    if place := ", ".join(f"{name} = {of}" for name, of in witness.items() if name in used):
        value = at(seen.values.values, point)
        message += f" at {place}" if valued else f"; the expression is {value} at {place}"
    return Fault(Asked(question, validity), message, str(expression), witness)


def same(question: str, seen: Observed, new: Expression) -> Iterator[Fault]:
    """Check that ``new`` has the value of the expression wherever something is claimed."""
    old = seen.case.expression
    if new.dtype != old.dtype:
        yield fault(question, f"gives {new}, of dtype {new.dtype}", seen, None)
        return
    new_values = evaluate(new, seen.points)
    wrong = np.not_equal(new_values.values, seen.values.values)
    if new_values.lost is not None:
        lost = seen.where(new_values.lost)
        if lost is not None:
            why = "divides by zero or overflows"
            yield fault(
                question, f"gives {new}, which {why}", seen, lost, validity=True, valued=True
            )
            return
    point = seen.where(wrong)
    if point is not None:
        was, now = (at(values, point) for values in (seen.values.values, new_values.values))
        text = f"gives {new}, which is {now}, not {was}"
        yield fault(question, text, seen, point, valued=True)


def at(values: Any, point: int) -> int:
    """The value at ``point``, of a vector or of what is the same everywhere."""
    return int(values[point] if np.ndim(values) else values)
