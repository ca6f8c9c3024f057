"""Estimates: reference values with rigorous error bounds, and the arithmetic that carries both.

An ``Estimate`` stands for every result that a correct implementation may reach: each of its
elements lies within ``error`` of ``value``. Values are computed in NumPy's longest floating-point
type; its own rounding (at most 2**-64 relative on x86, 2**-53 where it is float64) is part of the
error. Errors follow N. J. Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed.:
fl(a op b) = (a op b)(1 + d), |d| <= u (section 2.2), products of n such factors stay within
gamma(n) = n u / (1 - n u) (lemma 3.1), and so is a sum of n products in any order, relative to
sum|a||b| (section 3.1). Underflow adds an absolute term (section 2.1).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generators.values import numpy_dtype
from oracles.answer import Array, Bounded

Errors = NDArray[np.float64]

_OWN_UNIT = float(np.finfo(np.longdouble).eps) / 2

_INFLATION = 1 + 1e-9  # errors are themselves computed in float64

EXP_ULPS = 2
"""What an exponential may be off, in units in the last place: glibc, SLEEF and MLAS stay within."""


@dataclass(frozen=True, slots=True)
class Format:
    """A binary floating-point format: significand bits with the hidden one, and its range.

    ``smallest`` is the smallest positive number. ``floor`` is the absolute error that underflow
    may cause: ``smallest`` for float16, which CPUs compute in a wider format; the smallest normal
    number for the others, as some vector kernels flush what is below it to zero.
    """

    precision: int
    smallest: float
    floor: float
    largest: float

    @property
    def unit(self) -> float:
        """The unit roundoff u, 2**-precision (round to nearest)."""
        return 2.0**-self.precision


FORMATS = {
    "float16": Format(11, 2.0**-24, 2.0**-24, 65504.0),
    "bfloat16": Format(8, 2.0**-133, 2.0**-126, (2 - 2.0**-7) * 2.0**127),
    "float32": Format(24, 2.0**-149, 2.0**-126, (2 - 2.0**-23) * 2.0**127),
    "float64": Format(53, 2.0**-1074, 2.0**-1022, float(np.finfo(np.float64).max)),
}


@dataclass(frozen=True, slots=True)
class Estimate:
    """A tensor known up to an error.

    ``value`` is longdouble where ``dtype`` is a floating-point format, else int64; ``error``
    (float64, >= 0, same shape) bounds the distance of a correct implementation's result.
    ``half`` says that a mixed-precision pipeline may keep the tensor in float16.
    """

    value: Array
    error: Errors
    dtype: str
    half: bool = False


def gamma(n: Any, unit: float) -> Any:
    """Higham's gamma(n) = n u / (1 - n u); infinite where n u >= 1."""
    product = np.asarray(n, np.float64) * unit
    return np.where(product < 1, product / np.where(product < 1, 1 - product, 1), np.inf)


def given(array: Array, dtype: str) -> Estimate:
    """The estimate of an input: exact.

    Raises:
        ValueError: an element is not finite, or does not fit int64.
    """
    if dtype in FORMATS:
        value: Array = array.astype(np.float64).astype(np.longdouble)
        if not np.isfinite(value).all():
            raise ValueError("an input that is not finite has no bound")
    else:
        value = array.astype(np.int64)
        if not np.array_equal(value.astype(array.dtype), array) or (
            array.dtype.kind == "u" and (value < 0).any()
        ):
            raise ValueError(f"a {dtype} input does not fit int64")
    return Estimate(value, np.zeros(array.shape), dtype)


def nearest(value: Array, target: Format) -> Array:
    """``value`` (longdouble) rounded to the nearest number of ``target``, ties to even."""
    _, exponent = np.frexp(value)
    _, lowest = np.frexp(np.longdouble(target.smallest))
    step = np.maximum(exponent - target.precision, int(lowest) - 1)
    result: Array = np.ldexp(np.rint(np.ldexp(value, -step)), step)
    return result


def rounded(estimate: Estimate, target: Format) -> Estimate:
    """``estimate`` after one correctly rounded operation or cast to ``target``: error added only.

    Where nothing is uncertain before, the error is the actual distance to the rounded value.
    """
    distance = np.abs(estimate.value - nearest(estimate.value, target)).astype(np.float64)
    reach = _reach(estimate)
    uncertain = estimate.error + target.unit * reach + target.smallest / 2
    error = np.where(estimate.error == 0, distance, uncertain)
    return replace(estimate, error=_overflowing(error, reach, target))


def cast(estimate: Estimate, dtype: str) -> Estimate:
    """``estimate`` cast to ``dtype``, as a program that casts explicitly means it.

    Exact values are replaced by their rounded ones, which adds no error. Integers wrap around.

    Raises:
        ValueError: from floating point to an integer.
    """
    if dtype == estimate.dtype:
        return estimate
    if dtype in FORMATS:
        value = estimate.value.astype(np.longdouble)
        wide = Estimate(value, estimate.error, dtype)
        if estimate.error.any():
            return rounded(wide, FORMATS[dtype])
        reach = _reach(wide)
        error = _overflowing(wide.error, reach, FORMATS[dtype])
        return Estimate(nearest(value, FORMATS[dtype]), error, dtype)
    if estimate.dtype in FORMATS:
        raise ValueError(f"a cast from {estimate.dtype} to {dtype} is not defined here")
    return wrapped(estimate.value, dtype)


def wrapped(value: Array, dtype: str) -> Estimate:
    """int64 ``value`` wrapped around to the integer ``dtype``: exact."""
    narrow = value.astype(numpy_dtype(dtype)).astype(np.int64)
    return Estimate(narrow, np.zeros(value.shape), dtype)


def sum_of_products(
    a: Estimate,
    b: Estimate,
    contract: Callable[[Array, Array], Array],
    dtype: str,
    extra: int = 0,
) -> Estimate:
    """``contract(a, b)``, bilinear, every element a sum of products; accumulated in ``dtype``.

    The error is n u sum|a||b| (C.-P. Jeannerod & S. M. Rump, "Improved error bounds for inner
    products in floating-point arithmetic", SIAM J. Matrix Anal. Appl. 34, 2013: any order, any n),
    the operands' errors and an underflow floor, where n is how many products an element sums.
    ``extra`` counts roundings beyond those of products and sums; with any, the factor is
    gamma(n + extra). Without, elements are exact where every partial sum must be representable:
    with both operands exact multiples of powers of two g and h, and sum|a||b| <= 2**precision g h.
    """
    if dtype not in FORMATS:
        return wrapped(contract(a.value, b.value), dtype)
    target = FORMATS[dtype]
    value = contract(a.value, b.value)
    abs_a, abs_b = (np.abs(x.value).astype(np.float64) for x in (a, b))
    magnitude = contract(abs_a + a.error, abs_b + b.error)
    terms = contract(np.ones(a.value.shape), np.ones(b.value.shape))
    factor = gamma(terms + extra, target.unit) if extra else terms * target.unit
    error = factor * magnitude + terms * target.floor
    error += gamma(terms, _OWN_UNIT) * magnitude
    if a.error.any() or b.error.any():
        error += contract(abs_a, b.error) + contract(a.error, abs_b + b.error)
    elif not extra:
        quantum = _quantum(abs_a) * _quantum(abs_b)
        exact = (magnitude <= quantum * 2.0**target.precision) & (quantum >= target.floor)
        error = np.where(exact, 0.0, error)
    return Estimate(value, _overflowing(error, magnitude, target), dtype)


def added(a: Estimate, b: Estimate, dtype: str) -> Estimate:
    """``a + b``, broadcast, one rounding in ``dtype``."""
    if dtype not in FORMATS:
        return wrapped(a.value + b.value, dtype)
    return _with_own(Estimate(a.value + b.value, a.error + b.error, dtype))


def multiplied(a: Estimate, b: Estimate, dtype: str) -> Estimate:
    """``a * b``, broadcast, one rounding in ``dtype``."""
    if dtype not in FORMATS:
        return wrapped(a.value * b.value, dtype)
    abs_a, abs_b = (np.abs(x.value).astype(np.float64) for x in (a, b))
    error = abs_a * b.error + a.error * abs_b + a.error * b.error
    return _with_own(Estimate(a.value * b.value, error, dtype))


def scaled(estimate: Estimate, factor: float, dtype: str, roundings: int) -> Estimate:
    """``estimate * factor``, where factor and product round ``roundings`` times in all."""
    target = FORMATS[dtype]
    size = abs(factor)
    reach = _reach(estimate) * size
    error = estimate.error * size + gamma(roundings, target.unit) * reach + target.floor
    return Estimate(estimate.value * factor, _overflowing(error, reach, target), dtype)


def _with_own(estimate: Estimate) -> Estimate:
    # Two 53-bit operands give exact longdouble sums and products only where these fit 64 bits.
    own = _OWN_UNIT * np.abs(estimate.value).astype(np.float64)
    doubles = estimate.value.astype(np.float64)
    error = estimate.error + np.where(estimate.value == doubles, 0.0, own)
    return rounded(replace(estimate, error=error), FORMATS[estimate.dtype])


def finished(estimate: Estimate) -> Bounded:
    """The output that ``estimate`` stands for; the step to float64 becomes part of the bound."""
    if estimate.dtype not in FORMATS:
        return Bounded(estimate.value, estimate.error, estimate.dtype)
    value = estimate.value.astype(np.float64)
    step = np.abs(estimate.value - value).astype(np.float64)
    bound = (estimate.error + step) * _INFLATION
    bound = _overflowing(bound, np.abs(value) + bound, FORMATS[estimate.dtype])
    return Bounded(value, bound, estimate.dtype)


def _reach(estimate: Estimate) -> Errors:
    reach: Errors = np.abs(estimate.value).astype(np.float64) + estimate.error
    return reach


def _overflowing(error: Errors, reach: Errors, target: Format) -> Errors:
    """``error``, infinite where the format may overflow or the error is already unknown."""
    return np.where(np.isnan(error) | ~(reach <= target.largest), np.inf, error)


def _quantum(magnitudes: Errors) -> float:
    """The largest power of two that all ``magnitudes`` (exact float64, >= 0) are multiples of."""
    present = magnitudes[magnitudes > 0]
    if not present.size:
        return 1.0
    fraction, exponent = np.frexp(present)
    bits = np.ldexp(fraction, 53).astype(np.int64)
    lowest = (bits & -bits).astype(np.float64)
    return float(np.ldexp(lowest, exponent - 53).min())


def softmax_average(
    scores: Estimate, visible: NDArray[np.bool_], values: Estimate, dtype: str
) -> Estimate:
    """The average of ``values``, weighted by the softmax of ``scores`` over visible keys.

    ``scores`` (..., queries, keys), ``visible`` broadcastable to it, ``values`` (..., keys, dim);
    the result (..., queries, dim). A query that sees nothing gives zeros; one that sees a single
    key gives that key's value, exactly.

    Source of the bound: with weights w_j = exp(s_j - max) off by a factor within 1 +- r_j, the
    normalised average moves by sum p_j r_j |v_j - o| / (1 - sum p_j r_j) at most, and never leaves
    the range of the values. r_j comes from the score's error, the rounded subtraction and the
    exponential; the summation, division and second product round by gamma(2 n + 2) together
    (Blanchard, Higham & Higham, "Accurately computing the log-sum-exp and softmax functions",
    IMA J. Numer. Anal. 41, 2021, treat the same algorithm).
    """
    target = FORMATS[dtype]
    seen = np.broadcast_to(visible, scores.value.shape)
    shift = np.max(scores.value, axis=-1, keepdims=True, where=seen, initial=-np.inf)
    shift = np.where(np.isfinite(shift), shift, 0)
    shifted = np.where(seen, scores.value - shift, 0)
    weights = np.where(seen, np.exp(shifted), 0)
    total = weights.sum(axis=-1, keepdims=True)
    share = weights / np.where(total > 0, total, 1)
    value = np.matmul(share, values.value)

    unsure = np.where(seen, scores.error, 0)
    drop = np.abs(shifted).astype(np.float64)
    widest = unsure.max(axis=-1, keepdims=True, initial=0)
    own = _OWN_UNIT * (np.abs(scores.value).astype(np.float64) + drop + 8)
    exponent = unsure + target.unit * (drop + unsure + widest) + own
    exp_unit = 2 * EXP_ULPS * target.unit
    with np.errstate(over="ignore", invalid="ignore"):
        relative = np.where(seen, np.expm1(exponent) * (1 + exp_unit) + exp_unit, 0)
        error = _average_error(share.astype(np.float64), relative, seen, value, values, target)
    count = seen.sum(axis=-1, keepdims=True)
    single = np.matmul(seen.astype(np.float64), values.error)
    error = np.where(count > 1, error, single)
    lost = ~np.isfinite(unsure).all(axis=-1, keepdims=True)
    error = np.where(lost, np.inf, error)
    return Estimate(value, _overflowing(error, np.abs(value).astype(np.float64), target), dtype)


def _average_error(
    share: Errors,
    relative: Errors,
    seen: NDArray[np.bool_],
    value: Array,
    values: Estimate,
    target: Format,
) -> Errors:
    """The error of ``softmax_average`` where several keys are visible."""
    keys = seen.shape[-1]
    moved = (share * relative).sum(axis=-1, keepdims=True)
    room = np.where(moved < 1, 1 - moved, np.nan)
    heavier = share * (1 + relative) / room
    count = seen.sum(axis=-1, keepdims=True)
    rounding = gamma(2 * count + 2, target.unit) + gamma(2 * count + 8, _OWN_UNIT)
    v = values.value.astype(np.float64)
    o = value.astype(np.float64)
    error = np.zeros(value.shape)
    for query in range(seen.shape[-2]):  # one query at a time keeps the work space small
        mask = seen[..., query, :, None]
        away = np.where(mask, np.abs(v - o[..., query, None, :]), 0)
        size = np.where(mask, np.abs(v), 0)
        doubt = np.where(mask, values.error, 0)
        tilt = (share * relative / room)[..., query, :, None]
        weight = heavier[..., query, :, None]
        error[..., query, :] = (
            np.fmin((tilt * away).sum(-2), away.max(-2, initial=0))
            + rounding[..., query, :] * np.fmin((weight * size).sum(-2), size.max(-2, initial=0))
            + np.fmin((weight * doubt).sum(-2), doubt.max(-2, initial=0))
            + 2 * target.floor * ((size + away).sum(-2) + keys)
        )
    return error
