"""Compare an output with the bounds of its reference."""

from dataclasses import dataclass

import numpy as np

from relaxcheck.oracles.answer import Array, Bounded


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of an output with its reference.

    ``ratio`` is the largest |actual - value| / bound: at most 1 where ``ok``; infinite where the
    bound is 0 and the values differ, or where a NaN or infinity is out of place. ``worst`` is the
    index of that element (None without elements), ``error`` the largest absolute error and
    ``outside`` how many elements lie outside their bound. ``unconstrained`` is how many have an
    infinite bound.
    """

    ok: bool
    ratio: float
    worst: tuple[int, ...] | None
    error: float
    outside: int
    unconstrained: int = 0


def within(actual: Array, bounded: Bounded) -> Comparison:
    """Compare ``actual`` (shape of the reference) with ``bounded``, element by element.

    Integers are compared exactly. An infinite bound admits every value, NaN and infinity too. With
    a finite one NaN must be where the reference has it, and an infinity with the reference's sign.

    Raises:
        ValueError: the shapes differ.
    """
    if actual.shape != bounded.value.shape:
        raise ValueError(f"shape {actual.shape} is not {bounded.value.shape}")
    if not actual.size:
        return Comparison(True, 0.0, None, 0.0, 0)
    if actual.dtype.kind in "iub":
        equal = actual.astype(np.int64) == bounded.value
        # Differences are for people: float64 is good enough once equality is decided.
        error = np.abs(actual.astype(np.float64) - bounded.value.astype(np.float64))
        error = np.where(equal, 0.0, np.maximum(error, 1.0))
    else:
        wide = actual.astype(np.float64)
        with np.errstate(invalid="ignore"):
            error = np.abs(wide - bounded.value)
        same = (wide == bounded.value) | (np.isnan(wide) & np.isnan(bounded.value))
        error = np.where(same, 0.0, np.where(np.isnan(error), np.inf, error))
        if bounded.signed_zeros:
            zero = (wide == 0) & (bounded.value == 0) & (bounded.bound == 0)
            turned = zero & (np.signbit(wide) != np.signbit(bounded.value))
            error = np.where(turned, np.inf, error)
    free = np.isinf(bounded.bound)
    outside = ~free & ~(error <= bounded.bound)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(free | (error == 0), 0.0, error / bounded.bound)
    worst = np.unravel_index(int(np.argmax(ratio)), ratio.shape)
    return Comparison(
        ok=not outside.any(),
        ratio=float(ratio[worst]),
        worst=tuple(int(position) for position in worst),
        error=float(error.max(where=~free, initial=0.0)),
        outside=int(outside.sum()),
        unconstrained=int(free.sum()),
    )
