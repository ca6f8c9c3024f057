"""A correct rewrite never fails, wherever its expression stands; a wrong one does."""

from collections.abc import Callable, Mapping
from functools import reduce

import pytest
from msgspec.structs import replace

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.expressions import grid_values
from relaxcheck.generators.expressions.cases import POSITIONS, SIZES, ExpressionBatch
from relaxcheck.generators.expressions.family import family
from relaxcheck.generators.expressions.grids import Values
from relaxcheck.generators.expressions.language import BOOL, Expression
from tests.harness.expressions import interpreted_kernels
from tests.harness.expressions.processor import Array, Computed
from tests.measure.quality.expressions import conditions
from tests.measure.quality.expressions.analyzer_control import checked, drawn

COMPILED = POSITIONS[1:]


def some(position: str) -> ExpressionBatch:
    dtype = "int64" if position in SIZES else "int32"
    point = complete(family().axes, {"position": position, "dtype": dtype})
    return replace(family().build(point, 3), count=24)


@pytest.mark.parametrize("position", POSITIONS)
def test_correct_answers_do_not_fail(position: str) -> None:
    counts, failed = checked([some(position)])
    assert counts[position] > 8
    assert failed == []


@pytest.mark.parametrize("position", COMPILED)
def test_answers_off_by_one_fail(position: str, monkeypatch: pytest.MonkeyPatch) -> None:
    computed = interpreted_kernels.computed

    def wrong(expression: Expression, columns: Mapping[str, Array], size: int) -> Computed:
        right = computed(expression, columns, size)
        new = 1 - right.values if expression.dtype == BOOL else right.values + 1
        return right._replace(values=new)

    monkeypatch.setattr(interpreted_kernels, "computed", wrong)
    counts, failed = checked([some(position)])
    assert len(failed) == counts[position] > 8


def all_operands(operator: str) -> Callable[..., Values]:
    """A false rule: every operand of ``operator`` needs a value, used or not."""
    right = grid_values._OPERATIONS[operator]

    def rule(node: Expression, *operands: Values) -> Values:
        masks = zip(*(operand[3:] for operand in operands), strict=True)
        every = (reduce(grid_values._either, each) for each in masks)
        return Values(*right(node, *operands)[:3], *every)

    return rule


@pytest.mark.parametrize("operator", ["select", "if_then_else", "and", "or"])
def test_a_rule_that_judges_what_is_not_used_fails(
    operator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    point = complete(family().axes, {"kind": "rule-choice", "dtype": "uint8"})
    block = replace(family().build(point, 3), count=60)
    assert not checked([block])[1]
    monkeypatch.setitem(grid_values._OPERATIONS, operator, all_operands(operator))
    assert checked([block])[1]


def test_the_section_measures_conditions_and_narrow_integers() -> None:
    blocks = [replace(block, count=24) for block in drawn(16, 5, conditions.axes())]
    figures = conditions.measured(blocks, lambda doing, done: None)
    assert conditions.missed(figures) == []
    assert f"of {figures['checked']}.**" in conditions.markdown(figures)
    wrong = {**figures, "failures": 1, "narrow": 3, "rewrites": 0, "alarms": ["analyzer: x"]}
    assert len(conditions.missed(wrong)) == 3
    assert "* `analyzer: x`" in conditions.markdown(wrong)


def test_blocks_are_drawn_for_every_position() -> None:
    blocks = drawn(60, 1)
    assert {block.position for block in blocks} == set(POSITIONS)
    assert {block.points for block in blocks} == {"defined"}
