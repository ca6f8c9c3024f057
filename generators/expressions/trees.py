"""Trees of operators, drawn with a random number generator."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from relaxcheck.generators.expressions import language as expressions
from relaxcheck.generators.expressions.language import BITS, BOOL, LIMITS, Expression, Variable

_T = TypeVar("_T")


def _weighted(*choices: tuple[str, int]) -> tuple[str, ...]:
    return tuple(name for name, weight in choices for _ in range(weight))


_OPERATORS = _weighted(
    *(("+", 8), ("-", 8), ("*", 7), ("//", 9), ("%", 9), ("truncdiv", 4), ("truncmod", 4)),
    *(("min", 5), ("max", 5), ("select", 2), ("if_then_else", 1), ("<<", 1), (">>", 2)),
    *(("&", 1), ("|", 1), ("^", 1), ("cast", 1)),
)
_CONDITIONS = _weighted(
    *(("<", 5), ("<=", 5), (">", 3), (">=", 4), ("==", 6), ("!=", 3)),
    *(("and", 2), ("or", 2), ("not", 1)),
)
_SMALL = (1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 8, 16, 0, -1, -2, -3, -4, -8)
_NOTABLE = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 64, 100, 127, 128, -1, -2, -3, -8)


@dataclass(slots=True)
class Draft:
    """The state that a case is drawn from: random numbers, its variables, its dtype.

    Variables of other dtypes are added as casts of them are drawn.
    """

    rng: random.Random
    variables: tuple[Variable, ...]
    dtype: str
    others: dict[str, Variable] = field(default_factory=dict)

    def used(self) -> tuple[Variable, ...]:
        """All variables, used or not."""
        return (*self.variables, *self.others.values())

    def pick(self, choices: Sequence[_T]) -> _T:
        """One of ``choices``, each as likely: ``Random.choice`` takes four times as long."""
        return choices[int(self.rng.random() * len(choices))]

    def small(self) -> int:
        """A factor or a divisor: positive most of the time, rarely zero."""
        return self.pick(_SMALL)

    def constant(self, value: int) -> Expression:
        """``value``, or the nearest that the dtype holds."""
        low, high = LIMITS[self.dtype]
        return Expression("const", self.dtype, (), max(low, min(high, value)))

    def notable(self) -> Expression:
        """A constant near those where rules change: powers of two, ends of the ranges."""
        draw = self.rng.random()
        if draw < 0.75:
            return self.constant(self.pick(_NOTABLE))
        if draw < 0.97:
            declared = self.pick(self.variables)
            end = declared.low if self.rng.random() < 0.5 else declared.high
            return self.constant(end + self.pick((-1, 0, 1)))
        return self.constant(self.pick(LIMITS[self.dtype]) // self.pick((1, 2, 3)))


def leaf(draft: Draft) -> Expression:
    """A variable, or a notable constant."""
    if draft.rng.random() < 0.7:
        return expressions.variable(draft.pick(draft.variables))
    return draft.notable()


def tree(draft: Draft, depth: int) -> Expression:
    """An integer expression whose longest way to a leaf has at most ``depth`` operators."""
    if depth <= 0:
        return leaf(draft)
    operator = draft.pick(_OPERATORS)
    if operator in ("select", "if_then_else"):
        then, otherwise = tree(draft, depth - 1), tree(draft, depth - 1)
        operands = (condition(draft, max(depth - 1, 1)), then, otherwise)
        return Expression(operator, draft.dtype, operands)
    if operator == "cast":
        return _cast(draft, depth)
    left = _side(draft, depth)
    if operator in ("<<", ">>"):
        count = Expression("const", draft.dtype, (), int(draft.rng.random() * 5))
        return Expression(operator, draft.dtype, (left, count))
    if operator in expressions.DIVISIONS:
        return Expression(operator, draft.dtype, (left, _divisor(draft, depth)))
    if operator == "*" and draft.rng.random() < 0.6:
        return Expression(operator, draft.dtype, (left, draft.constant(draft.small())))
    return Expression(operator, draft.dtype, (left, _side(draft, depth)))


def _side(draft: Draft, depth: int) -> Expression:
    # One deep side and one shallow one is what real expressions look like.
    return tree(draft, depth - 1 if draft.rng.random() < 0.7 else depth - 2)


def _divisor(draft: Draft, depth: int) -> Expression:
    chance = draft.rng.random()
    if chance < 0.7:
        return draft.constant(draft.small())
    if chance < 0.9:
        return expressions.variable(draft.pick(draft.variables))
    return tree(draft, depth - 1)


def _cast(draft: Draft, depth: int) -> Expression:
    """There and back, or from a condition, or of a variable of another dtype."""
    chance = draft.rng.random()
    if chance < 0.4:
        return expressions.converted(condition(draft, max(depth - 1, 1)), draft.dtype)
    dtype = draft.pick([name for name in LIMITS if name not in (BOOL, draft.dtype)])
    if chance < 0.7:
        there = expressions.converted(tree(draft, depth - 1), dtype)
        return expressions.converted(there, draft.dtype)
    name = f"w{BITS[dtype]}{'u' if dtype.startswith('u') else ''}"
    low = -3 if not dtype.startswith("u") and draft.rng.random() < 0.5 else 0
    declared = draft.others.setdefault(name, Variable(name, dtype, low, 5))
    return expressions.converted(expressions.variable(declared), draft.dtype)


def condition(draft: Draft, depth: int) -> Expression:
    """A condition over trees of less than ``depth`` operators."""
    operator = draft.pick(_CONDITIONS)
    if depth > 1 and operator in ("and", "or"):
        both = (condition(draft, depth - 1), condition(draft, depth - 1))
        return Expression(operator, BOOL, both)
    if depth > 1 and operator == "not":
        return Expression(operator, BOOL, (condition(draft, depth - 1),))
    if operator in ("and", "or", "not"):
        operator = "<"
    right = draft.notable() if draft.rng.random() < 0.5 else tree(draft, depth - 1)
    left = tree(draft, depth - int(draft.rng.random() < 0.5))
    return Expression(operator, BOOL, (left, right))


def assumption(draft: Draft) -> Expression:
    """A condition as passes assume them, that holds at some points more often than not.

    That a variable is on one side of a value in its range or of another variable, a remainder or a
    quotient of it; now and then any condition.
    """
    chance = draft.rng.random()
    if chance < 0.2:
        return condition(draft, 1)
    declared = draft.pick(draft.variables)
    value = expressions.variable(declared)
    middle = draft.constant(declared.low + int(draft.rng.random() * (declared.high - declared.low)))
    if chance < 0.45:
        divisor = draft.constant(draft.pick((2, 3, 4, 5, 8, -2, -3)))
        value = Expression(draft.pick(("%", "%", "//", "truncmod")), draft.dtype, (value, divisor))
        rest = draft.constant(draft.pick((0, 0, 0, 1, 1, 2, -1)))
        return Expression(draft.pick(("==", "==", "<", "!=")), BOOL, (value, rest))
    if chance < 0.7 and len(draft.variables) > 1:
        other = expressions.variable(draft.pick(draft.variables))
        if draft.rng.random() < 0.3:
            other = Expression("+", draft.dtype, (other, draft.constant(draft.small())))
        return Expression(draft.pick(("<", "<=", "==", "!=", ">=")), BOOL, (value, other))
    if draft.rng.random() < 0.3:
        value = Expression("*", draft.dtype, (value, draft.constant(draft.small())))
    return Expression(draft.pick(("<", "<=", ">", ">=", "==", "!=")), BOOL, (value, middle))
