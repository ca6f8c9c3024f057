"""One that answers all that brute force knows, in place of TVM's analyzer: right by construction.

Its rewrites give back their argument. Its answers about values are exact: the closest bounds, the
largest modulus, every condition proved that holds at all points.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import gcd

import numpy as np

from relaxcheck.generators.expressions.grid_values import evaluate, everywhere
from relaxcheck.generators.expressions.grids import Array, grid
from relaxcheck.generators.expressions.language import LIMITS, Expression, Variable, apply, constant
from relaxcheck.harness.expressions.analyzer.session import Ends, Mapped, Session


class ExactSession(Session):
    """Handles are the expressions themselves."""

    def __init__(self, variables: tuple[Variable, ...], ranges: str) -> None:
        self.variables = variables
        self.conditions: list[Expression] = []

    def rebind(self, variables: Sequence[Variable]) -> None:
        self.variables = tuple(variables)

    def emit(self, expression: Expression) -> Expression:
        return expression

    def fold(self, expression: Expression) -> Expression:
        return expression

    def compared(self, operator: str, left: Expression, right: Expression) -> Expression:
        return apply(operator, left, right)

    def read(self, handle: Expression) -> Expression:
        return handle

    def rewritten(self, how: str, handle: Expression) -> Expression:
        return handle

    def values(self, *expressions: Expression) -> list[Array]:
        """The values at all points where every one has one and the conditions hold."""
        points = grid(self.variables)
        inside = np.ones(points.size, bool)
        for each in (*expressions, *self.conditions):
            result = evaluate(each, points)
            if result.invalid is not None:
                inside &= ~result.invalid
        for each in self.conditions:
            inside &= everywhere(evaluate(each, points), points).astype(bool)
        return [everywhere(evaluate(each, points), points)[inside] for each in expressions]

    def proves(self, claim: Expression, strong: bool) -> bool:
        return bool(np.all(self.values(claim)[0]))

    def proves_equal(self, left: Expression, right: Expression) -> bool:
        return bool(np.array_equal(*self.values(left, right)))

    def bounds(self, handle: Expression) -> tuple[int | None, int | None]:
        return self._ends(handle)

    def _ends(self, handle: Expression) -> tuple[int, int]:
        (values,) = self.values(handle)
        return (int(values.min()), int(values.max())) if values.size else (0, -1)

    def modular(self, handle: Expression) -> tuple[int, int]:
        (values,) = self.values(handle)
        if not values.size:
            return 0, 0
        first = int(values[0])
        return gcd(*(int(value) - first for value in values)), first

    def covering(self, handle: Expression, relaxed: Sequence[str]) -> Ends:
        low, high = self._ends(handle)
        if low > high:
            return None, None
        smallest, largest = LIMITS[handle.dtype]
        return (
            constant(max(low, smallest), handle.dtype),
            constant(min(high, largest), handle.dtype),
        )

    def order(self, left: Expression, right: Expression) -> str | None:
        values, others = self.values(left, right)
        if not values.size:
            return "never"
        compared = {"==": np.equal, "<": np.less, ">": np.greater, "<=": np.less_equal}
        return next((o for o, holds in compared.items() if np.all(holds(values, others))), None)

    def linear(self, handle: Expression, names: Sequence[str]) -> list[Expression]:
        if handle.operator == "var" and [handle.leaf] == list(names):
            return [constant(1, handle.dtype), constant(0, handle.dtype)]
        return []

    def deduced(self, condition: Expression, name: str) -> Ends | None:
        left, right = condition.operands
        if condition.operator != "<" or left.leaf != name or right.operator != "const":
            return None
        if int(right.leaf) == LIMITS[right.dtype][0]:
            return None
        return None, constant(int(right.leaf) - 1, right.dtype)

    def index(self, handle: Expression, predicate: Expression | None) -> Expression:
        return handle

    def iterators(
        self, handle: Expression, predicate: Expression | None, level: str
    ) -> Mapped | None:
        (values,) = self.values(handle)
        reached = np.unique(values)
        if level == "Bijective" and reached.size != values.size:
            return None
        step = int(reached[1] - reached[0]) if reached.size > 1 else 1
        if not np.array_equal(reached, reached[0] + step * np.arange(reached.size)):
            return handle, None
        return handle, (int(reached[0]), step, int(reached.size))

    @contextmanager
    def assuming(self, conditions: Sequence[Expression]) -> Iterator[None]:
        before = list(self.conditions)
        self.conditions += conditions
        yield
        self.conditions = before
