"""The answers of oracles: plain arrays, or a reference value with an error bound per element."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Bounded:
    """A reference output with its error bounds.

    ``value`` has the output's shape: float64 for floating-point outputs, int64 for integers and
    booleans. ``bound`` (float64, same shape, >= 0) is the largest absolute error of a correct
    implementation in the program's dtypes. An infinite bound leaves the element *unconstrained*:
    correct implementations differ without limit. A value that is NaN or infinite has bound 0: the
    output must match it. ``dtype`` is TVM's name of the output's dtype. ``signed_zeros``: a zero
    with bound 0 must also have the value's sign.
    """

    value: Array
    bound: NDArray[np.float64]
    dtype: str
    signed_zeros: bool = False


class Unsupported(Exception):
    """An oracle cannot evaluate a program; the message names the oracle and the reason."""


class OutOfBounds(ValueError):
    """A call looks up an element that is not there; the message names the index."""
