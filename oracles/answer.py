"""What an oracle says: plain arrays, or a reference value with an error bound of each element."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Bounded:
    """A reference output.

    ``value`` is float64 for floating-point outputs and int64 for integers and booleans, in the
    output's real shape. ``bound`` (float64, same shape, >= 0) is the absolute error that a correct
    implementation in the declared dtypes may have. Where it is infinite there is *room*: correct
    implementations differ without limit, and the reference says nothing. A value that is NaN or
    infinite has bound 0: the output must be the same. ``dtype`` is TVM's name of the output's
    dtype. ``signed_zeros``: a zero with bound 0 must have the value's sign.
    """

    value: Array
    bound: NDArray[np.float64]
    dtype: str
    signed_zeros: bool = False


class Unsupported(Exception):
    """An oracle cannot evaluate a program; the message says who and why, in one line."""


def declare(
    table: dict[str, Function],
) -> Callable[[str], Callable[[Function], Function]]:
    """The decorator that enters a function into an oracle's operator table under a Relax name."""

    def operator(name: str) -> Callable[[Function], Function]:
        def enter(function: Function) -> Function:
            if name in table:
                raise ValueError(f"operator {name} is declared twice")
            table[name] = function
            return function

        return enter

    return operator
