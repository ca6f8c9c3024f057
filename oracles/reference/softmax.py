"""The average of values weighted by a softmax, with its bound.

The algorithm bounded is the usual one: exponentials of the scores less the largest one, their sum,
and a quotient before or after the values are multiplied and added up (P. Blanchard, D. J. Higham &
N. J. Higham, "Accurately computing the log-sum-exp and softmax functions", IMA J. Numer. Anal. 41,
2021). Every step is rounded to the compute dtype; sums are in any order.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference.bounds import gamma, summing
from relaxcheck.oracles.reference.estimate import (
    FORMATS,
    OWN_UNIT,
    Errors,
    Estimate,
    Flags,
    Format,
    ordinary,
    with_specials,
)

EXP_ULPS = 2
"""The error granted to an exponential, in units in the last place.

PyTorch's attention uses SLEEF's ``exp_u20`` (2.0 ULP by its name and documentation); glibc's table
of known maximum errors gives 1 for ``exp`` and ``expf``.
"""

_STEEP = 600.0
"""Beyond this uncertainty of an exponent nothing is known of a weight, and float64 overflows."""

_SLIGHT = 0.05
"""An uncertainty of weights whose square does not matter."""

_CELLS = 1 << 18
"""The number of elements of work space used at once."""


@dataclass(frozen=True, slots=True)
class _Weights:
    """The weights of the keys, (..., queries, keys), and what they may be off.

    A weight before normalisation is off by a factor from ``1 - fall`` to ``1 + rise``; ``share``
    is the normalised weight, ``total`` the sum before that, ``lost`` rows of unknown weights.
    """

    share: Errors
    rise: Errors
    fall: Errors
    total: Errors
    lost: Flags


def softmax_average(
    scores: Estimate, visible: NDArray[np.bool_], values: Estimate, dtype: str
) -> Estimate:
    """The average of ``values``, weighted by the softmax of ``scores`` over visible keys.

    ``scores`` (..., queries, keys), ``visible`` broadcastable to it, ``values`` (..., keys, dim);
    the result (..., queries, dim). A query that sees nothing gives zeros; one that sees a single
    key gives that key's value, exactly unless that is subnormal.
    """
    seen = np.broadcast_to(visible, scores.value.shape)
    plain, finite = ordinary(scores), ordinary(values)
    if plain is scores and finite is values:
        weights, value = _weighted(scores, seen, values, dtype)
        return _bounded(weights, seen, values, value, FORMATS[dtype])
    # A score of -infinity gives weight 0.
    counted = seen & np.isfinite(scores.value) & np.isfinite(scores.error)
    weights, value = _weighted(plain, counted, finite, dtype)
    result = _bounded(weights, counted, finite, value, FORMATS[dtype])
    return _special(scores, seen, values, weights, result, FORMATS[dtype])


def _weighted(
    scores: Estimate, seen: Flags, values: Estimate, dtype: str
) -> tuple[_Weights, Array]:
    """The weights, and the average (longdouble)."""
    unit = FORMATS[dtype].unit
    shift = np.max(scores.value, axis=-1, keepdims=True, where=seen, initial=-np.inf)
    shift = np.where(np.isfinite(shift), shift, 0)
    shifted = np.where(seen, scores.value - shift, 0)
    weights = np.where(seen, np.exp(shifted), 0)
    total = weights.sum(axis=-1, keepdims=True)
    share = weights / np.where(total > 0, total, 1)
    value = np.matmul(share, values.value)

    # Whatever the largest score is taken to be, it cancels; the subtraction of it is rounded.
    unsure = np.where(seen, scores.error, 0)
    drop = np.abs(shifted).astype(np.float64)
    widest = unsure.max(axis=-1, keepdims=True, initial=0)
    own = OWN_UNIT * (np.abs(scores.value).astype(np.float64) + drop + 8)
    exponent = unsure + unit * (drop + unsure + widest) + own
    exp_unit = 2 * EXP_ULPS * unit
    lost = (seen & ~(exponent <= _STEEP)).any(axis=-1, keepdims=True)
    exponent = np.minimum(exponent, _STEEP)
    rise = np.expm1(exponent) * (1 + exp_unit) + exp_unit
    fall = np.minimum(-np.expm1(-exponent) * (1 - exp_unit) + exp_unit, 1.0)
    averaging = _Weights(
        share.astype(np.float64),
        np.where(seen, rise, 0),
        np.where(seen, fall, 0),
        total.astype(np.float64),
        lost,
    )
    return averaging, value


def _bounded(
    weights: _Weights, seen: Flags, values: Estimate, value: Array, target: Format
) -> Estimate:
    """The estimate of the average ``value`` of finite ``values``."""
    queries, keys = seen.shape[-2:]
    rows = int(np.prod(seen.shape[:-2], dtype=np.int64))
    step = max(1, _CELLS // max(1, rows * keys * value.shape[-1]))
    error = np.zeros(value.shape)
    peak = np.zeros(value.shape)
    for start in range(0, queries, step):
        part = np.s_[..., start : start + step, :]
        some = _Weights(
            *(getattr(weights, name)[part] for name in ("share", "rise", "fall", "total", "lost"))
        )
        error[part], peak[part] = _errors(some, seen[part], values, value[part], target)
    # Nothing is rounded where the only weight is 1; a product may still flush what is subnormal.
    alone = seen.sum(axis=-1, keepdims=True) <= 1
    size = np.abs(values.value).astype(np.float64)
    flushed = np.where(size < target.floor, size, 0.0)
    error = np.where(alone, np.matmul(seen.astype(np.float64), values.error + flushed), error)
    fits = (peak + error <= target.largest) | alone
    result = Estimate(value, error, values.dtype)
    none = np.zeros(fits.shape, np.bool_)
    return result if fits.all() else with_specials(result, none, none, none, ~fits)


def _errors(
    weights: _Weights, seen: Flags, values: Estimate, value: Array, target: Format
) -> tuple[Errors, Errors]:
    """The error of an average over several keys, and the largest sum before the quotient."""
    unit = target.unit
    count = seen.sum(axis=-1, keepdims=True).astype(np.float64)
    v = values.value.astype(np.float64)[..., None, :, :]
    mask = seen[..., None]
    size = np.where(mask, np.abs(v), 0)
    heavy = weights.share * (1 + weights.rise)
    least = 1 - (weights.share * weights.fall).sum(axis=-1, keepdims=True)
    # An overflow here is unconstrained.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        away = np.where(mask, v - value.astype(np.float64)[..., None, :], 0)
        heaviest = np.where(least > 0, heavy / least, np.inf)[..., None]

        def averaged(of: Errors) -> Errors:
            """The largest average of ``of`` (>= 0) that the weights allow."""
            average = np.where(of > 0, heaviest * of, 0).sum(axis=-2)
            return np.asarray(np.fmin(average, of.max(axis=-2, initial=0)), np.float64)

        tilted = np.maximum(_tilted(weights, away), _tilted(weights, -away))
        magnitude = averaged(size)
        reach, reached = size, magnitude
        if values.error.any():
            doubt = np.where(mask, values.error[..., None, :, :], 0)
            doubted = averaged(doubt)
            tilted, magnitude = tilted + doubted, magnitude + doubted
            reach = size + doubt
            reached = averaged(reach)
        net = np.abs(value).astype(np.float64) + tilted
        # Each weight's own quotient and each product round; the sum of the weights and its
        # reciprocal are off by the same factor for all of them.
        each = gamma(2, unit) * magnitude
        terms = each + summing(count, unit, magnitude + each, net + each)
        own = gamma(2 * count + 8, OWN_UNIT) * magnitude
        rounding = terms + gamma(count + 1, unit) * (net + terms) + own
        floor = 2 * target.floor * ((size + np.abs(away)).sum(axis=-2) + 2 * count)
        sums = weights.total * (1 + unit) * reached
        sums *= 1 + weights.rise.max(axis=-1, keepdims=True, initial=0)
        peak = np.minimum(sums, count * reach.max(axis=-2, initial=0))
    error = np.where(count > 0, tilted + rounding + floor, 0.0)
    return error, np.where(count > 0, peak, 0.0)


def _tilted(weights: _Weights, away: Errors) -> Errors:
    """The largest rise of an average when every weight is off by its own factor.

    ``away`` (..., queries, keys, dim) is by how much each value exceeds the average. The largest
    rise x gives the values above it their heaviest weights and the others their lightest, so that
    it solves x = sum p (rise (away - x)+ + fall (x - away)+), all p adding up to 1. The right side
    less x is convex in x, not negative at 0 and not positive at the largest ``away``: where a chord
    between such points crosses zero is no smaller than x.
    """
    share = weights.share[..., None]
    heavy, light = share * weights.rise[..., None], -share * weights.fall[..., None]

    def excess(x: Errors) -> Errors:
        beyond = away - x[..., None, :]
        result: Errors = (np.where(beyond > 0, heavy, light) * beyond).sum(axis=-2) - x
        return result

    top = away.max(axis=-2, initial=0)
    start = excess(np.zeros(top.shape))
    right = top
    # One chord is off by a factor of about 1 + rise.
    for _ in range(1 if weights.rise.max(initial=0) < _SLIGHT else 2):
        end = np.minimum(excess(right), 0)
        right = np.where(start > 0, right * (start / (start - end)), 0)
    rise: Errors = np.where(weights.lost, top, np.fmin(right, top))
    return rise


def _special(
    scores: Estimate,
    seen: Flags,
    values: Estimate,
    weights: _Weights,
    result: Estimate,
    target: Format,
) -> Estimate:
    """``result`` where scores or values are not finite (see ``MEANINGS.md``)."""
    room_s, nan_s = np.isinf(scores.error), np.isnan(scores.value)
    above_s, below_s = scores.value == np.inf, scores.value == -np.inf
    # NaN stays NaN in the exponential and in the sum, and inf - inf is NaN.
    undefined = (seen & (nan_s | above_s)).any(axis=-1, keepdims=True)
    # An implementation may add an invisible score to -infinity, or never read it.
    unconstrained = ((seen & room_s) | (~seen & (room_s | nan_s | above_s))).any(
        axis=-1, keepdims=True
    )
    # All weights 0: the quotient 0/0, or the zeros of a query that sees nothing.
    unconstrained |= (seen & below_s).any(axis=-1, keepdims=True) & ~(seen & ~below_s).any(
        axis=-1, keepdims=True
    )
    exponent = np.log1p(weights.rise) + np.log1p(weights.rise.max(-1, keepdims=True, initial=0))
    solid = weights.share * np.exp(-exponent) > 8 * target.floor
    solid &= ~weights.lost
    solid, faint = solid.astype(np.float64), (seen & ~below_s & ~solid).astype(np.float64)
    hidden = (~seen | below_s).astype(np.float64)
    nan_v, room_v = np.isnan(values.value).astype(np.float64), np.isinf(values.error)
    above_v = (values.value == np.inf).astype(np.float64)
    below_v = (values.value == -np.inf).astype(np.float64)
    infinite_v = above_v + below_v
    wild_v = infinite_v + nan_v + room_v
    # With unconstrained scores all weights may be 0, and the output zeros.
    undefined = undefined | ((np.matmul(solid + faint, nan_v) > 0) & ~unconstrained)
    above = (np.matmul(solid, above_v) > 0) & ~unconstrained
    below = (np.matmul(solid, below_v) > 0) & ~unconstrained
    # Weight 0 times infinity is NaN, where it is multiplied at all.
    unconstrained = (
        unconstrained | (np.matmul(hidden, wild_v) > 0) | (np.matmul(faint, infinite_v) > 0)
    )
    unconstrained |= np.matmul(solid + faint, room_v.astype(np.float64)) > 0
    unconstrained |= (above ^ below) & ~np.isfinite(result.error)
    return with_specials(result, undefined, above, below, unconstrained)
