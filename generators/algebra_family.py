"""The family of integer expressions: what is drawn is a block of them, all at one point."""

from collections.abc import Mapping
from dataclasses import replace

from hypothesis import strategies as st

from generators.algebra import AXES
from generators.axes import Axis, Point
from generators.cases import AnyCase
from generators.expression_cases import (
    ANALYZED,
    DEFINED,
    EXTENT,
    INDEX,
    NEGATIVE,
    POSITIONS,
    SIZES,
    UNDEFINED,
    Block,
)
from generators.points import Given

NAME = "algebra"


COUNTS: Mapping[str, int] = {ANALYZED: 500, **dict.fromkeys(POSITIONS[1:], 64)}
"""Expressions in a block, by position: about a quarter of a second's work."""

ONLY_ANALYZED = ("told", "assumed")
"""What only the analyzer is told; its code does not depend on it."""
_CONDITIONS = ("claim", "rule-comparison")
"""Kinds of expressions that are no integers."""
_FEW = 8
_SIZE = "int64"
"""The dtype of every dimension of a tensor."""


def _in_position(axis: Axis) -> Axis:
    """``axis`` with the values that mean something in the position."""

    def means(position: object, value: object) -> bool:
        if axis.name in ONLY_ANALYZED:
            return position == ANALYZED or value == axis.default
        if axis.name == "dtype":
            return position not in SIZES or value == _SIZE
        return axis.name != "kind" or position not in (INDEX, *SIZES) or value not in _CONDITIONS

    return replace(axis, allowed=Given(("position",), means))


def _computed(position: object, points: object) -> bool:
    """Whether at such points anything can be asked in the position."""
    if points == NEGATIVE:
        return position == EXTENT
    return points == DEFINED or position in SIZES


_AXES = (
    Axis("position", POSITIONS, ANALYZED, default_weight=4),
    *(_in_position(axis) for axis in AXES),
    Axis(
        "points",
        (DEFINED, UNDEFINED, NEGATIVE),
        DEFINED,
        Given(("position",), _computed),
        default_weight=9,
        steered=False,
    ),
    Axis(
        "opt_level",
        (0, 3),
        0,
        Given(("position",), lambda position, level: not level or position != ANALYZED),
        default_weight=9,
        steered=False,
    ),
)


class Algebra:
    """The family; ``point`` of a block or an expression is where it was drawn."""

    name = NAME

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Where the expressions stand, what they are like, and how they are compiled."""
        return _AXES

    def build(self, point: Point, seed: int) -> Block:
        """The block at ``point``."""
        count = COUNTS[str(point["position"])]
        if point["points"] != DEFINED:
            # Each may end its worker, or is compiled alone.
            count = _FEW
        return Block(family=NAME, at=dict(point), seed=seed, count=count)

    def point(self, case: AnyCase) -> Point:
        """Where ``case`` was drawn.

        Raises:
            ValueError: it is no expression of this family.
        """
        at = getattr(case, "at", None)
        if at is None or case.family != NAME:
            raise ValueError(f"not a point of {NAME}")
        # Where an axis is younger than the case, the case is at its default.
        return {axis.name: at.get(axis.name, axis.default) for axis in _AXES}

    @property
    def invalid(self) -> "tuple[st.SearchStrategy[AnyCase], ...]":
        """None: every expression is valid."""
        return ()


def family() -> Algebra:
    """The family."""
    return Algebra()
