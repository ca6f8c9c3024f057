"""Values at which a cast to another dtype has to decide: ties, and their neighbours."""

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import msgspec
import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Wholes = NDArray[np.int64]


class Borders(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="borders"):
    """Numbers of all magnitudes that both dtypes hold, whatever the regime.

    Where ``to`` is a narrower floating-point format, each is halfway between two numbers of it, or
    one step of its own dtype beside that. A cast by way of a third format errs there. Of integers
    of 64 bits no magnitude is 2**62 or more.
    """

    to: str


@dataclass(frozen=True, slots=True)
class _Digits:
    """Numbers m * 2**k of ``precision`` bits, of magnitudes from 2**least up to 2**most."""

    precision: int
    least: int
    most: int


_FRACTIONS = 3
"""A number below 1 that an integer cuts to 0 is 2**-3 or more."""


def borders(words: Words, dtype: np.dtype[Any], to: np.dtype[Any]) -> NDArray[Any]:
    """A number of ``dtype`` for each of ``words``."""
    if dtype.kind == "b":
        return np.asarray((words >> np.uint64(40)) % np.uint64(2) != 0)
    own, other = _digits(dtype), _digits(to)
    low = max(own.least, -_FRACTIONS if to.kind in "iu" else other.least)
    # An integer that nothing holds is left to the other regimes.
    high = max(low + 1, min(own.most, other.most))
    exponent = low + 1 + _picked(words, 48, high - low)
    mantissa = (words & np.uint64(2**48 - 1)).astype(np.int64)
    held = np.minimum(own.precision, exponent - own.least)
    kept = np.clip(np.minimum(other.precision, exponent - other.least), 0, None)
    tie = (2 * _top(mantissa, kept) + 1) << np.maximum(held - kept - 1, 0)
    beside = np.where(held > kept + 1, _picked(words, 58, 3) - 1, 0)
    number = np.where(held > kept, tie + beside, _top(mantissa, held))
    negative = (words >> np.uint64(63) == 1) & (dtype.kind != "u") & (to.kind != "u")
    signed = np.where(negative, -number, number)
    if dtype.kind in "iu":
        return (signed << np.maximum(exponent - held, 0)).astype(dtype)
    # The last of all numbers of float8_e4m3fn is NaN.
    most = float(ml_dtypes.finfo(dtype).max)
    return np.clip(np.ldexp(signed.astype(np.float64), exponent - held), -most, most).astype(dtype)


def _digits(dtype: np.dtype[Any]) -> _Digits:
    if dtype.kind == "b":
        return _Digits(1, -_FRACTIONS, 2)
    if dtype.kind in "iu":
        bits = min(int(np.iinfo(dtype).max).bit_length(), 62)
        return _Digits(bits, 0, bits)
    known = ml_dtypes.finfo(dtype)
    least = int(np.frexp(float(known.smallest_subnormal))[1]) - 1
    return _Digits(int(known.nmant) + 1, least, int(np.frexp(float(known.max))[1]))


def _picked(words: Words, shift: int, count: int) -> Wholes:
    """Numbers from 0 to ``count - 1``."""
    mixed = (words >> np.uint64(shift)) ^ (words >> np.uint64(5))
    return (mixed % np.uint64(count)).astype(np.int64)


def _top(mantissa: Wholes, bits: Wholes) -> Wholes:
    """Numbers of exactly so many ``bits``, 0 of none, from 48 random bits each."""
    leading = np.where(bits > 0, np.left_shift(1, np.maximum(bits - 1, 0)), 0)
    below = np.where(bits > 0, leading - 1, 0)
    wide = mantissa | (mantissa << 14)
    return np.asarray(leading | (wide & below), np.int64)
