"""Cases drawn for the analyzer: valid, the same from the same seed, of every kind; and reduced."""

import random
from collections import Counter

import msgspec
import numpy as np
import pytest

from relaxcheck.generators.emission.expressions import emitted, read, scope
from relaxcheck.generators.expressions import language as expressions
from relaxcheck.generators.expressions.drawing import AXES, drawn_at
from relaxcheck.generators.expressions.grid_values import evaluate
from relaxcheck.generators.expressions.grids import grid
from relaxcheck.generators.expressions.language import (
    BOOL,
    Expression,
    ExpressionError,
    Variable,
)
from relaxcheck.generators.expressions.reduction import smaller, weight
from relaxcheck.generators.expressions.rules import INDICES, RULES, SIZES
from relaxcheck.generators.expressions.subject import Problem, validate
from relaxcheck.generators.expressions.text import parse
from tests.problems import draw, problems

DRAWN = list(problems(1, 1500))


def test_a_seed_draws_one_case_and_others_draw_others() -> None:
    assert list(problems(1, 50)) == DRAWN[:50]
    assert draw(1_000_003)[1] == DRAWN[0]
    assert len({case.identifier for case in DRAWN}) > 1400


def test_all_that_is_drawn_is_valid_and_survives_json() -> None:
    for case in DRAWN:
        validate(case)
        assert msgspec.json.decode(msgspec.json.encode(case), type=Problem) == case


def test_every_value_of_every_axis_is_drawn() -> None:
    points = [draw(1_000_003 + number)[0] for number in range(len(DRAWN))]
    for axis in AXES:
        assert {point[axis.name] for point in points} == set(axis.values), axis.name


def test_most_of_what_is_drawn_has_a_value_at_most_points() -> None:
    shares = []
    for case in DRAWN[:500]:
        invalid = evaluate(case.expression, grid(case.variables)).invalid
        shares.append(1.0 if invalid is None else 1 - float(np.mean(invalid)))
    assert np.mean([share > 0.5 for share in shares]) > 0.8


def test_a_point_draws_cases_at_it() -> None:
    point = {axis.name: axis.default for axis in AXES} | {"kind": "size", "dtype": "int64"}
    for seed in range(20):
        drawn = drawn_at(point, seed)
        dtypes = {each.dtype for each in drawn.variables if each.dtype != BOOL}
        assert (drawn.kind, dtypes, drawn.means) == ("size", {"int64"}, "range")
        assert all(each.low == 0 for each in drawn.variables if each.dtype != BOOL)


@pytest.mark.parametrize("group", [*RULES, "sizes", "indices"])
def test_every_shape_of_a_rule_is_read(group: str) -> None:
    names = {name: Expression("var", "int32", (), name) for name in "xyzabcdmnij"}
    names |= {name: Expression("var", "bool", (), name) for name in "pq"}
    texts = {**RULES, "sizes": SIZES, "indices": INDICES}[group]
    assert len(set(texts)) == len(texts) > 10
    for text in texts:
        assert expressions.names(parse(text, names))


def test_emitted_expressions_are_read_back() -> None:
    # Of these, TVM has no node that folds nothing.
    folding = {*expressions.SHIFTS, *expressions.BITWISE, "if_then_else"}
    for case in DRAWN[:300]:
        if folding & {node.operator for node in expressions.nodes(case.expression)}:
            continue
        known = {each.name: expressions.variable(each) for each in case.variables}
        assert read(emitted(case.expression, scope(case.variables)), known) == case.expression


def test_every_step_is_valid_and_makes_less() -> None:
    for case in DRAWN[:60]:
        for new in smaller(case):
            validate(new)
            assert weight(new) < weight(case)


def reduced(case: Problem, operator: str) -> Problem:
    """The smallest case that still has ``operator`` in its expression."""
    while True:
        for new in smaller(case):
            if any(node.operator == operator for node in expressions.nodes(new.expression)):
                case = new
                break
        else:
            return case


def test_reduction_ends_at_what_cannot_be_simpler() -> None:
    seen: Counter[str] = Counter()
    for case in DRAWN:
        for operator in {node.operator for node in expressions.nodes(case.expression)}:
            if operator in ("//", "min", "select", "==") and seen[operator] < 5:
                seen[operator] += 1
                small = reduced(case, operator)
                assert expressions.size(small.expression) <= 4, str(small)
                assert not small.constraints
                assert small.other is None
                assert small.means == "range"
    assert set(seen.values()) == {5}


def test_a_case_that_is_read_is_checked() -> None:
    x = Variable("x", "int32", 0, 3)
    term = expressions.variable(x)
    holds = expressions.apply("<", term, term)
    validate(Problem((x,), term, (holds,), term))
    for wrong in (
        Problem((), term),
        Problem((x,), term, (term,)),
        Problem((x,), term, (), holds),
        Problem((x,), term, means="twice"),
        Problem((x, x), term),
        Problem((Variable("x", "int32", 3, 0),), term),
    ):
        with pytest.raises(ExpressionError):
            validate(wrong)


def test_seeds_are_of_any_size() -> None:
    for _ in range(20):
        assert draw(random.Random(1).getrandbits(64))
