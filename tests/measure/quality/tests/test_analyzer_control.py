"""A correct rewrite never fails, wherever its expression stands; a wrong one does."""

import pytest
from msgspec.structs import replace

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.expressions.cases import POSITIONS, SIZES, ExpressionBatch
from relaxcheck.generators.expressions.family import family
from relaxcheck.generators.expressions.language import BOOL, Expression
from tests.harness.expressions import interpreted_kernels
from tests.measure.quality.expressions.analyzer_control import checked, drawn

COMPILED = POSITIONS[1:]


def some(position: str) -> ExpressionBatch:
    dtype = "int64" if position in SIZES else "int32"
    point = complete(family().axes, {"position": position, "dtype": dtype})
    return replace(family().build(point, 3), count=24)


@pytest.mark.parametrize("position", POSITIONS)
def test_what_is_right_does_not_fail(position: str) -> None:
    counts, failed = checked([some(position)])
    assert counts[position] > 8
    assert failed == []


@pytest.mark.parametrize("position", COMPILED)
def test_what_is_one_too_much_fails(position: str, monkeypatch: pytest.MonkeyPatch) -> None:
    value_at = interpreted_kernels.value_at

    def wrong(expression: Expression, binding: dict[str, int]) -> int:
        value = value_at(expression, binding)
        return 1 - value if expression.dtype == BOOL else value + 1

    monkeypatch.setattr(interpreted_kernels, "value_at", wrong)
    counts, failed = checked([some(position)])
    assert len(failed) == counts[position] > 8


def test_blocks_are_drawn_for_every_position() -> None:
    blocks = drawn(60, 1)
    assert {block.position for block in blocks} == set(POSITIONS)
    assert {block.points for block in blocks} == {"defined"}
