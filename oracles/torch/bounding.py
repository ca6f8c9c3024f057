"""Bounds of an output, from how far other roundings take it.

PyTorch's result in the program's own dtype, and results with other roundings, lie at distances from
the one in float64 that say how the program magnifies roundings. An element may be ``MARGIN`` times
as far off, and by ``UNITS`` unit roundoffs of its value.

Evidence: of 331 inexact outputs of PyTorch's own samples, which TVM computes rightly, half reach
0.02 of the bound, 99 in 100 reach 0.15, and none more than 0.28. Of 17,000 results with further
roundings, in float32, float16 and bfloat16, 999 in 1,000 stay below 0.6. So no part of the bound
is far wider than a sum in another order asks for, and errors of importers are wider by far.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxcheck.generators.core.values import Array
from relaxcheck.oracles.answer import Bounded
from relaxcheck.oracles.reference.estimate import FORMATS

MARGIN = 8.0
UNITS = 32.0

_ALIKE = 2.0**10
"""Magnitudes are alike if the largest is at most so many times their median."""


class Shapes(ValueError):
    """The shape of an output depends on roundings."""


def bounded(own: Array, wide: Array | None, others: Sequence[Array], *, exact: bool) -> Bounded:
    """The output that is ``own`` in the program's dtype, ``wide`` in float64.

    ``others`` have its dtype, and other roundings; ``exact``: no operator rounds.

    Raises:
        Shapes: they have several.
    """
    every = (own, *others) if wide is None else (own, wide, *others)
    if len({each.shape for each in every}) > 1:
        raise Shapes(f"shapes {sorted({each.shape for each in every})} by other roundings")
    if own.dtype.kind in "iub":
        decided = np.ones(own.shape, bool)
        for each in every:
            decided &= each == own
        return Bounded(own.astype(np.int64), np.where(decided, 0.0, np.inf), own.dtype.name)
    return _of_floats(own, wide, others, exact=exact)


def _of_floats(own: Array, wide: Array | None, others: Sequence[Array], *, exact: bool) -> Bounded:
    dtype = own.dtype.name
    form = FORMATS[dtype]
    center = (own if wide is None or exact else wide).astype(np.float64)
    narrow = [each.astype(np.float64) for each in (own, *others)]
    special = ~np.isfinite(center)
    size = np.where(special, 0.0, np.abs(center))
    over = np.zeros(center.shape, bool)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        off = np.zeros(center.shape)
        for each in narrow:
            distance = np.abs(each - center)
            off = np.maximum(off, np.where(np.isfinite(distance), distance, 0.0))
            same = (each == center) | (np.isnan(each) & np.isnan(center))
            # Where roundings decide about NaN and infinities, correct implementations differ.
            over |= (special | ~np.isfinite(each)) & ~same
        if exact:
            bound = np.where(off > 0, np.inf, 0.0)
        else:
            bound = MARGIN * spread(off, size) + UNITS * form.unit * size + form.floor
            over |= ~special & (size + bound >= form.largest)
    bound = np.where(over, np.inf, np.where(special, 0.0, bound))
    return Bounded(np.where(over, 0.0, center), bound, dtype)


def spread(off: NDArray[Any], size: NDArray[Any]) -> NDArray[np.float64]:
    """The distances that elements of magnitudes ``size`` may have, by the distances ``off`` seen.

    Few are seen of each element, and by chance they are small. So an element may be as far off as
    any other one; where magnitudes lie far apart, in relative terms if that is less.
    """
    largest = off.max(initial=0.0)
    seen = size[size > 0]
    if not seen.size or np.median(seen) * _ALIKE >= seen.max():
        return np.full(off.shape, largest)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        relative = np.where(off > 0, off / size, 0.0).max(initial=0.0)
        among = np.minimum(largest, np.where(size > 0, relative * size, np.inf))
    found: NDArray[np.float64] = np.maximum(off, among)
    return found
