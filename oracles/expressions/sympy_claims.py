"""Claims about expressions as SymPy decides them, for comparison with other tools.

It is no oracle: no verdict depends on it. It ignores assumed conditions, because SymPy's
simplification cannot use them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import sympy

from relaxcheck.generators.expressions.language import Expression, Variable

Term = Any


def proves(claim: Expression, variables: Sequence[Variable]) -> bool:
    """Ask SymPy if ``claim``, a comparison, holds for all values of ``variables``.

    Raises:
        ValueError: it has an operator other than sums, products, floored divisions and extrema.
    """
    names = {
        each.name: sympy.Symbol(
            each.name, integer=True, nonnegative=each.low >= 0, positive=each.low > 0 or None
        )
        for each in variables
    }
    left, right = (_term(operand, names) for operand in claim.operands)
    difference = sympy.simplify(left - right)
    match claim.operator:
        case "==":
            answer = difference.is_zero
        case "!=":
            answer = difference.is_nonzero
        case ">=":
            answer = difference.is_nonnegative
        case "<=":
            answer = difference.is_nonpositive
        case ">":
            answer = difference.is_positive
        case "<":
            answer = difference.is_negative
        case _:
            raise ValueError(f"no comparison: {claim.operator}")
    return answer is True


def _term(node: Expression, names: Mapping[str, Term]) -> Term:
    if node.operator == "const":
        return sympy.Integer(int(node.leaf))
    if node.operator == "var":
        return names[str(node.leaf)]
    left, right = (_term(operand, names) for operand in node.operands[:2])
    match node.operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "//":
            return sympy.floor(left / right)
        case "%":
            return sympy.Mod(left, right)
        case "min":
            return sympy.Min(left, right)
        case "max":
            return sympy.Max(left, right)
    raise ValueError(f"no {node.operator} here")
