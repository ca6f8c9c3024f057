"""The subject of a check of the analyzer: an expression, and the ranges of its variables."""

import hashlib

import msgspec

from relaxcheck.generators.expressions import language as expressions
from relaxcheck.generators.expressions.language import (
    BOOL,
    DIVISIONS,
    Expression,
    ExpressionError,
    Variable,
)

MEANS = ("range", "scope", "bound", "nothing")
"""The ways in which the analyzer learns ranges of variables: each is bound to one
(``Analyzer.bind``); by conditions that are assumed (``constraint_scope``); as constant bounds
(``Analyzer.update``), as Relax states that its shape variables are not negative; not at all."""


class Problem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One expression with its variables' ranges.

    ``constraints`` are conditions that are assumed, in this order; where one of them does not hold,
    nothing is claimed. ``other`` is a second expression of the same dtype, that may be equal or
    not: the analyzer is asked. ``kind`` says how it was drawn.
    """

    variables: tuple[Variable, ...]
    expression: Expression
    constraints: tuple[Expression, ...] = ()
    other: Expression | None = None
    means: str = msgspec.field(default="range", name="told")
    kind: str = "given"

    def __str__(self) -> str:
        ranges = ", ".join(
            f"{each.name}: {each.dtype} in [{each.low}, {each.high}]" for each in self.variables
        )
        parts = [str(self.expression)]
        if self.other is not None:
            parts.append(f"beside {self.other}")
        if self.constraints:
            parts.append(f"where {' and '.join(f'({each})' for each in self.constraints)}")
        suffix = "" if self.means == "range" else f" (told: {self.means})"
        return f"{' '.join(parts)} with {ranges or 'no variables'}{suffix}"

    @property
    def identifier(self) -> str:
        """The hash of its JSON: 16 hexadecimal digits."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()[:16]


def validate(case: Problem) -> None:
    """Check a case that was read from outside.

    Raises:
        ExpressionError: an expression of it is not one, a constraint is no condition, ``other`` has
            another dtype, or ``means`` is not one of ``MEANS``.
    """
    if case.means not in MEANS:
        raise ExpressionError(f"{case.means!r} is not one of {', '.join(MEANS)}")
    for each in (case.expression, *case.constraints):
        expressions.validate(each, case.variables)
    if any(each.dtype != BOOL for each in case.constraints):
        raise ExpressionError("a constraint is not a condition")
    if case.other is not None:
        expressions.validate(case.other, case.variables)
        if case.other.dtype != case.expression.dtype:
            raise ExpressionError(
                f"the expression is {case.expression.dtype}, the other {case.other.dtype}"
            )


_INDEX = ("+", "-", "*", "//", "%", "const", "var")


def is_index(case: Problem) -> bool:
    """True if it suits the iterator maps: sums, products, quotients of loop variables from 0."""
    return (
        case.kind == "index"
        and all(each.low == 0 for each in case.variables)
        and len({each.dtype for each in case.variables}) == 1
        and all(node.operator in _INDEX for node in expressions.nodes(case.expression))
        and all(
            operand.operator == "const" and int(operand.leaf) > 0
            for node in expressions.nodes(case.expression)
            if node.operator in DIVISIONS
            for operand in node.operands[1:]
        )
    )
