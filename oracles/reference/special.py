"""NaN, infinities and unconstrained elements in sums of products.

Source: IEEE 754-2019. Infinity times zero is NaN, and so is the sum of two infinities of opposite
sign (7.2); every operation on NaN gives NaN (6.2); infinity times anything else, and plus anything
finite, is infinite (6.1). None of this depends on the order of summation.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference.estimate import Estimate, Flags

Contract = Callable[[Array, Array], Array]
"""A bilinear function of two arrays; each element of the result is a sum of products."""


@dataclass(frozen=True, slots=True)
class Specials:
    """Flags of the elements that are NaN, +infinity, -infinity or unconstrained.

    ``undefined`` takes precedence over ``unconstrained``, and that over both infinities.
    """

    undefined: Flags
    above: Flags
    below: Flags
    unconstrained: Flags


@dataclass(frozen=True, slots=True)
class _Kinds:
    """Indicators (float64, 0 or 1) of one operand's elements, and the sign where it is certain."""

    nan: Array
    infinite: Array
    unconstrained: Array
    zero: Array
    sign: Array

    @property
    def finite(self) -> Array:
        """Finite, and certainly not zero."""
        return np.abs(self.sign) - self.infinite

    @property
    def doubtful(self) -> Array:
        """Finite, but perhaps zero, perhaps of either sign."""
        rest: Array = 1 - self.nan - self.infinite - self.unconstrained - self.zero - self.finite
        return rest

    @property
    def wild(self) -> Array:
        """Perhaps not finite."""
        wild: Array = self.nan + self.infinite + self.unconstrained
        return wild


def _kinds(estimate: Estimate) -> _Kinds:
    value, error = estimate.value, estimate.error
    nan = np.isnan(value)
    unconstrained = np.isinf(error)
    certain = ~nan & ~unconstrained & (np.abs(np.where(nan, 0, value)) > error)
    return _Kinds(
        nan=nan.astype(np.float64),
        infinite=np.isinf(value).astype(np.float64),
        unconstrained=unconstrained.astype(np.float64),
        zero=((value == 0) & (error == 0)).astype(np.float64),
        sign=np.where(certain, np.sign(np.where(nan, 0, value)), 0).astype(np.float64),
    )


def products(
    a: Estimate, b: Estimate, contract: Contract, stuffing: Contract | None = None
) -> Specials:
    """Flag the elements of ``contract(a, b)`` that non-finite operands decide.

    An implementation may insert zeros, such as padding, and multiply them by elements that are no
    part of the sum. A non-finite element times zero is NaN, so the result is unconstrained there.
    ``stuffing(a, b)`` of indicators of non-finite elements counts such products for each element of
    the result, or broadcasts to it.
    """
    x, y = _kinds(a), _kinds(b)
    undefined = contract(x.nan, np.ones(y.nan.shape)) + contract(np.ones(x.nan.shape), y.nan)
    undefined += contract(x.infinite, y.zero) + contract(x.zero, y.infinite)
    count = contract(x.infinite, np.abs(y.sign)) + contract(x.finite, y.infinite)
    signs = contract(x.infinite * x.sign, y.sign)
    signs += contract(x.finite * x.sign, y.infinite * y.sign)
    unconstrained = contract(x.unconstrained, 1 - y.nan) + contract(1 - x.nan, y.unconstrained)
    unconstrained += contract(x.infinite, y.doubtful) + contract(x.doubtful, y.infinite)
    if stuffing is not None:
        unconstrained = unconstrained + stuffing(x.wild, y.wild)
    return Specials(undefined > 0, count + signs > 0, count - signs > 0, unconstrained > 0)
