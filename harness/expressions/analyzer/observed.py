"""A case by brute force: its values at all points at which something is claimed."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from relaxcheck.generators.expressions import language as expressions
from relaxcheck.generators.expressions.grid_values import evaluate, everywhere
from relaxcheck.generators.expressions.grids import Array, Grid, Values, grid
from relaxcheck.generators.expressions.language import BITS, Expression
from relaxcheck.generators.expressions.subject import Problem

_INDEX_BITS = 32
"""The bits of the narrowest index type of TVM's."""


@dataclass(frozen=True, slots=True)
class Observed:
    """A case on its grid.

    ``claimed`` are the points at which the expression has a value and every condition holds, None
    for all of them. ``inside`` are the values there, of which there is at least one. ``fully``: all
    checks are made, in all variants, also those that are made of some cases alone.

    ``wraps``: in the ranges that are declared an integer of fewer than 32 bits overflows. TVM says
    what it takes overflow for in index types alone, of 32 and 64 bits, where there is none
    (``src/arith/rewrite_simplify.cc``): what holds in such ranges it does not promise. ``partial``:
    somewhere in them the conditions hold and the expression has no value.
    """

    case: Problem
    points: Grid
    values: Values
    claimed: Any
    inside: Array
    low: int
    high: int
    fully: bool = False
    wraps: bool = False
    partial: bool = False

    def where(self, wrong: Any) -> int | None:
        """The first claimed point at which ``wrong`` holds; None where that is nowhere."""
        if self.claimed is not None:
            wrong = wrong & self.claimed
        # The method takes a third of the time that the function does, and is asked most.
        if not (wrong.any() if isinstance(wrong, np.ndarray) else wrong):
            return None
        return int(np.argmax(np.broadcast_to(np.asarray(wrong), (self.points.size,))))

    def one_in(self, share: int) -> bool:
        """True if a costly check is made: for about one case in ``share``.

        Always the same for one case.
        """
        return self.fully or self._is_chosen(share)

    def variants(self, share: int) -> tuple[bool, ...]:
        """Return the variants of a check that are made: True for the costlier one.

        The costlier one is made for about one case in ``share``, the other for the rest; both are
        made ``fully``, the cheaper first.

        Always the same for one case.
        """
        return (False, True) if self.fully else (self._is_chosen(share),)

    def _is_chosen(self, share: int) -> bool:
        size = expressions.size(self.case.expression)
        return (self.low * 7 + self.high * 13 + self.inside.size + size) % share == 0


def observed(case: Problem, *, fully: bool = False) -> Observed | None:
    """Brute force over ``case``; ``fully`` as in ``Observed``.

    None where nothing is claimed anywhere: no point has a value and satisfies the conditions.
    """
    points = grid(case.variables)
    values = evaluate(case.expression, points)
    met = None
    for condition in case.constraints:
        met = _both(met, _holds(condition, points))
    claimed = _both(None if values.invalid is None else np.logical_not(values.invalid), met)
    inside = everywhere(values, points)
    if claimed is not None:
        inside = inside[np.broadcast_to(claimed, (points.size,))]
        if not inside.size:
            return None
    low, high = int(inside.min()), int(inside.max())
    wraps = _is_narrow(case.expression) and _overflows(values, met)
    partial = values.invalid is not None and bool(np.any(_both(values.invalid, met)))
    return Observed(case, points, values, claimed, inside, low, high, fully, wraps, partial)


def _is_narrow(expression: Expression) -> bool:
    return any(1 < BITS[node.dtype] < _INDEX_BITS for node in expressions.nodes(expression))


def _overflows(values: Values, met: Any) -> bool:
    """True if an operation has no value where the conditions are ``met``, and does not trap."""
    if values.invalid is None:
        return False
    lost = values.invalid if values.traps is None else values.invalid & np.logical_not(values.traps)
    return bool(np.any(_both(lost, met)))


def _holds(condition: Expression, points: Grid) -> Any:
    values = evaluate(condition, points)
    return _both(
        np.asarray(values.values, bool),
        None if values.invalid is None else np.logical_not(values.invalid),
    )


def _both(left: Any, right: Any) -> Any:
    if left is None:
        return right
    return left if right is None else left & right
