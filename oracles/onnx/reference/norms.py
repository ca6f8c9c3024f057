"""Norms: roots of sums of powers, and the largest and smallest of elements."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from relaxcheck.generators.core.values import Array
from relaxcheck.oracles.answer import Unsupported
from relaxcheck.oracles.onnx.reference.values import is_float, limits
from relaxcheck.oracles.reference.bounds import computed, gamma, unconstrain
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, ordinary, unknown
from relaxcheck.oracles.reference.functions import UNITS

Sum = Callable[[Array], Array]
"""Adds up elements; linear, and the same for arrays of one shape."""


def norm(x: Estimate, power: float, add: Sum) -> Estimate:
    """``add(|x| ** power) ** (1 / power)``; unconstrained where a sum may overflow."""
    target = FORMATS[x.dtype]
    kept = ordinary(x)
    size = np.abs(kept.value)
    terms = size**power
    total = add(terms)
    count = add(np.ones(size.shape))
    high = add((size + kept.error) ** power)
    # Powers of doubles may be beyond a double.
    relative = gamma(count + power * UNITS + UNITS, target.unit)
    off = (high - total) + relative * high + (2 * count + 2) * target.floor
    off = np.minimum(np.where(np.isfinite(off), off, np.inf), np.ldexp(np.longdouble(1), 16000))
    lost = add(unknown(x) * 1.0) > 0
    # What a partial sum comes to in the dtype.
    lost = lost | ~(high * (1 + relative) <= target.largest)
    root = total ** (1 / power)
    upper = np.where(lost, 0, total + off) ** (1 / power)
    lower = np.where(lost, 0, np.maximum(total - off, 0)) ** (1 / power)
    moved = np.where(lost, 0, np.maximum(upper - root, root - lower)).astype(np.float64)
    return computed(x.dtype, np.where(lost, 0, root), moved, UNITS, unconstrained=lost)


def extreme_over(x: Estimate, axes: tuple[int, ...], keep: bool, *, largest: bool) -> Estimate:
    """The largest or the smallest element over ``axes``; unconstrained where NaN takes part.

    Of no elements it is the identity: an infinity, or the limit of an integer dtype.
    """
    start: float
    if not is_float(x.dtype):
        least, most = limits(x.dtype)
        start = least if largest else most
        if x.dtype == "uint64" and not largest and 0 in (x.value.shape[axis] for axis in axes):
            raise Unsupported("reference: the largest uint64, of no elements")
        value = _reduced(x.value, axes, keep, largest, start)
        result = Estimate(value, np.zeros(value.shape), x.dtype)
        return unconstrain(result, np.asarray(unknown(x).any(axes, keepdims=keep)))
    start = -np.inf if largest else np.inf
    open_ = np.isnan(x.value) | np.isinf(x.error)
    shown, error = np.where(open_, 0, x.value), np.where(open_, 0, x.error)
    value = _reduced(shown, axes, keep, largest, start)
    high = _reduced(shown + error, axes, keep, largest, start)
    low = _reduced(shown - error, axes, keep, largest, start)
    with np.errstate(invalid="ignore"):
        off = np.maximum(high - value, value - low).astype(np.float64)
    off = np.where(np.isfinite(value), off, 0.0)
    result = Estimate(value, off, x.dtype)
    return unconstrain(result, np.asarray(open_.any(axes, keepdims=keep)))


def _reduced(array: Array, axes: tuple[int, ...], keep: bool, largest: bool, start: float) -> Array:
    function = np.max if largest else np.min
    # A zero-dimensional result loses its dtype.
    return np.asarray(function(array, axes, keepdims=keep, initial=start), array.dtype)


def without_signs(x: Estimate) -> Estimate:
    """``x`` whose zeros have either sign."""
    return replace(x, signed=False)
