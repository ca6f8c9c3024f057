"""Undefined memory: elements of a result that differ with the contents of fresh memory."""

from collections.abc import Callable, Sequence

import numpy as np

from relaxcheck.generators.core.values import Array

UNDEFINED = "undefined"
"""The key, in the details of a wrong value, of the fact that it is undefined memory."""

_TEXT = (
    "The result is undefined memory, nothing writes it: element {at} of output {output} is {first} "
    "where fresh memory holds 0x{one:02x} bytes, and {second} where it holds 0x{other:02x} bytes."
)


def undefined(
    run: Callable[[int], tuple[Array, ...]], outputs: Sequence[str], one: int, other: int
) -> str:
    """A sentence on the first element that differs between runs; empty if none does.

    ``run`` returns the outputs where fresh memory holds a byte; ``one`` and ``other`` are two.
    """
    for name, first, second in zip(outputs, run(one), run(other), strict=True):
        if first.shape != second.shape:
            continue
        differs = _bits(first) != _bits(second)
        if differs.any():
            at = tuple(int(place) for place in np.argwhere(differs)[0])
            return _TEXT.format(
                at=list(at), output=name, first=first[at], second=second[at], one=one, other=other
            )
    return ""


def _bits(array: Array) -> Array:
    """``array`` as unsigned integers: a NaN equals itself."""
    return array.view(f"u{array.dtype.itemsize}")
