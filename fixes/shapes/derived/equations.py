"""Solves for the symbols of a function's shapes from the dimensions of its inputs.

An input of shape ``(2*m,)`` gives an equation: its dimension d is ``2*m``. It is linear in m, and
its solution is ``m = d // 2`` if d is even. Elimination solves systems of equations: an equation
with one unknown symbol is solved for it, whatever the coefficient; one with several only for a
symbol with coefficient 1 or -1. The result is the only possible solution. Run-time checks establish
that it is one: that d is even, and that the other equations agree.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.proving.checks import Check
from relaxcheck.fixes.tvm_api import PrimExpr, as_int, equal, floordiv, integer, show
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes
from relaxcheck.fixes.tvm_api.shapes import name_of, select, substitute, variables


@dataclass(frozen=True, slots=True)
class Equation:
    """``expression``, over symbols, equals ``value``; ``where`` describes it."""

    expression: PrimExpr
    value: PrimExpr
    where: str


@dataclass(frozen=True, slots=True)
class Solution:
    """The unknown ``symbols`` and their ``values``, in the same order.

    ``checks`` must hold, in this order; otherwise there is no solution, or more than one.
    """

    symbols: tuple[PrimExpr, ...]
    values: tuple[PrimExpr, ...]
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class _Pivot:
    """``equation`` solved for ``symbol``, which has coefficient ``factor``: ``value``."""

    equation: Equation
    symbol: PrimExpr
    factor: PrimExpr
    value: PrimExpr
    rank: tuple[bool, bool]


def solve(function: str, equations: Sequence[Equation], known: Iterable[PrimExpr]) -> Solution:
    """Solve ``equations`` for all symbols that are not in ``known``.

    ``function`` names the function in messages.

    Raises:
        ValueError: a symbol cannot be found; the message names the symbols and equations.
    """
    unknown = {v for equation in equations for v in variables(equation.expression)} - set(known)
    solved: dict[PrimExpr, PrimExpr] = {}
    pivots: list[_Pivot] = []
    left = list(equations)
    while len(solved) < len(unknown):
        candidates = [pivot for equation in left for pivot in _pivots(equation, unknown, solved)]
        if not candidates:
            raise _unsolved(function, equations, unknown, solved)
        pivot = min(candidates, key=lambda candidate: candidate.rank)
        here = {pivot.symbol: pivot.value}
        solved = {symbol: substitute(value, here) for symbol, value in solved.items()} | here
        pivots.append(pivot)
        left.remove(pivot.equation)
    checks = [check for pivot in pivots for check in _checks(function, pivot, solved)]
    checks += [_agreement(function, equation, solved, "") for equation in left]
    # TVM finds computed expressions again only if they are written as it writes them.
    values = tuple(map(tvm_api_shapes.simplified, solved.values()))
    return Solution(tuple(solved), values, tuple(checks))


def _pivots(
    equation: Equation, unknown: set[PrimExpr], solved: dict[PrimExpr, PrimExpr]
) -> Iterator[_Pivot]:
    """The ways to solve ``equation``, given the symbols found so far."""
    expression = substitute(equation.expression, solved)
    symbols = [v for v in variables(expression) if v in unknown]
    for symbol in symbols:
        form = tvm_api_shapes.linear(expression, symbol)
        if form is None or any(v in unknown for v in variables(form[0])):
            continue
        factor, rest = form
        number = as_int(factor)
        if number in (1, -1):
            difference = equation.value - rest if number == 1 else rest - equation.value
            yield _Pivot(equation, symbol, factor, difference, (len(symbols) > 1, False))
        elif len(symbols) == 1 and number != 0:
            # The division runs before the check that the divisor is not 0.
            divisor = factor if number else select(equal(factor, 0), integer(1), factor)
            quotient = floordiv(equation.value - rest, divisor)
            yield _Pivot(equation, symbol, factor, quotient, (False, True))


def _checks(function: str, pivot: _Pivot, solved: dict[PrimExpr, PrimExpr]) -> Iterator[Check]:
    """Checks that ``pivot`` can be solved, has an integer solution, and that it is a size."""
    equation, symbol = pivot.equation, pivot.symbol
    expression, name = show(equation.expression), name_of(symbol)
    if as_int(pivot.factor) is None:
        factor = substitute(pivot.factor, solved)
        message = (
            f"{function}: {equation.where} is {expression}, from which {name} cannot be found:"
            f" {show(pivot.factor)} is {{}}"
        )
        yield Check(tvm_api.negated(equal(factor, 0)), message, (factor,))
    yield _agreement(function, equation, solved, f" for an integer {name}", but=symbol)
    message, values = _message(function, equation, solved, f" for an integer {name} >= 0", symbol)
    yield Check(solved[symbol] >= 0, message, values)


def _agreement(
    function: str,
    equation: Equation,
    solved: dict[PrimExpr, PrimExpr],
    wanted: str,
    but: PrimExpr | None = None,
) -> Check:
    """The check that ``equation`` holds."""
    message, values = _message(function, equation, solved, wanted, but)
    return Check(equal(equation.value, substitute(equation.expression, solved)), message, values)


def _message(
    function: str,
    equation: Equation,
    solved: dict[PrimExpr, PrimExpr],
    wanted: str,
    but: PrimExpr | None,
) -> tuple[str, tuple[PrimExpr, ...]]:
    """The message and the values in it, of all symbols of the equation except ``but``."""
    others = [v for v in variables(equation.expression) if but is None or not v.same_as(but)]
    known = " and ".join(f"{name_of(variable)} is {{}}" for variable in others)
    text = f"{function}: {equation.where} must be {show(equation.expression)}{wanted}"
    values = tuple(solved.get(variable, variable) for variable in others)
    return f"{text}{', where ' * bool(known)}{known}, got {{}}", (*values, equation.value)


def _unsolved(
    function: str,
    equations: Sequence[Equation],
    unknown: set[PrimExpr],
    solved: dict[PrimExpr, PrimExpr],
) -> ValueError:
    missing = unknown - solved.keys()
    missing |= {symbol for symbol in solved if missing.intersection(variables(solved[symbol]))}
    names = ", ".join(sorted(map(name_of, missing)))
    text = "; ".join(
        f"{equation.where} is {show(equation.expression)}"
        for equation in equations
        if missing.intersection(variables(equation.expression))
    )
    return ValueError(f"{function}: {names} cannot be found from the inputs: {text}")
