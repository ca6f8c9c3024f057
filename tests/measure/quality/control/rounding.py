"""Arithmetic in a dtype, and what correct implementations may choose about it.

A correct implementation of an elementwise operator computes in the operands' dtype or in a wider
one and rounds once at the end. A function such as ``exp`` is rounded to one of the two numbers next
to its value (faithfully), never further.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.measure.quality.control.summation import WIDER, Freedom

Array = np.ndarray[Any, Any]

Function = Callable[[Array], Array]


def computed_in(
    dtype: Any, freedom: Freedom, *arrays: Array, compute: Callable[..., Array]
) -> Array:
    """``compute`` on ``arrays`` in ``dtype`` or in a wider one, the result rounded to ``dtype``."""
    kind = np.dtype(dtype)
    if kind.name in WIDER and freedom.choice(("own", "wide")) == "wide":
        wide = [each.astype(WIDER[kind.name]) for each in arrays]
        return compute(*wide).astype(kind)
    return compute(*(each.astype(kind) for each in arrays)).astype(kind)


def function(evaluate: Function, x: Array, freedom: Freedom) -> Array:
    """``evaluate(x)``, computed in long double and rounded faithfully to the dtype of ``x``."""
    exact = evaluate(x.astype(np.longdouble))
    return faithful(exact, x.dtype, freedom)


def faithful(exact: Array, dtype: Any, freedom: Freedom) -> Array:
    """``exact`` rounded to one of the numbers of ``dtype`` next to it; itself where it is one."""
    near = exact.astype(dtype)
    if np.dtype(dtype) == np.longdouble or freedom.choice(("nearest", "either")) == "nearest":
        return near
    back = near.astype(np.longdouble)
    direction = np.where(exact > back, np.inf, -np.inf)
    other = np.nextafter(near, direction.astype(dtype))
    usable = np.isfinite(near.astype(np.float64)) & np.isfinite(other.astype(np.float64))
    turned = usable & (exact != back) & freedom.flags(near.shape)
    return np.where(turned, other, near)


def constant(value: float, like: Array) -> Array:
    """``value`` as a scalar of the dtype of ``like``."""
    scalar: Array = np.array(value, np.longdouble).astype(like.dtype)
    return scalar
