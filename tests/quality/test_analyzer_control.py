"""What is right by construction does not fail, wherever an expression stands; what is not does."""

import pytest
from msgspec.structs import replace

from generators.algebra_family import family
from generators.axes import complete
from generators.expression_cases import POSITIONS, SIZES, Block
from generators.expressions import BOOL, Expression
from tests.harness import interpreted_kernels
from tests.quality.analyzer_control import checked, drawn

COMPILED = POSITIONS[1:]


def some(position: str) -> Block:
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
    assert {one.position for one in blocks} == set(POSITIONS)
    assert {one.points for one in blocks} == {"defined"}
