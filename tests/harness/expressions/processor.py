"""Expressions as a processor computes them, and as unbounded integers do: no oracle's rules in it.

Written apart from ``generators.expressions.grid_values`` and ``scalar_values``, from what LLVM's
reference says of poison: what overflows is poison, and so is what uses it. A division by zero or by
poison stops the processor. All operands are computed, of ``if_then_else`` alone the one taken.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxcheck.generators.expressions.language import (
    BITS,
    BOOL,
    DIVISIONS,
    LIMITS,
    LOGIC,
    SHIFTS,
    Expression,
)

Array = NDArray[Any]


class Computed(NamedTuple):
    """Python's integers, one a point; the points at which the processor stops; those of poison."""

    values: Array
    stops: Array
    poison: Array


def computed(
    expression: Expression, columns: Mapping[str, Array], size: int, *, wraps: bool = True
) -> Computed:
    """``expression`` at ``size`` points, at which ``columns`` has the values of variables.

    ``wraps``: results wrap around at the ends of their dtype. Otherwise they are exact, and only a
    cast wraps. A shift by an invalid count is 0.
    """
    operator = expression.operator
    never = np.zeros(size, bool)
    if operator == "const":
        return Computed(np.full(size, int(expression.leaf), object), never, never)
    if operator == "var":
        return Computed(columns[str(expression.leaf)].astype(object), never, never)
    operands = [computed(each, columns, size, wraps=wraps) for each in expression.operands]
    stops = np.logical_or.reduce([each.stops for each in operands])
    poison = np.logical_or.reduce([each.poison for each in operands])
    values = [each.values for each in operands]
    if operator in ("select", "if_then_else"):
        taken = values[0].astype(bool)
        if operator == "if_then_else":
            own = np.where(taken, operands[1].stops, operands[2].stops)
            stops = operands[0].stops | own
        poison = operands[0].poison | np.where(taken, operands[1].poison, operands[2].poison)
        return Computed(np.where(taken, values[1], values[2]), stops, poison)
    if operator in LOGIC:
        decided = [(each.values == (operator == "or")) & ~each.poison for each in operands]
        poison = poison & ~np.logical_or(*decided)
    if operator in DIVISIONS:
        zero = values[1] == 0
        lowest = LIMITS[expression.dtype][0]
        beyond = (values[0] == lowest) & (values[1] == -1) & (lowest < 0)
        stops = stops | zero | beyond | operands[1].poison
        values[1] = np.where(zero, 1, values[1])
    if operator in SHIFTS:
        allowed = (values[1] >= 0) & (values[1] < BITS[expression.dtype])
        values = [np.where(allowed, each, 0) for each in values]
        poison = poison | ~allowed
    result = values[0] if operator == "cast" else _FUNCTIONS[operator](*values)
    wrapped = _wrapped(result, expression.dtype)
    if operator != "cast":
        poison = poison | (wrapped != result)
    return Computed(
        (wrapped if operator == "cast" or wraps else result).astype(object), stops, poison
    )


def _wrapped(values: Array, dtype: str) -> Array:
    if dtype == BOOL:
        return values != 0
    low = LIMITS[dtype][0]
    return (values - low) % (1 << BITS[dtype]) + low


def _truncdiv(left: Array, right: Array) -> Array:
    quotient = abs(left) // abs(right)
    return np.where((left < 0) == (right < 0), quotient, -quotient)


_FUNCTIONS: Mapping[str, Callable[..., Array]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "truncdiv": _truncdiv,
    "truncmod": lambda a, b: a - b * _truncdiv(a, b),
    "min": np.minimum,
    "max": np.maximum,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "and": lambda a, b: a.astype(bool) & b.astype(bool),
    "or": lambda a, b: a.astype(bool) | b.astype(bool),
    "not": lambda a: ~a.astype(bool),
}
