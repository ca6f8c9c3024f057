"""The value of an expression at one point, with Python's integers.

Written apart from ``generators.expressions.grid_values``, as simply as can be: each is the other's
check.
"""

from collections.abc import Mapping

from relaxcheck.generators.expressions.language import (
    BITS,
    BOOL,
    COMPARISONS,
    LIMITS,
    SHIFTS,
    Expression,
)


class NoValue(ArithmeticError):
    """A division by zero, a result that its dtype does not hold, a shift by too much."""


def value_at(expression: Expression, binding: Mapping[str, int]) -> int:
    """The value of ``expression`` where the variables have the values of ``binding``.

    A bool is 0 or 1.

    Raises:
        NoValue: it has none there.
        KeyError: a variable has no value.
    """
    operator, operands = expression.operator, expression.operands
    if operator == "const":
        return int(expression.leaf)
    if operator == "var":
        return binding[str(expression.leaf)]
    if operator == "if_then_else":
        taken = operands[1] if value_at(operands[0], binding) else operands[2]
        return value_at(taken, binding)
    values = [value_at(operand, binding) for operand in operands]
    if operator == "cast":
        return _cast(values[0], expression.dtype)
    result = _result(operator, values, BITS[operands[0].dtype])
    low, high = LIMITS[expression.dtype]
    if not low <= result <= high:
        raise NoValue(f"{expression.dtype} does not hold {result}")
    return result


def _cast(value: int, dtype: str) -> int:
    if dtype == BOOL:
        return int(value != 0)
    low, _ = LIMITS[dtype]
    return (value - low) % (1 << BITS[dtype]) + low


def _result(operator: str, values: list[int], bits: int) -> int:
    if operator == "not":
        return 1 - values[0]
    if operator == "select":
        return values[1] if values[0] else values[2]
    left, right = values
    if operator in COMPARISONS:
        return int(_compared(operator, left, right))
    if operator in SHIFTS and not 0 <= right < bits:
        raise NoValue(f"{bits} bits shifted by {right}")
    if operator in ("//", "%", "truncdiv", "truncmod") and right == 0:
        raise NoValue("division by zero")
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
