"""Numbers of the whole range of a floating-point dtype, and those where functions turn.

Of eight numbers three have random bits: each exponent, of subnormal numbers too, is as likely as
any other. Three are turning points of elementary functions, or up to two numbers away from one:
zeros, poles, branch points, thresholds of overflow and underflow. Two are of the magnitudes
between. All are finite.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Words = NDArray[np.uint64]

_PI = Fraction("3.14159265358979323846264338327950288419716939937510582097494")
_LN2 = Fraction("0.69314718055994530941723212145817656807550013436025525412068")

_NEAREST: dict[str, tuple[tuple[int, int], ...]] = {
    "float16": ((1420, -3), (1420, -2), (1065, -1), (1065, 0), (1697, 5)),
    "float32": ((16367173, 72), (16367173, 73), (10741887, 11), (10741887, 12), (16573937, -16)),
    "float64": (
        (6381956970095103, 797),
        (6381956970095103, 798),
        (6411027962775774, -47),
        (6411027962775774, -46),
        (5916243447979695, 79),
    ),
}
"""The numbers ``m * 2**e`` that are closest to an odd or even multiple of pi/2, relatively.

They follow from the convergents of ``2**e * 2 / pi`` (J.-M. Muller, *Elementary Functions*, 3rd
ed., section 11.3.2). A reduction of the argument that is short of digits loses all of them there.
"""

_QUARTERS = (1, 2, 3, 4, 6, 20, 200, 1000)
"""Multiples of pi/2: tan has a pole at the odd ones, and sin a zero at the others."""

_SATURATED = (2.0, 2.1, 3.0, 3.84, 4.0, 5.86, 6.0, 9.0, 20.0)
"""Where erf rounds to 1; caps of approximations to tanh and erf; where softplus turns."""

_STEPS = (0, 1, -1, 2, -2)
"""Numbers away from a turning point."""


def spanning(words: Words, dtype: np.dtype[Any]) -> Array:
    """A flat array of the floating-point ``dtype``, a number for each of ``words``."""
    kind = words % np.uint64(8)
    turning = _turning_points(dtype)
    which = ((words >> np.uint64(3)) % np.uint64(len(turning))).astype(np.int64)
    signs = np.where((words >> np.uint64(28)) % np.uint64(2) == 0, 1.0, -1.0)
    chosen: Array = np.where(
        kind < 3,
        _random(words >> np.uint64(12), dtype),
        np.where(kind < 6, turning[which] * signs.astype(dtype), _between(words, signs, dtype)),
    )
    return chosen.astype(dtype)


def _random(words: Words, dtype: np.dtype[Any]) -> Array:
    """Numbers of random sign, significand and exponent, the one of what is not finite left out."""
    unsigned = np.dtype(f"u{dtype.itemsize}")
    bits = int(ml_dtypes.finfo(dtype).nmant)
    # The low bits of a significand of float64 are the words' own, which are not used up above.
    mixed = words * np.uint64(0x9E3779B97F4A7C15) ^ words if dtype.itemsize == 8 else words
    exponents = np.uint64(2 ** (8 * dtype.itemsize - 1 - bits) - 1)
    exponent = (mixed >> np.uint64(bits)) % exponents << np.uint64(bits)
    sign = (mixed & np.uint64(2**63)) >> np.uint64(64 - 8 * dtype.itemsize)
    if dtype.itemsize < 8:
        sign = ((words >> np.uint64(48)) & np.uint64(1)) << np.uint64(8 * dtype.itemsize - 1)
    whole = sign | exponent | (mixed & np.uint64(2**bits - 1))
    result: Array = whole.astype(unsigned).view(dtype)
    return result


def _between(words: Words, signs: NDArray[np.float64], dtype: np.dtype[Any]) -> Array:
    """Numbers up to 1, 16, or a little above the one whose exponential overflows."""
    top = _exponents(dtype)[1]
    scales = np.array([1.0, 16.0, float(top)])
    fraction = ((words >> np.uint64(34)) % np.uint64(2**24)).astype(np.float64) / 2**24
    scale = scales[((words >> np.uint64(29)) % np.uint64(3)).astype(np.int64)]
    return np.asarray(signs * fraction * scale).astype(dtype)


def _exponents(dtype: np.dtype[Any]) -> tuple[int, int, int]:
    """The powers of two of the smallest number, of the limit above the largest, and of 1's unit."""
    known = ml_dtypes.finfo(dtype)
    _, lowest = np.frexp(float(known.smallest_subnormal))
    _, highest = np.frexp(float(known.max))
    # The hidden bit of a significand is none of its own (IEEE 754-2019, table 3.5).
    return int(lowest) - 1, int(highest), int(known.nmant) + 1


@cache
def _turning_points(dtype: np.dtype[Any]) -> Array:
    """The turning points from 0 on and their neighbours."""
    points = np.array([float(each) for each in _points(dtype)], np.float64).astype(dtype)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    most = int(np.array(ml_dtypes.finfo(dtype).max, dtype).view(unsigned))
    places = points.view(unsigned).astype(object)
    near = [min(abs(int(place) + step), most) for place in places for step in _STEPS]
    result: Array = np.array(sorted(set(near)), unsigned).view(dtype)
    return result


def _points(dtype: np.dtype[Any]) -> Iterator[Fraction | float]:
    lowest, highest, precision = _exponents(dtype)
    known = ml_dtypes.finfo(dtype)
    yield from (0.0, 0.5, 1.0, float(known.smallest_normal), float(known.max))
    yield from _SATURATED
    yield from (_PI / 2 * count for count in _QUARTERS)
    yield _PI / 4
    # Where exp is the largest number, sinh and cosh are; where it is normal, not 0; near 1.
    powers = (highest, highest + 1, lowest + precision - 1, lowest, lowest - 1, precision)
    yield from (_LN2 * abs(power) for power in powers)
    # Where tanh rounds to 1, where squares and cubes overflow and underflow.
    yield _LN2 * (precision + 1) / 2
    for power in (
        highest // 2,
        highest // 3,
        lowest // 2,
        lowest // 3,
        -precision,
        -precision // 2,
    ):
        yield 2.0**power
    yield from (float(np.ldexp(float(m), e)) for m, e in _NEAREST.get(dtype.name, ()))
