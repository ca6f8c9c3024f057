"""Z3's answers about expressions against brute force, and the facts that completeness is about."""

from collections import Counter

import pytest

pytest.importorskip("z3", reason="z3-solver is not installed")

from relaxcheck.generators.expressions import language as expressions
from relaxcheck.generators.expressions.drawing import drawn_at
from relaxcheck.generators.expressions.facts import FACTS, facts
from relaxcheck.generators.expressions.language import BOOL, Variable
from relaxcheck.generators.expressions.text import parse
from relaxcheck.harness.expressions.analyzer.observed import observed
from relaxcheck.oracles.expressions.solver import NotModelled, decide

X = Variable("x", "int64", -20, 20)
Y = Variable("y", "int64", -20, 20)
POINT = {"kind": "claim", "dtype": "int64", "variables": 2, "sign": "any", "told": "range"}


def test_it_agrees_with_brute_force() -> None:
    decisions: Counter[bool | None] = Counter()
    for seed in range(150):
        case = drawn_at({**POINT, "depth": 1 + seed % 2, "assumed": seed % 2}, seed)
        seen = observed(case)
        if seen is None or max(seen.points.size, 1) > 2000:
            continue
        try:
            decision = decide(case.expression, case.variables, case.constraints, 300)
        except NotModelled:
            continue
        decisions[decision] += 1
        # Where the constant of an expression is at the ends of int64, it may overflow.
        if decision is not None and seen.values.invalid is None:
            assert decision == (seen.low == 1), str(case)
    assert decisions[True] > 15
    assert decisions[False] > 15


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        ("x // y * y + x % y == x", True),
        ("truncdiv(x, y) * y + truncmod(x, y) == x", True),
        ("x // y == truncdiv(x, y)", False),
        ("x % y >= 0", False),
        ("truncmod(x, 3) < 3 and truncmod(x, 3) > -3", True),
        ("(x + 5) // -3 == -(x + 5) // 3", True),
        ("(x + 5) // -3 == -((x + 5) // 3)", False),
        ("select(x < y, x, y) == min(x, y)", True),
        ("max(x, y) - min(x, y) >= 0 or not x < y", True),
        ("int64(x < y) + int64(x >= y) == 1", True),
    ],
)
def test_the_meaning_of_operators(claim: str, holds: bool) -> None:
    names = {each.name: expressions.variable(each) for each in (X, Y)}
    assert decide(parse(claim, names, "int64"), (X, Y)) is holds


def test_bits_have_no_meaning_on_unbounded_integers() -> None:
    names = {"x": expressions.variable(X)}
    for text in ("(x & 3) == 0", "x << 1 == 0", "int64(int8(x)) == x"):
        with pytest.raises(NotModelled):
            decide(parse(text, names, "int64"), (X,))


def test_facts_are_conditions_over_sizes() -> None:
    made = list(facts(1, 2))
    assert {fact.kind for fact in made} == set(FACTS)
    for fact in made:
        assert fact.claim.dtype == BOOL
        expressions.validate(fact.claim, fact.variables)
    assert made == list(facts(1, 2)) != list(facts(2, 2))
