"""Values on grids against values at single points, and against ones worked out by hand."""

import random
from collections.abc import Sequence

import numpy as np
import pytest

from relaxcheck.generators.expressions import language as expressions
from relaxcheck.generators.expressions.grid_values import evaluate, everywhere
from relaxcheck.generators.expressions.grids import Grid, grid
from relaxcheck.generators.expressions.language import (
    BOOL,
    LIMITS,
    Expression,
    Variable,
    apply,
    constant,
)
from relaxcheck.generators.expressions.scalar_values import NoValue, value_at

INTEGERS = tuple(name for name in LIMITS if name != BOOL)
X = Variable("x", "int32", -3, 4)


def drawn(rng: random.Random, depth: int, dtype: str, variables: Sequence[Variable]) -> Expression:
    """A tree of any operators over constants at the dtypes' limits: most overflow somewhere."""
    if depth == 0 or rng.random() < 0.15:
        fitting = [each for each in variables if each.dtype == dtype]
        if fitting and rng.random() < 0.7:
            return expressions.variable(rng.choice(fitting))
        low, high = LIMITS[dtype]
        near = (0, 1, -1, 2, 7, 31, 64, low, high, high // 3, rng.randint(low, high))
        return constant(max(low, min(high, rng.choice(near))), dtype)

    def operand(wanted: str) -> Expression:
        return drawn(rng, depth - 1, wanted, variables)

    if rng.random() < 0.15:
        return expressions.converted(operand(rng.choice([BOOL, variables[0].dtype])), dtype)
    if dtype == BOOL:
        operator = rng.choice([*expressions.COMPARISONS, *expressions.LOGIC, "not"])
        if operator == "not":
            return apply(operator, operand(BOOL))
        of = BOOL if operator in expressions.LOGIC else rng.choice(variables).dtype
        return apply(operator, operand(of), operand(of))
    if rng.random() < 0.1:
        operator = rng.choice(["select", "if_then_else"])
        return apply(operator, operand(BOOL), operand(dtype), operand(dtype))
    return apply(rng.choice(expressions.INTEGER_BINARY), operand(dtype), operand(dtype))


def value_on(expression: Expression, points: Grid) -> list[int | None]:
    values = evaluate(expression, points)
    flat = everywhere(values, points)
    invalid = np.broadcast_to(False if values.invalid is None else values.invalid, points.size)
    inside = flat[~invalid]
    assert inside.size == 0 or (values.low <= inside.min() and inside.max() <= values.high)
    return [None if bad else int(value) for value, bad in zip(flat, invalid, strict=True)]


def value_alone(
    expression: Expression, points: Grid, index: int, *, decided: bool = False
) -> int | None:
    try:
        return value_at(expression, points.binding(index), decided=decided)
    except NoValue:
        return None


def lost_on(expression: Expression, points: Grid) -> list[bool]:
    lost = evaluate(expression, points).lost
    return np.broadcast_to(False if lost is None else lost, points.size).tolist()


@pytest.mark.filterwarnings("error")
def test_a_grid_of_values_is_the_values_one_by_one() -> None:
    rng = random.Random(5)
    without = decided = 0
    for _ in range(1500):
        variables = []
        for name, dtype in zip("xy", rng.sample(INTEGERS, 2), strict=True):
            low, high = LIMITS[dtype]
            start = rng.choice([max(low, -3), 0, high - 4, low])
            variables.append(Variable(name, dtype, start, start + 4))
        wanted = rng.choice([BOOL, *(each.dtype for each in variables)])
        expression = drawn(rng, rng.randint(1, 4), wanted, variables)
        expressions.validate(expression, variables)
        points = grid(tuple(variables))
        alone = [value_alone(expression, points, index) for index in range(points.size)]
        assert value_on(expression, points) == alone, str(expression)
        used = [
            value_alone(expression, points, index, decided=True) for index in range(points.size)
        ]
        assert lost_on(expression, points) == [value is None for value in used], str(expression)
        without += alone.count(None)
        decided += alone.count(None) - used.count(None)
    assert 1500 < without < 20000  # Both kinds of points were compared.
    assert decided > 20


@pytest.mark.parametrize(
    ("operator", "right", "expected"),
    [
        ("//", 3, [-1, -1, -1, 0, 0, 0, 1, 1]),
        ("%", 3, [0, 1, 2, 0, 1, 2, 0, 1]),
        ("truncdiv", 3, [-1, 0, 0, 0, 0, 0, 1, 1]),
        ("truncmod", 3, [0, -2, -1, 0, 1, 2, 0, 1]),
        ("//", -2, [1, 1, 0, 0, -1, -1, -2, -2]),
        ("%", -2, [-1, 0, -1, 0, -1, 0, -1, 0]),
        ("truncmod", -2, [-1, 0, -1, 0, 1, 0, 1, 0]),
        ("//", 0, [None] * 8),
        (">>", 1, [-2, -1, -1, 0, 0, 1, 1, 2]),
        ("<<", 30, [None, -(2**31), -(2**30), 0, 2**30, None, None, None]),
        ("<<", 32, [None] * 8),
        ("&", 6, [4, 6, 6, 0, 0, 2, 2, 4]),
    ],
)
def test_the_meaning_of_operators(operator: str, right: int, expected: list[int | None]) -> None:
    expression = apply(operator, expressions.variable(X), constant(right))
    assert value_on(expression, grid((X,))) == expected


def test_only_the_branch_that_is_taken_needs_a_value() -> None:
    x = expressions.variable(X)
    parts = (apply("==", x, constant(0)), constant(7), apply("//", constant(12), x))
    taken = value_on(apply("if_then_else", *parts), grid((X,)))
    both = value_on(apply("select", *parts), grid((X,)))
    assert taken == [-4, -6, -12, 7, 12, 6, 4, 3]
    assert both == [-4, -6, -12, None, 12, 6, 4, 3]


N = Variable("n", "uint8", 0, 3)
n = expressions.variable(N)
WRAPS = apply("-", n, constant(2, "uint8"))
"""Without a value where n is 0 or 1."""


@pytest.mark.parametrize("choice", ["select", "if_then_else"])
def test_an_untaken_branch_may_overflow(choice: str) -> None:
    taken = apply(choice, apply("<", n, constant(1, "uint8")), n, WRAPS)
    assert value_on(taken, grid((N,))) == [0, None, 0, 1]


def test_an_untaken_branch_may_not_divide_by_zero() -> None:
    is_small = apply("<", n, constant(2, "uint8"))
    for divisor in (n, WRAPS):
        divided = apply("//", constant(6, "uint8"), divisor)
        at_once = apply("select", is_small, n, divided)
        assert value_on(at_once, grid((N,)))[0] is None
        assert lost_on(at_once, grid((N,)))[0]
        guarded = apply("if_then_else", is_small, n, divided)
        assert value_on(guarded, grid((N,)))[:2] == [0, 1]


def test_the_lowest_divided_by_minus_one_has_no_value() -> None:
    lowest = Variable("a", "int8", -128, -127)
    minus = constant(-1, "int8")
    for operator in expressions.DIVISIONS:
        divided = apply(operator, expressions.variable(lowest), minus)
        right = 0 if operator in ("%", "truncmod") else 127
        assert value_on(divided, grid((lowest,))) == [None, right]
        is_lowest = apply("==", expressions.variable(lowest), constant(-128, "int8"))
        chosen = apply("select", is_lowest, minus, divided)
        assert value_on(chosen, grid((lowest,))) == [None, right]


def test_an_operand_that_decides_makes_no_claim_and_loses_nothing() -> None:
    overflows = apply("<", WRAPS, constant(5, "uint8"))
    never = apply("and", overflows, apply(">", n, constant(1, "uint8")))
    always = apply("or", apply("<", n, constant(1, "uint8")), overflows)
    points = grid((N,))
    assert value_on(never, points) == [None, None, 1, 1]
    assert lost_on(never, points) == [False] * 4
    assert value_on(always, points) == [None, None, 1, 1]
    assert lost_on(always, points) == [False, True, False, False]


def test_a_grid_is_whole_or_has_the_ends() -> None:
    small = grid((X, Variable("y", "int64", 1, 2)))
    assert small.whole
    assert small.size == 16
    assert small.binding(3) == {"x": -2, "y": 2}
    wide = (Variable("a", "int64", 0, 2**63 - 1), Variable("b", "uint64", 5, 2**64 - 1), X)
    thinned = grid(wide)
    assert not thinned.whole
    assert 500 < thinned.size <= 4096
    for each in wide:
        assert thinned.columns[each.name].min() == each.low
        assert thinned.columns[each.name].max() == each.high
