"""The reference's ``atan2``, ``log_add_exp``, ``mod`` and ``ewise_fma``.

Sources: C17, 7.12.4.4 and F.10.1.4 for ``atan2`` with its zeros of either sign; C17, 7.12.10.1 for
``fmod``, which is exact; the derivatives of log(exp(a) + exp(b)) are weights that sum to 1.
"""

from dataclasses import replace

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.bounds import computed, unconstrain
from relaxcheck.oracles.reference.correct import corrected
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, unknown
from relaxcheck.oracles.reference.evaluation import operator, same_dtype
from relaxcheck.oracles.reference.functions import UNITS, floating, tame


@operator("atan2")
def _atan2(node: Node, operands: list[Estimate]) -> Estimate:
    """Unconstrained where an error leaves the angle open: at the origin, and left of it."""
    y, x = (floating(node, each) for each in operands)
    dtype = same_dtype(node, operands)
    (b, off_b), (a, off_a) = tame(y), tame(x)
    off = off_a + off_b
    radius = np.hypot(a, b)
    origin = (off > 0) & (radius <= 2 * off)
    # The sign of a zero decides between pi and -pi, between 0 and pi.
    cut = (a - off_a <= 0) & (np.abs(b) <= off_b) & ((off_b > 0) | (not y.signed))
    cut = cut | ((b == 0) & (np.abs(a) <= off_a) & (not x.signed))
    moved = np.where(off > 0, off / np.where(off > 0, np.maximum(radius - off, off), 1), 0)
    return computed(
        dtype,
        corrected("atan2", dtype, [(b, off_b), (a, off_a)], np.arctan2(b, a)),
        moved.astype(np.float64),
        UNITS,
        unconstrained=unknown(*operands) | origin | cut,
    )


@operator("ewise_fma")
def _multiply_add(node: Node, operands: list[Estimate]) -> Estimate:
    """The product may be rounded before it is added, or not; a zero has either sign."""
    dtype = same_dtype(node, operands)
    if len(shapes := {each.value.shape for each in operands}) != 1:
        raise ValueError(f"operands of shapes {sorted(shapes)} are not broadcast")
    if dtype not in FORMATS:
        x, y, z = (each.value for each in operands)
        return bounds.wrapped(x * y + z, dtype, *operands)
    a, b, c = operands
    total = bounds.added(bounds.multiplied(a, b, dtype), replace(c, signed=False), dtype)
    # Without the first rounding a product beyond the range may come back into it.
    return unconstrain(total, np.isinf(total.value) & ~unknown(*operands))


@operator("log_add_exp")
def _log_add_exp(node: Node, operands: list[Estimate]) -> Estimate:
    """Off by a few unit roundoffs absolutely too: the logarithm's part may cancel the operand."""
    dtype = same_dtype(node, [floating(node, each) for each in operands])
    (a, off_a), (b, off_b) = (tame(each) for each in operands)
    value = np.maximum(a, b) + np.log1p(np.exp(-np.abs(a - b)))
    return computed(
        dtype,
        corrected("log_add_exp", dtype, [(a, off_a), (b, off_b)], value),
        np.maximum(off_a, off_b),
        UNITS,
        slack=2 * UNITS,
        unconstrained=unknown(*operands),
    )


@operator("mod")
def _mod(node: Node, operands: list[Estimate]) -> Estimate:
    """Unconstrained where the divisor may be 0, or the whole part of the quotient is not certain.

    A zero has the dividend's sign.
    """
    dtype = same_dtype(node, operands)
    if dtype not in FORMATS:
        a, b = (each.value for each in operands)
        rest = np.fmod(a, np.where(b == 0, 1, b))
        return unconstrain(bounds.wrapped(rest, dtype, *operands), b == 0)
    (a, off_a), (b, off_b) = (tame(each) for each in operands)
    usable = np.abs(b) > off_b
    divisor, off_b = np.where(usable, b, 1), np.where(usable, off_b, 0)
    value = np.fmod(a, divisor)
    whole = np.abs(a - value) / np.abs(divisor)
    error = np.asarray(off_a + whole * off_b, np.float64)
    size = np.abs(value)
    near = (error > 0) & ((size <= error) | (np.abs(divisor) - size <= error + off_b))
    result = Estimate(value, error, dtype, signed=operands[0].signed)
    return unconstrain(result, unknown(*operands) | ~usable | near)
