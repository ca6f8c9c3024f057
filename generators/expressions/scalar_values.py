"""The value of an expression at one point, with Python's integers.

Written apart from ``generators.expressions.grid_values``, as simply as can be: each is the other's
check.
"""

from collections.abc import Mapping, Sequence

from relaxcheck.generators.expressions.language import (
    BITS,
    BOOL,
    COMPARISONS,
    DIVISIONS,
    LIMITS,
    LOGIC,
    SHIFTS,
    Expression,
)


class NoValue(ArithmeticError):
    """A division by zero, a result that its dtype does not hold, a shift by too much."""


class _Trap(NoValue):
    """A value that ends the process, used or not."""


def value_at(expression: Expression, binding: Mapping[str, int], *, decided: bool = False) -> int:
    """The value of ``expression`` where the variables have the values of ``binding``.

    A bool is 0 or 1. ``decided``: an operand that decides ``and`` or ``or`` needs no other.

    Raises:
        NoValue: it has none there.
        KeyError: a variable has no value.
    """
    value = _computed(expression, binding, decided)
    if value is None:
        raise NoValue(f"{expression} overflows, or shifts by too much")
    return value


def _computed(expression: Expression, binding: Mapping[str, int], decided: bool) -> int | None:
    """The value; None where there is none and nobody notices unless it is used."""
    operator, operands = expression.operator, expression.operands
    if operator == "const":
        return int(expression.leaf)
    if operator == "var":
        return binding[str(expression.leaf)]
    if operator == "if_then_else":
        return _guarded(expression, binding, decided)
    values = [_computed(operand, binding, decided) for operand in operands]
    if operator == "select":
        return None if values[0] is None else values[1] if values[0] else values[2]
    if operator in LOGIC and decided and int(operator == "or") in values:
        return int(operator == "or")
    if operator in DIVISIONS:
        _trap(values, LIMITS[expression.dtype][0])
    present = [value for value in values if value is not None]
    if len(present) < len(values):
        return None
    if operator == "cast":
        return _cast(present[0], expression.dtype)
    if operator in SHIFTS and not 0 <= present[1] < BITS[expression.dtype]:
        return None
    result = _result(operator, present)
    low, high = LIMITS[expression.dtype]
    return result if low <= result <= high else None


def _guarded(expression: Expression, binding: Mapping[str, int], decided: bool) -> int | None:
    condition, then, otherwise = expression.operands
    holds = _computed(condition, binding, decided)
    if holds is None:
        # Either may be computed.
        for operand in (then, otherwise):
            _computed(operand, binding, decided)
        return None
    return _computed(then if holds else otherwise, binding, decided)


def _trap(values: Sequence[int | None], lowest: int) -> None:
    """Raise ``_Trap`` where a processor may: an operand without a value may be any."""
    dividend, divisor = values
    if divisor is None or divisor == 0:
        raise _Trap("division by zero")
    if lowest < 0 and divisor == -1 and dividend in (None, lowest):
        raise _Trap("a quotient that its dtype does not hold")


def _cast(value: int, dtype: str) -> int:
    if dtype == BOOL:
        return int(value != 0)
    low, _ = LIMITS[dtype]
    return (value - low) % (1 << BITS[dtype]) + low


def _result(operator: str, values: Sequence[int]) -> int:
    if operator == "not":
        return 1 - values[0]
    left, right = values
    if operator in COMPARISONS:
        return int(_compared(operator, left, right))
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "//":
            return left // right
        case "%":
            return left % right
        case "truncdiv" | "truncmod":
            quotient: int = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            return quotient if operator == "truncdiv" else left - quotient * right
        case "min" | "max":
            return min(left, right) if operator == "min" else max(left, right)
        case "<<" | ">>":
            return int(left << right) if operator == "<<" else left >> right
        case "&" | "and":
            return left & right
        case "|" | "or":
            return left | right
        case "^":
            return left ^ right
    raise AssertionError(f"no meaning of {operator!r}")


def _compared(operator: str, left: int, right: int) -> bool:
    if operator in ("==", "!="):
        return (left == right) == (operator == "==")
    if operator in ("<", "<="):
        return left < right or (operator == "<=" and left == right)
    return left > right or (operator == ">=" and left == right)
