"""Expressions to compile, and their variables."""

from relaxcheck.generators.expressions.language import (
    Expression,
    Variable,
    apply,
    constant,
    variable,
)
from relaxcheck.generators.expressions.subject import Problem

X, Y = (Variable(name, "int64", low, 8) for name, low in (("x", 0), ("y", 1)))


x, y = variable(X), variable(Y)


def subject(expression: Expression, *variables: Variable) -> Problem:
    return Problem(variables or (X, Y), expression)


SUBJECTS = [
    subject(apply("+", apply("//", apply("*", x, constant(n, "int64")), y), x))
    for n in range(1, 21)
]
"""More than go into one function."""

BELOW = subject(apply("-", x, constant(3, "int64")), X)
"""Negative at three points, and 0 at one."""
