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


def value_alone(expression: Expression, points: Grid, index: int) -> int | None:
    try:
        return value_at(expression, points.binding(index))
    except NoValue:
        return None


@pytest.mark.filterwarnings("error")
def test_a_grid_of_values_is_the_values_one_by_one() -> None:
    rng = random.Random(5)
    without = 0
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
        without += alone.count(None)
    assert 1500 < without < 20000  # Both kinds of points were compared.


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
