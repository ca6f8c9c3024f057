"""Fills: the kinds of values that an input of a program takes."""

from relaxcheck.generators.core.case import Data
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.borders import Borders
from relaxcheck.generators.core.fills.drawn import Drawn


class Random(Data, frozen=True, tag="random"):
    """Values drawn from the case's seed in the case's regime."""


class Literal(Data, frozen=True, tag="literal"):
    """Values given in full, in row-major order."""

    values: tuple[int | float, ...]


class Offsets(Data, frozen=True, tag="offsets"):
    """A vector of ``n + 1`` increasing offsets from 0 to ``total``: the bounds of n sequences.

    Every sequence holds at least one element where ``total >= n``.
    """

    total: Dim


class LongestSegment(Data, frozen=True, tag="longest-segment"):
    """A scalar: the largest difference between neighbours of the ``Offsets`` input ``of``."""

    of: str


class Below(Data, frozen=True, tag="below"):
    """Integers from 0 to ``limit - 1``, drawn from the case's seed: places on an axis."""

    limit: Dim


class Within(Below, frozen=True, tag="within"):
    """Integers from ``-limit`` to ``limit - 1``: places on an axis, the negative from its end."""


class Distinct(Within, frozen=True, tag="distinct", omit_defaults=True):
    """Places as of ``Within``, no two on a line along the dimension ``along`` the same.

    Such a line is no longer than ``limit``. Unless ``negative``, places are as of ``Below``.
    """

    along: int
    negative: bool = True


class Regions(Below, frozen=True, tag="regions"):
    """Rows of five: a place on an axis of ``limit``, then a box's corners x1, y1, x2, y2.

    Corners are quarters from -2 on, whatever the regime. A box begins before ``reach``, and is at
    most so long; none is empty.
    """

    reach: int


class Steps(Data, frozen=True, tag="steps"):
    """Multiples of ``1 / parts``, from minus to plus ``reach`` of them, whatever the regime."""

    parts: int
    reach: int


class Positive(Data, frozen=True, tag="positive"):
    """Magnitudes of drawn values, plus ``least``: what a logarithm or a divisor needs."""

    least: float


class Classed(Data, frozen=True, tag="classed"):
    """Numbers of all classes of IEEE 754 (2019, 5.7.2), every second one an ordinary number.

    The others are zeros, subnormal and the largest numbers, infinities and NaN; of integers the
    least and the largest, whatever the regime.
    """


class Misfit(Data, frozen=True, tag="misfit"):
    """Random values in ``shape``, which is not the one that the program states: a wrong call."""

    shape: tuple[Dim, ...]


Fill = (
    Random
    | Literal
    | Offsets
    | LongestSegment
    | Below
    | Within
    | Distinct
    | Regions
    | Steps
    | Positive
    | Classed
    | Misfit
    | Borders
    | Drawn
)
