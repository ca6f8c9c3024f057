"""Fills for operators whose results only some values decide: samples, ranks and boxes.

All values are dyadic and exact in float16, and no two that an operator compares are equal.
"""

from relaxcheck.generators.core.case import Data

PARTS = 256
"""A ``Distribution`` divides 1 into so many equal parts."""


class Distribution(Data, frozen=True, tag="distribution"):
    """Probabilities along the last axis: multiples of 1/256 that add up to 1, some of them 0."""


class BetweenParts(Data, frozen=True, tag="between-parts"):
    """Odd multiples of 1/512 between 0 and 1: no sum of a ``Distribution`` equals one."""


class Ranked(Data, frozen=True, tag="ranked"):
    """Numbers between ``low`` and ``high``, no two on a line along the last axis equal.

    None is ``low`` plus a multiple of an eighth of the distance.
    """

    low: float = 0.0
    high: float = 1.0


class Boxes(Data, frozen=True, tag="boxes"):
    """Boxes along the last axis, of four sixteenths each: two opposite corners.

    Sides are 1, 4, 7 or 10 sixteenths, so that areas are 1 modulo 3 and no quotient of
    intersection and union is 1/8, 1/5, 1/2, 4/5 or 7/8 (1/2 would be three intersections in the
    sum of two areas). One box in eight equals the first one. ``turned``: either diagonal, either
    corner first; otherwise the lower corner comes first.
    """

    turned: bool = False


class Detections(Data, frozen=True, tag="detections"):
    """Rows along the last axis: a class, a score and a box, at these places.

    A class is a number from ``lowest`` to 1; -1 for ``identity`` leaves it out. Scores are
    ``Ranked`` along the axis before the last, from 0 to 1. Boxes are those of ``Boxes``, not
    turned. Elements at other places are sixteenths.
    """

    identity: int
    score: int
    corners: int
    lowest: int = 0


Drawn = Distribution | BetweenParts | Ranked | Boxes | Detections
