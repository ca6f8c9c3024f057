"""The cubic convolution that images are interpolated by, of numbers and of arrays.

Source: R. G. Keys, "Cubic convolution interpolation for digital image processing", IEEE
Transactions on Acoustics, Speech, and Signal Processing 29, 1981, of free alpha.
"""

from typing import Any

ROUNDINGS = 24
"""Unit roundoffs that a weight may be off by.

Its polynomials have terms of up to 6 that cancel, in four operations (Horner's rule).
"""

STEEPEST = 1.5
"""It is nowhere steeper, for alpha from -1 to 0."""


def near(distance: Any, alpha: Any) -> Any:
    """The weight of an element at a ``distance`` from 0 to 1."""
    return ((alpha + 2) * distance - (alpha + 3)) * distance**2 + 1


def far(distance: Any, alpha: Any) -> Any:
    """The weight of an element at a ``distance`` from 1 to 2."""
    return ((distance - 5) * distance + 8) * distance * alpha - 4 * alpha
