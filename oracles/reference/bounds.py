"""The arithmetic of estimates: one rule for each kind of operation, each with its source.

Errors follow N. J. Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed.:
fl(a op b) = (a op b)(1 + d), |d| <= u (section 2.2), products of n such factors stay within
gamma(n) = n u / (1 - n u) (lemma 3.1). Underflow adds an absolute term (section 2.1). What NaN and
infinities do is IEEE 754-2019, sections 6 and 7; where correct implementations differ the
element is unconstrained (see ``MEANINGS.md``).
"""

from dataclasses import replace
from typing import Any

import numpy as np

from relaxcheck.generators.core.values import numpy_dtype
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference import special
from relaxcheck.oracles.reference.estimate import (
    FORMATS,
    OWN_UNIT,
    Errors,
    Estimate,
    Flags,
    Format,
    as_in,
    is_ordinary,
    ordinary,
    unknown,
    with_specials,
)

LIBM = 2
"""Error granted to a function of the C library or a vector kernel, in units in the last place.

Each is up to two unit roundoffs. Sources: glibc's manual lists at most 2 for the functions that TVM
calls; PyTorch uses SLEEF's ``u10`` and ``u20``; ONNX Runtime has polynomials of its own.
"""

_QUIET = {"over": "ignore", "invalid": "ignore", "under": "ignore"}


def gamma(n: Any, unit: float) -> Any:
    """Higham's gamma(n) = n u / (1 - n u), of numbers or arrays; infinite where n u >= 1."""
    if isinstance(n, int):
        # The same as NumPy's result, at a tenth of the cost.
        relative = n * unit
        return relative / (1 - relative) if relative < 1 else np.inf
    product = np.asarray(n, np.float64) * unit
    return np.where(product < 1, product / np.where(product < 1, 1 - product, 1), np.inf)


def summing(terms: Any, unit: float, size: Any, net: Any) -> Any:
    """The error of adding up ``terms`` numbers in any order, each addition rounded.

    ``size`` bounds the sum of their magnitudes, ``net`` the magnitude of their sum.

    Source: each of the n - 1 additions is off by at most u times what it computed (Higham, equation
    4.3, for every order), which is a sum of some of the numbers. Such a sum lies between that of
    all negative and that of all positive numbers, so within (size + net) / 2, and has itself been
    computed to within (n - 1) u size (S. M. Rump, "Error estimation of floating-point summation
    and dot product", BIT 52, 2012: any order, any n).
    """
    factor = np.maximum(np.asarray(terms, np.float64) - 1, 0) * unit
    return factor * np.minimum(size, (size + net) / 2 + factor * size)


def nearest(value: Array, target: Format) -> Array:
    """``value`` (longdouble, finite) rounded to the nearest number of ``target``, ties to even."""
    _, exponent = np.frexp(value)
    _, lowest = np.frexp(np.longdouble(target.smallest))
    step = np.maximum(exponent - target.precision, int(lowest) - 1)
    result: Array = np.ldexp(np.rint(np.ldexp(value, -step)), step)
    return result


def rounded(estimate: Estimate, target: Format, *, settled: bool = True) -> Estimate:
    """``estimate`` after one correctly rounded operation or cast to ``target``: error added only.

    Where nothing is uncertain before, the error is the actual distance to the rounded value.
    ``settled``: the result is a number of ``target``, so what is beyond its range is infinite;
    otherwise it may also be kept in a wider format, and is unconstrained there.
    """
    finite = ordinary(estimate)
    near = nearest(finite.value, target)
    distance = np.abs(finite.value - near).astype(np.float64)
    if target == FORMATS["bfloat16"]:
        # CPUs round to float32 first. That shows below the smallest normal number only (S. A.
        # Figueroa, "When is double rounding innocuous?", SIGNUM 30, 1995), next to a tie.
        tie = target.smallest / 2
        twice = (distance > tie - 2.0**-150) & (np.abs(finite.value) < target.floor)
        distance = np.where(twice, tie + 2.0**-150, distance)
    reach = finite.reach
    # Half the smallest number of float64 is no float64.
    half = max(target.smallest / 2, FORMATS["float64"].smallest)
    uncertain = finite.error + target.unit * reach + half
    exact = finite.error == 0
    over = np.where(exact, np.abs(near) > target.largest, ~(reach + uncertain <= target.largest))
    surely = np.where(
        exact, np.abs(near) > target.largest, np.abs(finite.value) - finite.error >= target.ceiling
    )
    surely = surely & np.bool_(settled and not target.saturates)
    error = np.where(exact, distance, uncertain)
    result = _beyond(replace(finite, error=error), over, surely)
    if finite is estimate:
        return result
    result = as_in(estimate, result)
    return unconstrain(result, np.isinf(estimate.value)) if target.saturates else result


def _beyond(finite: Estimate, over: Flags, surely: Flags) -> Estimate:
    """``finite``, but where ``over`` the range: infinite if ``surely``, else unconstrained."""
    if not over.any():
        return finite
    infinite = over & surely
    return with_specials(
        finite,
        np.zeros(over.shape, np.bool_),
        infinite & (finite.value > 0),
        infinite & (finite.value < 0),
        over & ~surely,
    )


def cast(estimate: Estimate, dtype: str) -> Estimate:
    """``estimate`` cast to ``dtype``, as a program that casts explicitly means it.

    Exact values are replaced by their rounded ones, which adds no error. Integers wrap around.

    Raises:
        ValueError: from floating point to an integer.
    """
    if dtype == estimate.dtype:
        return estimate
    if dtype in FORMATS:
        wide = replace(estimate, value=estimate.value.astype(np.longdouble), dtype=dtype)
        result = rounded(wide, FORMATS[dtype])
        if not estimate.error.any():
            finite = ordinary(result)
            near = nearest(ordinary(wide).value, FORMATS[dtype])
            exact = replace(finite, value=near, error=np.zeros(near.shape))
            result = as_in(result, exact)
        return result
    if estimate.dtype in FORMATS:
        raise ValueError(f"a cast from {estimate.dtype} to {dtype} is not defined here")
    return wrapped(estimate.value, dtype, estimate)


def wrapped(value: Array, dtype: str, *operands: Estimate) -> Estimate:
    """int64 ``value`` wrapped around to the integer ``dtype``: exact.

    It is unconstrained where one of ``operands``, which broadcast to it, is.
    """
    narrow = value.astype(numpy_dtype(dtype)).astype(np.int64)
    return unconstrain(Estimate(narrow, np.zeros(value.shape), dtype), unknown(*operands))


def sum_of_products(
    a: Estimate,
    b: Estimate,
    contract: special.Contract,
    dtype: str,
    *,
    extra: int = 0,
    settled: bool = True,
    stuffing: special.Contract | None = None,
) -> Estimate:
    """``contract(a, b)``, bilinear, every element a sum of products; accumulated in ``dtype``.

    The error is that of ``summing``, one rounding of each product and ``extra`` more (gamma), the
    operands' errors, and an underflow floor for each operation. With no ``extra``, elements are
    exact where every partial sum must be representable: with both operands exact multiples of
    powers of two g and h, and sum|a||b| <= 2**precision g h. ``settled`` as for ``rounded``.
    ``stuffing`` counts what an implementation may multiply by zeros it put in (``products``).
    """
    if dtype not in FORMATS:
        whole = wrapped(contract(a.value, b.value), dtype)
        open_a, open_b = (unknown(each).astype(np.int64) for each in (a, b))
        if not (open_a.any() or open_b.any()):
            return whole
        touched = contract(open_a, np.ones_like(open_b)) + contract(np.ones_like(open_a), open_b)
        return unconstrain(whole, touched > 0)
    x, y = ordinary(a), ordinary(b)
    finite = _finite_sum_of_products(x, y, contract, dtype, extra=extra, settled=settled)
    if x is a and y is b:
        return finite
    specials = special.products(a, b, contract, stuffing)
    # An overflow of the finite part on the way leads to an infinity, or to NaN, as the order is.
    clash = (specials.above & (finite.value == -np.inf)) | (
        specials.below & (finite.value == np.inf)
    )
    clash |= (specials.above | specials.below) & np.isinf(finite.error)
    return with_specials(
        finite, specials.undefined, specials.above, specials.below, specials.unconstrained | clash
    )


def _finite_sum_of_products(
    a: Estimate, b: Estimate, contract: special.Contract, dtype: str, *, extra: int, settled: bool
) -> Estimate:
    target = FORMATS[dtype]
    value = contract(a.value, b.value)
    abs_a, abs_b = (np.abs(x.value).astype(np.float64) for x in (a, b))
    terms = contract(np.ones(a.value.shape), np.ones(b.value.shape))
    certain = not (a.error.any() or b.error.any())
    with np.errstate(**_QUIET):  # type: ignore[arg-type]
        magnitude = contract(abs_a + a.error, abs_b + b.error)
        each = float(gamma(1 + extra, target.unit))
        # First the error of the terms, then that of the operations on them.
        moved = each * magnitude + gamma(terms, OWN_UNIT) * magnitude
        if not certain:
            moved += contract(abs_a, b.error) + contract(a.error, abs_b + b.error)
        size = magnitude * (1 + each)
        plain = np.abs(value).astype(np.float64)
        net = plain + moved
        added_up = summing(terms, target.unit, size, net)
        error = moved + added_up + 2 * terms * target.floor
        over = ~((size + net) / 2 + added_up <= target.largest)
        if certain and not extra:
            quantum = _quantum(abs_a) * _quantum(abs_b)
            exact = (magnitude <= quantum * 2.0**target.precision) & (quantum >= target.floor)
            error = np.where(exact, 0.0, error)
            over = np.where(exact, (magnitude + plain) / 2 > target.largest, over)
        if not over.any():
            return Estimate(value, error, dtype)
        opposite = (size - plain + moved) / 2 + added_up
        surely = (np.abs(value) - error >= target.ceiling) & (opposite <= target.largest)
    return _beyond(Estimate(value, error, dtype), over, surely & np.bool_(settled))


def added(a: Estimate, b: Estimate, dtype: str, *, settled: bool = True) -> Estimate:
    """``a + b``, broadcast, one rounding in ``dtype``; ``settled`` as for ``rounded``."""
    if dtype not in FORMATS:
        return wrapped(a.value + b.value, dtype, a, b)
    with np.errstate(invalid="ignore"):
        value = a.value + b.value
    error = a.error + b.error
    signed = a.signed and b.signed
    total = Estimate(value, error, dtype, signed=signed)
    if not is_ordinary(total):
        infinite = np.isinf(value)
        total = with_specials(
            total, np.isnan(value), infinite & (value > 0), infinite & (value < 0), np.isinf(error)
        )
    return single(total, settled)


def multiplied(a: Estimate, b: Estimate, dtype: str) -> Estimate:
    """``a * b``, broadcast, one rounding in ``dtype``."""
    if dtype not in FORMATS:
        return wrapped(a.value * b.value, dtype, a, b)
    x, y = ordinary(a), ordinary(b)
    abs_a, abs_b = (np.abs(each.value).astype(np.float64) for each in (x, y))
    error = abs_a * y.error + x.error * abs_b + x.error * y.error
    finite = Estimate(x.value * y.value, error, dtype, signed=a.signed and b.signed)
    if x is a and y is b:
        return single(finite)
    specials = special.products(a, b, np.multiply)
    return single(
        with_specials(
            finite, specials.undefined, specials.above, specials.below, specials.unconstrained
        )
    )


def negated(estimate: Estimate) -> Estimate:
    """``-estimate``: exact, but that integers wrap around."""
    if estimate.dtype not in FORMATS:
        return wrapped(-estimate.value, estimate.dtype, estimate)
    return replace(estimate, value=-estimate.value)


def divided(a: Estimate, b: Estimate, dtype: str) -> Estimate:
    """``a / b`` of floating-point numbers, broadcast, one rounding in ``dtype``.

    Unconstrained where the divisor may be 0, or an operand is not finite.
    """
    usable = np.isfinite(a.value) & np.isfinite(a.error)
    usable = usable & np.isfinite(b.value) & (np.abs(b.value) > b.error)
    divisor = np.where(usable, b.value, 1)
    value = np.where(usable, a.value, 0) / divisor
    off_b = np.where(usable, b.error, 0)
    least = np.abs(divisor) - off_b
    # Quotients beyond float64's range have an infinite size here, and are exact all the same.
    size = np.where(off_b > 0, np.abs(value).astype(np.float64), 0)
    error = (np.where(usable, a.error, 0) + size * off_b) / least
    quotient = single(Estimate(value, error.astype(np.float64), dtype))
    return unconstrain(quotient, ~usable)


def unconstrain(estimate: Estimate, unconstrained: Flags) -> Estimate:
    """``estimate`` with the elements ``unconstrained``: any result is correct there."""
    if not unconstrained.any():
        return estimate
    unconstrained = np.broadcast_to(unconstrained, estimate.value.shape)
    value = np.where(unconstrained, np.zeros((), estimate.value.dtype), estimate.value)
    return replace(estimate, value=value, error=np.where(unconstrained, np.inf, estimate.error))


def computed(
    dtype: str,
    value: Array,
    moved: Any,
    units: Any,
    *,
    slack: Any = 0.0,
    unconstrained: Any = False,
    overflows: bool = False,
) -> Estimate:
    """A function's ``value`` as an implementation in ``dtype`` may have it.

    ``moved`` is what the operands' errors make, ``units`` a relative and ``slack`` an absolute
    error, both in unit roundoffs. Unconstrained where the result may be beyond the range; where it
    surely is and nothing but it ``overflows``, infinite (IEEE 754-2019, 7.4).
    """
    target = FORMATS[dtype]
    infinite = np.isinf(value) & ~np.asarray(unconstrained)
    unconstrained = np.broadcast_to(np.asarray(unconstrained) | ~np.isfinite(value), value.shape)
    kept = np.where(unconstrained, 0, value)
    reach = np.abs(kept).astype(np.float64) + np.where(unconstrained, 0, moved)
    own = 8 * OWN_UNIT * reach
    error = (
        np.where(unconstrained, 0, moved)
        + (units * reach + slack) * target.unit
        + own
        + target.floor
    )
    over = ~(reach + error <= target.largest)
    result = unconstrain(Estimate(kept, error.astype(np.float64), dtype), unconstrained | over)
    if not overflows or not (over | infinite).any():
        return result
    # In the longest type: the doubles above have overflowed themselves.
    least = np.abs(kept) * (1 - (units * target.unit + 8 * OWN_UNIT)) - slack * target.unit
    surely = (least - moved >= target.ceiling) | (infinite & (np.asarray(moved) == 0))
    return with_specials(
        result,
        np.isnan(result.value),
        surely & (value > 0),
        surely & (value < 0),
        np.isinf(result.error) & ~surely,
    )


def scaled(estimate: Estimate, factor: float, dtype: str, roundings: int) -> Estimate:
    """``estimate * factor``, where factor and product round ``roundings`` times in all.

    A possible overflow is unconstrained, as the factor may also be applied earlier.
    """
    target = FORMATS[dtype]
    finite = ordinary(estimate)
    size = abs(factor)
    reach = finite.reach * size
    error = finite.error * size + gamma(roundings, target.unit) * reach + target.floor
    over = ~(reach + error <= target.largest)
    result = _beyond(
        Estimate(finite.value * factor, error, dtype), over, np.zeros(over.shape, np.bool_)
    )
    with np.errstate(invalid="ignore"):
        source = replace(estimate, value=estimate.value * factor)
    return as_in(source, result)


def single(estimate: Estimate, settled: bool = True) -> Estimate:
    """The result of a single correctly rounded operation; ``settled`` as for ``rounded``.

    The reference has rounded the value as well, unless it is a double.
    """
    # Two 53-bit operands give exact longdouble sums and products only where these fit 64 bits.
    finite = ordinary(estimate)
    # Far beyond every format's range the result is infinite, whatever was rounded.
    size = np.minimum(np.abs(finite.value), 4 * np.longdouble(FORMATS["float64"].largest))
    own = np.maximum((OWN_UNIT * size).astype(np.float64), FORMATS["float64"].smallest)
    with np.errstate(over="ignore"):
        doubles = finite.value.astype(np.float64)
    error = finite.error + np.where(finite.value == doubles, 0.0, own)
    result = rounded(replace(finite, error=error), FORMATS[estimate.dtype], settled=settled)
    return result if finite is estimate else as_in(estimate, result)


def _quantum(magnitudes: Errors) -> float:
    """The largest power of two that all ``magnitudes`` (exact float64, >= 0) are multiples of."""
    present = magnitudes[magnitudes > 0]
    if not present.size:
        return 1.0
    fraction, exponent = np.frexp(present)
    bits = np.ldexp(fraction, 53).astype(np.int64)
    lowest = (bits & -bits).astype(np.float64)
    return float(np.ldexp(lowest, exponent - 53).min())
