"""Claims about expressions decided by Z3, for all values of variables however large.

Integers are unbounded: that nothing overflows is taken for granted, as TVM's analyzer does. Z3's
``div`` and ``mod`` leave a remainder that is never negative (SMT-LIB, theory Ints); the divisions
of ``relaxcheck.generators.expressions.language`` are written in terms of them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from relaxcheck.generators.expressions.language import BOOL, Expression, Variable

Term = Any


class NotModelled(ValueError):
    """An operator that has no meaning on unbounded integers: shifts, bits, casts to narrower."""


def decide(
    claim: Expression,
    variables: Sequence[Variable],
    assumed: Sequence[Expression] = (),
    milliseconds: int = 1000,
) -> bool | None:
    """Decide if ``claim`` holds for all values of ``variables`` in their ranges, given ``assumed``.

    Where a divisor is zero, nothing is claimed. None: undecided after ``milliseconds``.

    Raises:
        NotModelled: an operator of any of them has no meaning on unbounded integers.
    """
    return search(claim, variables, assumed, milliseconds).holds


@dataclass(frozen=True, slots=True)
class Answer:
    """A decision (None if undecided), and a counterexample where the claim is false."""

    holds: bool | None
    witness: Mapping[str, int]


def search(
    claim: Expression,
    variables: Sequence[Variable],
    assumed: Sequence[Expression] = (),
    milliseconds: int = 1000,
) -> Answer:
    """Decide as ``decide`` does, and give values of the variables that refute the claim.

    Raises:
        NotModelled: an operator of any of them has no meaning on unbounded integers.
    """
    names: dict[str, Term] = {}
    solver = z3.Solver()
    solver.set("timeout", milliseconds)
    for each in variables:
        if each.dtype == BOOL:
            names[each.name] = z3.Bool(each.name)
            continue
        names[each.name] = term = z3.Int(each.name)
        solver.add(term >= each.low, term <= each.high)
    divisors: list[Term] = []
    for condition in assumed:
        solver.add(_term(condition, names, divisors))
    solver.add(z3.Not(_term(claim, names, divisors)))
    for divisor in divisors:
        solver.add(divisor != 0)
    answer = solver.check()
    if answer != z3.sat:
        return Answer(True if answer == z3.unsat else None, {})
    model = solver.model()
    return Answer(False, {name: _value(model, term) for name, term in names.items()})


def _value(model: Any, term: Term) -> int:
    value = model.eval(term, model_completion=True)
    return int(z3.is_true(value)) if z3.is_bool(term) else int(value.as_long())


def _floored(left: Term, right: Term) -> Term:
    return z3.If(right > 0, left / right, (0 - left) / (0 - right))


def _truncated(left: Term, right: Term) -> Term:
    quotient = _absolute(left) / _absolute(right)
    return z3.If((left < 0) == (right < 0), quotient, 0 - quotient)


def _absolute(value: Term) -> Term:
    return z3.If(value < 0, 0 - value, value)


_BINARY: Mapping[str, Callable[[Term, Term], Term]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": _floored,
    "%": lambda a, b: a - b * _floored(a, b),
    "truncdiv": _truncated,
    "truncmod": lambda a, b: a - b * _truncated(a, b),
    "min": lambda a, b: z3.If(a < b, a, b),
    "max": lambda a, b: z3.If(a > b, a, b),
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "and": z3.And,
    "or": z3.Or,
}


def _term(node: Expression, names: Mapping[str, Term], divisors: list[Term]) -> Term:
    operator = node.operator
    if operator == "const":
        return z3.BoolVal(bool(node.leaf)) if node.dtype == BOOL else z3.IntVal(node.leaf)
    if operator == "var":
        return names[str(node.leaf)]
    operands = [_term(operand, names, divisors) for operand in node.operands]
    if operator in ("//", "%", "truncdiv", "truncmod"):
        divisors.append(operands[1])
    if operator in _BINARY:
        return _BINARY[operator](*operands)
    if operator == "not":
        return z3.Not(operands[0])
    if operator == "select":
        return z3.If(*operands)
    if operator == "cast" and node.dtype in ("int32", "int64"):
        return z3.If(operands[0], 1, 0) if node.operands[0].dtype == BOOL else operands[0]
    raise NotModelled(f"{operator} to {node.dtype}")
