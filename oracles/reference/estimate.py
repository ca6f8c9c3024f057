"""Estimates: reference values that know how far a correct implementation may be from them.

Values are computed in NumPy's longest floating-point type; its own rounding (at most 2**-64
relative on x86, 2**-53 where it is float64) is part of the error.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxcheck.oracles.answer import Array, Bounded

Errors = NDArray[np.float64]
Flags = NDArray[np.bool_]

OWN_UNIT = float(np.finfo(np.longdouble).eps) / 2
"""The unit roundoff of the reference's own arithmetic."""

_INFLATION = 1 + 1e-9  # errors are themselves computed in float64


@dataclass(frozen=True, slots=True)
class Format:
    """A binary floating-point format: significand bits with the hidden one, and its range.

    Sources: IEEE 754-2019, table 3.5; bfloat16 is binary32 without its last 16 bits; the formats of
    8 bits are those of "OCP 8-bit Floating Point Specification", table 1. ``smallest`` is the
    smallest positive number. ``floor`` is the absolute error that underflow may cause: ``smallest``
    for float16 and 8 bits, which CPUs compute in a wider format; the smallest normal number for the
    others, as some vector kernels flush what is below it to zero. ``saturates``: an overflow and an
    infinity may become the largest number, or NaN where there is no infinity.
    """

    precision: int
    smallest: float
    floor: float
    largest: float
    saturates: bool = False

    @property
    def unit(self) -> float:
        """The unit roundoff u, 2**-precision (round to nearest)."""
        return 2.0**-self.precision

    @property
    def ceiling(self) -> Any:
        """A longdouble: what is at least this is rounded to infinity (IEEE 754-2019, 4.3.1)."""
        return np.longdouble(self.largest) * (1 + np.longdouble(self.unit))


FORMATS = {
    "float8_e4m3fn": Format(4, 2.0**-9, 2.0**-9, 448.0, saturates=True),
    "float8_e5m2": Format(3, 2.0**-16, 2.0**-16, 57344.0, saturates=True),
    "float16": Format(11, 2.0**-24, 2.0**-24, 65504.0),
    "bfloat16": Format(8, 2.0**-133, 2.0**-126, (2 - 2.0**-7) * 2.0**127),
    "float32": Format(24, 2.0**-149, 2.0**-126, (2 - 2.0**-23) * 2.0**127),
    "float64": Format(53, 2.0**-1074, 2.0**-1022, float(np.finfo(np.float64).max)),
}


@dataclass(frozen=True, slots=True)
class Estimate:
    """A tensor known up to an error.

    ``value`` is longdouble where ``dtype`` is a floating-point format, else int64; ``error``
    (float64, >= 0, same shape) bounds the distance of a correct implementation's result. A value
    that is NaN or infinite is certain (error 0). An infinite error, with value 0, leaves the
    element *unconstrained*: correct implementations differ, NaN and infinities included.

    ``half`` says that a mixed-precision pipeline may keep the tensor in float16; ``signed`` that
    the sign of a zero is defined.
    """

    value: Array
    error: Errors
    dtype: str
    half: bool = False
    signed: bool = False

    @property
    def reach(self) -> Errors:
        """The largest magnitude that each element may have."""
        reach: Errors = np.abs(self.value).astype(np.float64) + self.error
        return reach


def exact(array: Array, dtype: str) -> Estimate:
    """The estimate of an input: exact.

    Raises:
        ValueError: an element does not fit int64.
    """
    error = np.zeros(array.shape)
    if dtype in FORMATS:
        value: Array = array.astype(np.float64).astype(np.longdouble)
        return Estimate(value, error, dtype, signed=True)
    value = array.astype(np.int64)
    if not np.array_equal(value.astype(array.dtype), array) or (
        array.dtype.kind == "u" and (value < 0).any()
    ):
        raise ValueError(f"a {dtype} input does not fit int64")
    return Estimate(value, error, dtype)


def finished(estimate: Estimate) -> Bounded:
    """The output that ``estimate`` stands for; the step to float64 becomes part of the bound."""
    if estimate.dtype not in FORMATS:
        return Bounded(estimate.value, estimate.error, estimate.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        value = estimate.value.astype(np.float64)
        step = np.abs(estimate.value - value).astype(np.float64)
        bound = (estimate.error + np.where(np.isnan(step), 0, step)) * _INFLATION
    # The next number above may be out of reach for the format.
    over = np.isfinite(value) & ~(np.abs(value) <= FORMATS[estimate.dtype].largest)
    bound = np.where(over, np.inf, bound)
    return Bounded(value, bound, estimate.dtype, signed_zeros=estimate.signed)


def is_ordinary(estimate: Estimate) -> bool:
    """True if every element is a finite number with a finite error."""
    return bool(np.isfinite(estimate.value).all() and np.isfinite(estimate.error).all())


def ordinary(estimate: Estimate) -> Estimate:
    """``estimate`` with 0 in place of NaN, infinities and unconstrained elements, if any."""
    if is_ordinary(estimate):
        return estimate
    kept = np.isfinite(estimate.value) & np.isfinite(estimate.error)
    value = np.where(kept, estimate.value, np.longdouble(0))
    return replace(estimate, value=value, error=np.where(kept, estimate.error, 0.0))


def unknown(*operands: Estimate) -> Flags:
    """Flag elements, broadcast, where some operand is NaN, infinite or unconstrained."""
    flags: Flags = np.zeros((), np.bool_)
    for each in operands:
        flags = flags | ~np.isfinite(each.value) | ~np.isfinite(each.error)
    return flags


def with_specials(
    estimate: Estimate, undefined: Flags, above: Flags, below: Flags, unconstrained: Flags
) -> Estimate:
    """``estimate`` with NaN, unconstrained elements, +infinity and -infinity, in this precedence.

    What is both ``above`` and ``below`` is ``undefined``: their sum is NaN (IEEE 754-2019, 7.2).
    """
    undefined = undefined | (above & below)
    unconstrained = unconstrained & ~undefined
    value = np.where(above, np.longdouble(np.inf), estimate.value)
    value = np.where(below, np.longdouble(-np.inf), value)
    value = np.where(unconstrained, np.longdouble(0), value)
    value = np.where(undefined, np.longdouble(np.nan), value)
    error = np.where(above | below | undefined, 0.0, estimate.error)
    return replace(estimate, value=value, error=np.where(unconstrained, np.inf, error))


def as_in(source: Estimate, result: Estimate) -> Estimate:
    """``result``, but NaN, infinite and unconstrained wherever ``source`` is."""
    if is_ordinary(source):
        return result
    infinite = np.isinf(source.value)
    return with_specials(
        result,
        np.isnan(source.value),
        infinite & (source.value > 0),
        infinite & (source.value < 0),
        np.isinf(source.error),
    )
