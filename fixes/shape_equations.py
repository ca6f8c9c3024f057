"""Finding the symbols of a function's shapes from the dimensions that its inputs have.

An input of shape ``(2*m,)`` says that its dimension d is ``2*m``: an equation, linear in m, which
gives ``m = d // 2`` where d is even. A system of them is solved by elimination: an equation with
one unknown symbol is solved for it, whatever its coefficient; of those with more, one in which a
symbol has the coefficient 1 or -1. What is found that way is the only solution, if there is any:
whether it is one (d is even, and other equations agree) is checked at run time.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fixes import tvm_api, tvm_api_shapes
from fixes.run_time_checks import Check
from fixes.tvm_api import PrimExpr, as_int, equal, floordiv, integer, show
from fixes.tvm_api_shapes import name_of, select, substitute, variables


@dataclass(frozen=True, slots=True)
class Equation:
    """``expression``, of symbols, is equal to ``value``, which ``where`` tells in words."""

    expression: PrimExpr
    value: PrimExpr
    where: str


@dataclass(frozen=True, slots=True)
class Solution:
    """What each unknown symbol is, in ``symbols`` in the same order as in ``values``.

    ``checks`` must hold, in this order; else there is no solution, or more than one.
    """

    symbols: tuple[PrimExpr, ...]
    values: tuple[PrimExpr, ...]
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class _Pivot:
    """``equation`` gives ``symbol``, which has ``factor`` in it, as ``value``."""

    equation: Equation
    symbol: PrimExpr
    factor: PrimExpr
    value: PrimExpr
    rank: tuple[bool, bool]


def solve(function: str, equations: Sequence[Equation], known: Iterable[PrimExpr]) -> Solution:
    """Every symbol of ``equations`` that is not among ``known``, by the equations' values.

    ``function`` is what messages call the function whose inputs these are.

    Raises:
        ValueError: some symbol cannot be found; the message names them and the equations.
    """
    unknown = {v for equation in equations for v in variables(equation.expression)} - set(known)
    found: dict[PrimExpr, PrimExpr] = {}
    pivots: list[_Pivot] = []
    left = list(equations)
    while len(found) < len(unknown):
        candidates = [pivot for one in left for pivot in _pivots(one, unknown, found)]
        if not candidates:
            raise _unsolved(function, equations, unknown, found)
        pivot = min(candidates, key=lambda one: one.rank)
        here = {pivot.symbol: pivot.value}
        found = {symbol: substitute(value, here) for symbol, value in found.items()} | here
        pivots.append(pivot)
        left.remove(pivot.equation)
    checks = [check for pivot in pivots for check in _checks(function, pivot, found)]
    checks += [_agreement(function, equation, found, "") for equation in left]
    # An expression that TVM would write otherwise is not found again among those it has computed.
    values = tuple(map(tvm_api_shapes.simplified, found.values()))
    return Solution(tuple(found), values, tuple(checks))


def _pivots(
    equation: Equation, unknown: set[PrimExpr], found: dict[PrimExpr, PrimExpr]
) -> Iterator[_Pivot]:
    """What ``equation`` can be solved for, now that some symbols are found."""
    expression = substitute(equation.expression, found)
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
            # The division is computed before the check that there is something to divide by.
            divisor = factor if number else select(equal(factor, 0), integer(1), factor)
            quotient = floordiv(equation.value - rest, divisor)
            yield _Pivot(equation, symbol, factor, quotient, (False, True))


def _checks(function: str, pivot: _Pivot, found: dict[PrimExpr, PrimExpr]) -> Iterator[Check]:
    """That ``pivot`` gives its symbol, that this fits, and that it is a size."""
    equation, symbol = pivot.equation, pivot.symbol
    expression, name = show(equation.expression), name_of(symbol)
    if as_int(pivot.factor) is None:
        factor = substitute(pivot.factor, found)
        message = (
            f"{function}: {equation.where} is {expression}, from which {name} cannot be found:"
            f" {show(pivot.factor)} is {{}}"
        )
        yield Check(tvm_api.negated(equal(factor, 0)), message, (factor,))
    yield _agreement(function, equation, found, f" for an integer {name}", but=symbol)
    message, values = _message(function, equation, found, f" for an integer {name} >= 0", symbol)
    yield Check(found[symbol] >= 0, message, values)


def _agreement(
    function: str,
    equation: Equation,
    found: dict[PrimExpr, PrimExpr],
    wanted: str,
    but: PrimExpr | None = None,
) -> Check:
    """That ``equation`` holds."""
    message, values = _message(function, equation, found, wanted, but)
    return Check(equal(equation.value, substitute(equation.expression, found)), message, values)


def _message(
    function: str,
    equation: Equation,
    found: dict[PrimExpr, PrimExpr],
    wanted: str,
    but: PrimExpr | None,
) -> tuple[str, tuple[PrimExpr, ...]]:
    """What the message says, and the values in it: of all symbols of the equation ``but`` one."""
    others = [v for v in variables(equation.expression) if but is None or not v.same_as(but)]
    known = " and ".join(f"{name_of(variable)} is {{}}" for variable in others)
    text = f"{function}: {equation.where} must be {show(equation.expression)}{wanted}"
    values = tuple(found.get(variable, variable) for variable in others)
    return f"{text}{', where ' * bool(known)}{known}, got {{}}", (*values, equation.value)


def _unsolved(
    function: str,
    equations: Sequence[Equation],
    unknown: set[PrimExpr],
    found: dict[PrimExpr, PrimExpr],
) -> ValueError:
    missing = unknown - found.keys()
    missing |= {one for one in found if missing.intersection(variables(found[one]))}
    names = ", ".join(sorted(map(name_of, missing)))
    said = "; ".join(
        f"{equation.where} is {show(equation.expression)}"
        for equation in equations
        if missing.intersection(variables(equation.expression))
    )
    return ValueError(f"{function}: {names} cannot be found from the inputs: {said}")
