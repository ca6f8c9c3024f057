"""The family of integer expressions: what is drawn is a block of them, all at one point."""

from collections.abc import Mapping

from hypothesis import strategies as st

from generators.axes import Axis, Point
from generators.cases import AnyCase
from generators.expression_cases import ANALYZED, INDEX, POSITIONS, SHAPE, VALUE, Block
from generators.points import Given

NAME = "algebra"

COUNTS: Mapping[str, int] = {ANALYZED: 500, VALUE: 64, INDEX: 64, SHAPE: 64}
"""Expressions in a block, by position: about a quarter of a second's work."""

_POSITION = Axis(
    "position",
    POSITIONS,
    ANALYZED,
    weights={},
)


class Algebra:
    """The family; ``point`` of a block or an expression is where it was drawn."""

    name = NAME

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Where the expressions stand, what they are of, and how they are compiled."""
        return (
            _POSITION,
            Axis("dtype", ("int32", "int64"), "int32"),
            Axis(
                "opt_level",
                (0, 3),
                0,
                Given(("position",), lambda position, level: not level or position != ANALYZED),
                default_weight=9,
                steered=False,
            ),
        )

    def build(self, point: Point, seed: int) -> Block:
        """The block at ``point``."""
        count = COUNTS[str(point["position"])]
        return Block(family=NAME, at=dict(point), seed=seed, count=count)

    def point(self, case: AnyCase) -> Point:
        """Where ``case`` was drawn.

        Raises:
            ValueError: it is no expression of this family.
        """
        at = getattr(case, "at", None)
        if at is None or case.family != NAME:
            raise ValueError(f"not a point of {NAME}")
        point: Point = at
        return point

    @property
    def invalid(self) -> "tuple[st.SearchStrategy[AnyCase], ...]":
        """None: every expression is valid."""
        return ()


def family() -> Algebra:
    """The family."""
    return Algebra()
