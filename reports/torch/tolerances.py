"""The distances that a script allows between TVM's outputs and PyTorch's: those of the oracle."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from relaxcheck.oracles.answer import Bounded
from relaxcheck.oracles.reference.estimate import FORMATS
from relaxcheck.oracles.torch.bounding import UNITS

_ALIKE = 1e-3
"""The share by which the absolute parts of bounds may differ that are written as one number."""


def comparison(bounds: Sequence[Bounded]) -> list[str]:
    """Statements that make ``close``, a truth value for each element of output ``number``.

    They take ``own`` and ``wanted``, of one dtype and shape. Integers are compared exactly: float64
    has not all of them.
    """
    floats = [each.dtype in FORMATS for each in bounds]
    rtols, atols = zip(*map(tolerances, bounds), strict=True)
    rtol = f"[{', '.join(rtols)}][number]" if set(rtols) != {"0"} else "0"
    near = [
        'wide = own.astype("float64"), wanted.astype("float64")',
        f"atol = [{', '.join(atols)}][number]",
        f"close = np.isclose(*wide, rtol={rtol}, atol=atol, equal_nan=True)",
    ]
    if not all(floats):
        several = any(floats)
        behind = [f"if {floats}[number]:", *(f"    {each}" for each in near)] if several else []
        near = ["close = own == wanted", *behind]
    if free := _free(bounds):
        near.append(f"close |= np.array({free}[number], bool)")
    return near


def tolerances(bounded: Bounded) -> tuple[str, str]:
    """The texts of ``rtol`` and ``atol`` of an output: its bounds are ``atol + rtol * abs(value)``.

    ``atol`` is a number where one will do, a list with one for each element where bounds differ by
    more: the widest would hide that a small element is wrong. An element that may be anything has
    the ``atol`` 0.
    """
    finite = np.isfinite(bounded.bound)
    bound = np.where(finite, bounded.bound, 0.0)
    counted = bound[finite]
    if bounded.dtype not in FORMATS or not counted.size or counted.min() == counted.max():
        return "0", _written(bound)
    rtol = UNITS * FORMATS[bounded.dtype].unit
    rest = counted - rtol * np.abs(bounded.value[finite])
    if rest.max() - rest.min() <= _ALIKE * rest.min():
        return f"{rtol:.3g}", f"{rest.max():.4g}"
    return "0", _written(bound)


def _free(bounds: Sequence[Bounded]) -> str:
    """A list of what may be anything in each output, as 0 and 1; "" where nothing may."""
    found = [np.isinf(each.bound) for each in bounds]
    if not any(each.any() for each in found):
        return ""
    return str([each.astype(int).tolist() if each.any() else 0 for each in found])


def _written(bound: Any) -> str:
    """``bound`` as a nested list, or as one number where all are the same."""
    if not bound.size or bound.min() == bound.max():
        return f"{bound.max(initial=0.0):.4g}"
    if not bound.ndim:
        return f"{bound[()]:.4g}"
    return f"[{', '.join(map(_listed, bound))}]"


def _listed(bound: Any) -> str:
    if np.ndim(bound):
        return f"[{', '.join(map(_listed, bound))}]"
    return f"{bound:.4g}"
