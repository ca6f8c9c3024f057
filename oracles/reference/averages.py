"""Sums, averages and variances of estimates over axes.

Sums may be added up in any order. Variances may be taken in two passes, in one, or be kept up to
date element by element, where the caller says so.
"""

from dataclasses import replace
from math import prod

import numpy as np

from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.bounds import computed, gamma, unconstrain
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, Flags, ordinary, unknown

ONE = Estimate(np.ones((), np.longdouble), np.zeros(()), "float64")


def total(operand: Estimate, axes: tuple[int, ...], keep: bool) -> Estimate:
    """The sum over ``axes``."""
    ones = replace(ONE, value=ONE.value.astype(operand.value.dtype))
    return bounds.sum_of_products(
        operand, ones, lambda a, b: (a * b).sum(axes, keepdims=keep), operand.dtype
    )


def average(operand: Estimate, axes: tuple[int, ...], keep: bool) -> Estimate:
    """The sum divided by the number of elements; unconstrained where there are none."""
    count = prod(operand.value.shape[axis] for axis in axes)
    summed = total(operand, axes, keep)
    if count == 0:
        return unconstrain(summed, np.ones(summed.value.shape, np.bool_))
    return shared(summed, np.array(count))


def shared(summed: Estimate, count: Array) -> Estimate:
    """``summed`` divided by ``count``, whole numbers above 0 that broadcast to it.

    The division may be one by the count or a product with its rounded reciprocal.
    """
    unconstrained = unknown(summed)
    value = np.where(unconstrained, 0, summed.value) / count
    moved = np.where(unconstrained, 0, summed.error) / count
    mean = computed(summed.dtype, value, moved, 2, unconstrained=unconstrained)
    # A power of two divides without rounding, but below the smallest normal number.
    target = FORMATS[summed.dtype]
    normal = target.smallest * 2.0 ** (target.precision - 1)
    even = count & (count - 1) == 0
    exact = even & ((np.abs(value) >= normal) | (value == 0)) & ~unconstrained & (moved == 0)
    # The largest number too, whose rounded neighbour would be unconstrained.
    kept = np.where(exact, value, mean.value)
    return replace(mean, value=kept, error=np.where(exact, 0.0, mean.error))


def running_average(operand: Estimate, axes: tuple[int, ...], keep: bool) -> Estimate:
    """The mean, which may also be kept up to date element by element.

    Then each of the n updates ``m + (x - m) / k`` rounds, and what is lost is relative to the
    largest element (B. P. Welford, Technometrics 4, 1962; Chan, Golub & LeVeque bound it so).
    """
    mean = average(operand, axes, keep)
    count = prod(operand.value.shape[axis] for axis in axes)
    largest = ordinary(operand).reach.max(axes, keepdims=keep, initial=0)
    # The first update is the first element.
    more = gamma(count + 4, FORMATS[operand.dtype].unit) * largest * (count > 1)
    return replace(mean, error=mean.error + more)


def spread(operand: Estimate, axes: tuple[int, ...], keep: bool, *, one_pass: bool) -> Estimate:
    """The variance over ``axes``, divided by their size.

    It is the mean of squared differences from the mean, or, with ``one_pass``, may also be the
    mean of squares less the squared mean, or be kept up to date element by element (T. F. Chan,
    G. H. Golub & R. J. LeVeque, "Algorithms for computing the sample variance", The American
    Statistician 37, 1983).
    """
    shape = operand.value.shape
    count = prod(shape[axis] for axis in axes)
    dtype, target = operand.dtype, FORMATS[operand.dtype]
    middle = (running_average if one_pass else average)(operand, axes, True)
    unconstrained: Flags = np.asarray(unknown(operand).any(axes, keepdims=keep) | (count == 0))
    if count == 0:
        value = operand.value.sum(axes, keepdims=keep)
        return unconstrain(
            replace(operand, value=value, error=np.zeros(value.shape)), unconstrained
        )
    x, m = ordinary(operand), ordinary(middle)
    apart = x.value - x.value.sum(axes, keepdims=True) / count
    value = (apart * apart).sum(axes, keepdims=keep) / count
    # Each difference: its operand, the mean, one rounding; then squares, their sum, a quotient.
    size = np.abs(apart).astype(np.float64)
    off = x.error + m.error
    off = off + target.unit * (size + off)
    squares = ((size + off) ** 2).sum(axes, keepdims=keep) / count
    moved = ((2 * size + off) * off).sum(axes, keepdims=keep) / count
    if one_pass:
        power = (x.reach**2).sum(axes, keepdims=keep) / count
        squares = squares + 2 * power
        through = (2 * x.reach * (x.error + m.error)).sum(axes, keepdims=keep) / count
        moved = moved + 2 * through
    moved = moved + gamma(count + 4, target.unit) * squares + 4 * count * target.floor
    # Sums of squares may overflow on the way.
    unconstrained = unconstrained | ~(squares * count * 2 <= target.largest)
    if not one_pass:
        # And so may the sum that the mean is made of.
        unconstrained = unconstrained | np.asarray(unknown(middle).any(axes, keepdims=keep))
    return computed(
        dtype,
        np.where(unconstrained, 0, value),
        np.where(unconstrained, 0, moved),
        1,
        unconstrained=unconstrained,
    )
