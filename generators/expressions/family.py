"""The family of integer expressions, drawn in batches; a batch lies at one point."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from hypothesis import strategies as st

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import AnyCase
from relaxcheck.generators.core.points import Given
from relaxcheck.generators.expressions.cases import (
    ANALYZED,
    DEFINED,
    EXTENT,
    INDEX,
    NEGATIVE,
    POSITIONS,
    SIZES,
    UNDEFINED,
    ExpressionBatch,
)
from relaxcheck.generators.expressions.drawing import AXES

NAME = "algebra"


COUNTS: Mapping[str, int] = {ANALYZED: 500, **dict.fromkeys(POSITIONS[1:], 64)}
"""Expressions in a batch, by position: about a quarter of a second's work."""

ONLY_ANALYZED = ("told", "assumed")
"""Axes that only the analyzer sees; compiled code does not depend on them."""
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
    """True if the position allows questions at such points."""
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


@cache
def _axes(positions: tuple[str, ...]) -> tuple[Axis, ...]:
    position, *others = _AXES
    return (replace(position, values=positions), *others)


@dataclass(frozen=True, slots=True)
class Algebra:
    """The family. A batch keeps the point that it was drawn at, and so do its expressions.

    ``positions`` are those that are drawn.
    """

    positions: tuple[str, ...] = POSITIONS
    name: str = NAME

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes: position, features and compilation of the expressions."""
        return _axes(self.positions)

    def build(self, point: Point, seed: int) -> ExpressionBatch:
        """The batch at ``point``."""
        count = COUNTS[str(point["position"])]
        if point["points"] != DEFINED:
            # Each may end its worker, or is compiled alone.
            count = _FEW
        return ExpressionBatch(family=NAME, at=dict(point), seed=seed, count=count)

    @property
    def invalid(self) -> "tuple[st.SearchStrategy[AnyCase], ...]":
        """None: every expression is valid."""
        return ()


def family(positions: tuple[str, ...] = POSITIONS) -> Algebra:
    """The family, drawn in ``positions``, the analyzer's first."""
    return Algebra(positions)
