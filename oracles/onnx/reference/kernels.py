"""The interpolation kernels of resizing: the share of each element at a coordinate."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import numpy as np

from relaxcheck.generators.core.values import Array

Curve = Callable[[Fraction], Fraction]


@dataclass(frozen=True, slots=True)
class Kernel:
    """A curve over distances up to ``reach``.

    ``stretched``: it is made wider where the result is smaller, so that it takes part of more
    elements, and its shares are divided by their sum. ``inside``: elements outside the axis have
    no share; otherwise they repeat its ends. ``roundings``: what a share may be off, in roundings.
    """

    curve: Curve
    reach: int
    stretched: bool
    inside: bool
    roundings: float

    @property
    def taps(self) -> int:
        """The number of elements that take part, unless stretched."""
        return 2 * self.reach

    def shares(self, at: Sequence[Fraction], size: int, scale: Fraction) -> tuple[Array, Array]:
        """The shares (places, size), and 1 for each element that may have one.

        Raises:
            ValueError: no element inside has a share.
        """
        narrow = min(scale, Fraction(1)) if self.stretched else Fraction(1)
        wide = Fraction(self.reach) / narrow
        weights = np.zeros((len(at), size), np.longdouble)
        reached = np.zeros((len(at), size))
        for place, coordinate in enumerate(at):
            shares = {
                tap: self.curve(abs(narrow * (tap - coordinate)))
                for tap in range(floor(coordinate - wide) + 1, ceil(coordinate + wide))
            }
            near = range(floor(coordinate - wide) - 1, ceil(coordinate + wide) + 2)
            for tap in near:
                reached[place, min(max(tap, 0), size - 1)] = 1
            if self.inside:
                shares = {tap: share for tap, share in shares.items() if 0 <= tap < size}
            total = (
                sum(shares.values(), Fraction(0)) if self.inside or self.stretched else Fraction(1)
            )
            if total <= 0:
                raise ValueError("no element has a share")
            for tap, share in shares.items():
                part = share / total
                weight = np.longdouble(part.numerator) / np.longdouble(part.denominator)
                weights[place, min(max(tap, 0), size - 1)] += weight
        return weights, reached


def _linear(distance: Fraction) -> Fraction:
    return max(1 - distance, Fraction(0))


def _cubic(alpha: Fraction) -> Curve:
    """Source: R. G. Keys, "Cubic convolution interpolation for digital image processing", 1981."""

    def curve(x: Fraction) -> Fraction:
        if x <= 1:
            return ((alpha + 2) * x - (alpha + 3)) * x * x + 1
        if x < 2:
            return ((alpha * x - 5 * alpha) * x + 8 * alpha) * x - 4 * alpha
        return Fraction(0)

    return curve


def kernel_of(method: str, alpha: float | None, antialias: bool, exclude: bool) -> Kernel:
    """The kernel of the attributes of ``Resize``."""
    if method == "linear":
        return Kernel(_linear, 1, antialias, exclude, 4)
    number = Fraction(-0.75 if alpha is None else alpha).limit_denominator(1 << 30)
    return Kernel(_cubic(number), 2, antialias, exclude, 32)
