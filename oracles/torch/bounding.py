"""Bounds of an output, from how PyTorch's own roundings change it."""

import numpy as np

from relaxcheck.generators.core.values import Array
from relaxcheck.oracles.answer import Bounded
from relaxcheck.oracles.reference.estimate import FORMATS

MARGIN = 8.0
UNITS = 32.0


def bounded(own: Array, wide: Array | None) -> Bounded:
    """The output that ``own`` is in the program's dtype, and ``wide`` in float64.

    Without ``wide``, integers and truth values are as they are, and floats unconstrained.
    """
    dtype = own.dtype.name
    if own.dtype.kind in "iub":
        bound = np.zeros(own.shape)
        if wide is not None and wide.shape == own.shape and wide.dtype == own.dtype:
            # Where roundings decide an integer, correct implementations differ.
            bound[wide != own] = np.inf
        return Bounded(own.astype(np.int64), bound, dtype)
    narrow = own.astype(np.float64)
    if wide is None or wide.shape != own.shape:
        return Bounded(np.zeros(own.shape), np.full(own.shape, np.inf), dtype)
    center = wide.astype(np.float64)
    form = FORMATS[dtype]
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.abs(narrow - center)
        off = np.where(np.isfinite(off), off, 0.0)
        finite = np.abs(np.where(np.isfinite(center), center, 0.0))
        scale = UNITS * form.unit * (finite + finite.max(initial=0.0))
        bound = MARGIN * off.max(initial=0.0) + scale + form.floor
        over = np.isfinite(center) & (np.abs(center) + bound >= form.largest)
        special = ~np.isfinite(center)
        same = (narrow == center) | (np.isnan(narrow) & np.isnan(center))
        over |= (special | ~np.isfinite(narrow)) & ~same
    bound = np.where(over, np.inf, np.where(special, 0.0, bound))
    return Bounded(np.where(over, 0.0, center), bound, dtype)
