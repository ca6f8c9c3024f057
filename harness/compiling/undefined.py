"""Undefined memory: elements of a result that differ with the contents of fresh memory."""

from collections.abc import Callable, Sequence

import numpy as np

from relaxcheck.generators.core.values import Array

UNDEFINED = "undefined"
"""The key, in the details of a wrong value, of the fact that it is undefined memory."""

_TEXT = (
    "The result depends on memory that nothing wrote, or that lies out of bounds: element {at} of "
    "output {output} is {first} where fresh memory holds 0x{usual:02x} bytes, and {second} where "
    "it holds 0x{other:02x} bytes."
)


def undefined(
    run: Callable[[int], tuple[Array, ...]],
    outputs: Sequence[str],
    actual: Sequence[Array],
    usual: int,
    other: int,
) -> str:
    """A sentence on the first element that follows the contents of fresh memory; empty if none.

    ``run`` returns the outputs where fresh memory holds a byte; ``actual`` are those where it held
    ``usual``. An element that differs between two runs of the same byte does not count.
    """
    again = run(usual)
    for name, seen, first, second in zip(outputs, actual, again, run(other), strict=True):
        if not seen.shape == first.shape == second.shape:
            continue
        differs = (_bits(first) != _bits(second)) & (_bits(seen) == _bits(first))
        if differs.any():
            at = tuple(int(place) for place in np.argwhere(differs)[0])
            return _TEXT.format(
                at=list(at),
                output=name,
                first=_text(first, at),
                second=_text(second, at),
                usual=usual,
                other=other,
            )
    return ""


def _bits(array: Array) -> Array:
    """``array`` as unsigned integers: a NaN equals itself."""
    return array.view(f"u{array.dtype.itemsize}")


def _text(array: Array, at: tuple[int, ...]) -> str:
    """The element at ``at``; of a bool its byte, which may be neither 0 nor 1."""
    return hex(_bits(array)[at]) if array.dtype == bool else str(array[at])
