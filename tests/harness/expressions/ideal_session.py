"""An analyzer that rewrites and reasons about unbounded integers: right, in place of TVM's.

It differs from ``exact_session`` in that it shares nothing with the oracle: values are those of a
processor and of unbounded integers (``processor``). A rewrite is right if both compute the same
before and after it, and neither stops nor is poison where it was not before.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar
from zlib import crc32

import numpy as np

from relaxcheck.generators.expressions import language as expressions
from relaxcheck.generators.expressions.grid_values import evaluate
from relaxcheck.generators.expressions.grids import Array, Grid, grid
from relaxcheck.generators.expressions.language import LIMITS, Expression, Variable, constant
from relaxcheck.harness.expressions.analyzer.session import Ends, Mapped
from tests.harness.expressions.exact_session import ExactSession
from tests.harness.expressions.processor import Computed, computed
from tests.harness.expressions.rewriting import proposals

_TRIES = 6
"""Proposals a rewrite."""


class IdealSession(ExactSession):
    """Handles are the expressions themselves. ``rewrites`` counts those that changed something."""

    rewrites: ClassVar[Counter[str]] = Counter()

    def __init__(self, variables: tuple[Variable, ...], means: str) -> None:
        super().__init__(variables, means)
        self._known: dict[tuple[Expression, bool], Computed] = {}

    def rebind(self, variables: Sequence[Variable]) -> None:
        super().rebind(variables)
        self._known.clear()

    def fold(self, expression: Expression) -> Expression:
        return self.rewritten("fold", expression)

    def rewritten(self, how: str, handle: Expression) -> Expression:
        rng = random.Random(crc32(f"{how} {handle}".encode()))
        result = handle
        for _ in range(_TRIES):
            path, node = rng.choice(list(expressions.places(result)))
            possible = list(proposals(node))
            if not possible:
                continue
            new = expressions.replaced(result, path, rng.choice(possible))
            if new != handle and self._is_right(handle, new):
                result = new
        self.rewrites[how] += result != handle
        return result

    def index(self, handle: Expression, predicate: Expression | None) -> Expression:
        return self.rewritten("index", handle)

    def values(self, *expressions: Expression) -> list[Array]:
        """The exact values at all points that meet the conditions and stop no processor."""
        inside = self._claimed()
        both = [self._computed(each, wraps=False) for each in expressions]
        for each in both:
            inside = inside & ~each.stops
        return [each.values[inside] for each in both]

    def covering(self, handle: Expression, relaxed: Sequence[str]) -> Ends:
        low, high = self._ends(handle)
        smallest, largest = LIMITS[handle.dtype]
        if low > high or low > largest or high < smallest:
            return None, None
        return (
            constant(max(low, smallest), handle.dtype),
            constant(min(high, largest), handle.dtype),
        )

    def modular(self, handle: Expression) -> tuple[int, int]:
        coefficient, base = super().modular(handle)
        return int(coefficient), int(base)

    def iterators(
        self, handle: Expression, predicate: Expression | None, level: str
    ) -> Mapped | None:
        # Of points without a value nothing can be promised.
        if evaluate(handle, self._points).invalid is not None:
            return None
        return super().iterators(handle, predicate, level)

    @property
    def _points(self) -> Grid:
        return grid(self.variables)

    def _computed(self, expression: Expression, *, wraps: bool) -> Computed:
        known = self._known.get((expression, wraps))
        if known is None:
            columns: Mapping[str, Array] = self._points.columns
            known = computed(expression, columns, self._points.size, wraps=wraps)
            self._known[expression, wraps] = known
        return known

    def _claimed(self) -> Array:
        """Where the conditions hold."""
        inside = np.ones(self._points.size, bool)
        for condition in self.conditions:
            exact = self._computed(condition, wraps=False)
            inside &= exact.values.astype(bool) & ~exact.stops
        return inside

    def _is_right(self, old: Expression, new: Expression) -> bool:
        inside = self._claimed()
        for wraps in (True, False):
            before, after = (self._computed(each, wraps=wraps) for each in (old, new))
            compared = inside & ~before.stops
            worse = after.stops | (after.poison & ~before.poison)
            if np.any(compared & (worse | (before.values != after.values))):
                return False
        return True
