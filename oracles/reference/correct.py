"""Elementary functions through mpmath, where long double has few digits to spare.

The reference's own type holds 40 bits more than float32, and 11 more than float64; on some machines
none. So elements of float64 are computed again with ``_BITS``, by code that shares nothing with the
C library's. Source: F. Johansson and others, mpmath 1.3; its functions are correct to the last few
of the bits asked for.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import mpmath
import numpy as np

from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference.estimate import Errors

Operand = tuple[Array, Errors]

MOST = 64
"""Elements of a tensor that are computed again: each takes some 20 microseconds."""

_BITS = 120

_OWN_BITS = 64

_CONTEXT = mpmath.MPContext()
_CONTEXT.prec = _BITS

_FAR = 11000.0
"""Exponentials of such numbers are beyond every format, and long double decides as much."""

_NEAR = 8.0
"""Functions that are constant, or the operand itself, further away."""


def _sigmoid(x: Any) -> Any:
    small = _CONTEXT.exp(-abs(x))
    return (1 if x >= 0 else small) / (1 + small)


def _log_add_exp(a: Any, b: Any) -> Any:
    # Far more digits than the cancellation of two doubles takes.
    with _CONTEXT.workprec(2 * _BITS):
        gap = -abs(a - b)
        more = _CONTEXT.log1p(_CONTEXT.exp(gap)) if gap > -_FAR else 0
        return max(a, b) + more


_FUNCTIONS: dict[str, tuple[Callable[..., Any], float]] = {
    "exp": (_CONTEXT.exp, _FAR),
    "log": (_CONTEXT.log, np.inf),
    "rsqrt": (lambda x: 1 / _CONTEXT.sqrt(x), np.inf),
    "sigmoid": (_sigmoid, _FAR),
    "erf": (_CONTEXT.erf, _NEAR),
    "sinh": (_CONTEXT.sinh, _FAR),
    "cosh": (_CONTEXT.cosh, _FAR),
    "tanh": (_CONTEXT.tanh, _FAR),
    **{
        name: (getattr(_CONTEXT, name), np.inf)
        for name in ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "sin", "tan")
    },
    "atan2": (_CONTEXT.atan2, np.inf),
    "log_add_exp": (_log_add_exp, np.inf),
    "power": (_CONTEXT.power, np.inf),
}
"""Each function, and the magnitude of operands up to which it is asked."""


def corrected(operator: str, dtype: str, operands: Sequence[Operand], approximate: Array) -> Array:
    """``approximate``, the function ``operator`` of ``operands``, rounded correctly where needed.

    ``operands`` are values and errors that broadcast to ``approximate`` and lie in the domain. It
    stays as it is where an operand is not exact, a result infinite or NaN, and in narrower dtypes.
    """
    known = _FUNCTIONS.get(operator)
    if known is None or dtype != "float64" or not 0 < approximate.size <= MOST:
        return approximate
    _, furthest = known
    values = [np.broadcast_to(value, approximate.shape) for value, _ in operands]
    usable = np.isfinite(approximate) & (approximate != 0)
    for value, (_, error) in zip(values, operands, strict=True):
        # mpmath has no negative zero, and long double no trouble with either.
        usable &= (value != 0) & (np.abs(value) <= furthest)
        usable &= (value == value.astype(np.float64)) & (error == 0)
    # NumPy makes a scalar of an array without axes.
    result = np.array(approximate, np.longdouble)
    for at in np.argwhere(usable):
        place = tuple(at)
        result[place] = correct(operator, *(float(value[place]) for value in values))
    return result


@lru_cache(maxsize=4096)
def correct(operator: str, *operands: float) -> Any:
    """The function ``operator`` of finite numbers in its domain, rounded to long double."""
    function, _ = _FUNCTIONS[operator]
    return to_long_double(function(*map(_CONTEXT.mpf, operands)))


def to_long_double(number: Any) -> Any:
    """``number``, of mpmath, as a longdouble: to its last digit on x86."""
    if not _CONTEXT.isfinite(number):
        return np.longdouble(float(number))
    # Mantissa and exponent are integers of any size.
    mantissa, exponent = (int(part) for part in number.man_exp)
    surplus = max(mantissa.bit_length() - _OWN_BITS, 0)
    mantissa = (mantissa + (1 << surplus >> 1)) >> surplus
    high, low = divmod(mantissa, 2**32)
    power = max(min(exponent + surplus, 40000), -40000)
    size = np.ldexp(np.longdouble(high) * 2**32 + np.longdouble(low), power)
    return -size if number < 0 else size
