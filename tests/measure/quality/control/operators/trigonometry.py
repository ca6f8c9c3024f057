"""Circular and hyperbolic functions, their inverses, and the error function."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import erfc
from typing import Any

import numpy as np

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import FLOATS, Array, Type, one_dtype, operator
from tests.measure.quality.control.rounding import faithful, function
from tests.measure.quality.control.summation import Freedom

_LIBRARY: Mapping[str, Callable[[Array], Array]] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "cos": np.cos,
    "cosh": np.cosh,
    "sin": np.sin,
    "sinh": np.sinh,
    "tan": np.tan,
}


def _infer(node: Node, operands: Sequence[Type]) -> Type:
    return Type(operands[0].shape, one_dtype(node, operands, FLOATS))


def _declare(name: str, evaluate: Callable[[Array], Array]) -> None:
    @operator(name, _infer)
    def compute(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
        return function(evaluate, operands[0], freedom)


for _name, _evaluate in _LIBRARY.items():
    if _name != "tan":
        _declare(_name, _evaluate)


@operator("tan", _infer)
def _tan(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    """From the library, or the quotient of sine and cosine."""
    (x,) = operands
    if freedom.choice(("library", "quotient")) == "library":
        return function(np.tan, x, freedom)
    return np.divide(function(np.sin, x, freedom), function(np.cos, x, freedom))


@operator("erf", _infer)
def _erf(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    """From ``erfc``, but its series where that leaves few digits."""
    (x,) = operands
    flat = [_error_function(each) for each in x.astype(np.float64).ravel().tolist()]
    result = faithful(np.array(flat, np.longdouble).reshape(x.shape), x.dtype, freedom)
    return np.where(x == 0, x, result)


def _error_function(x: float) -> Any:
    if not abs(x) < 0.5:
        return np.longdouble(1) - np.longdouble(erfc(x))
    square, power, factorial = Fraction(x) ** 2, Fraction(x), 1
    total = Fraction(0)
    for count in range(16):
        total += power / (factorial * (2 * count + 1))
        power, factorial = -power * square, factorial * (count + 1)
    whole = np.longdouble(float(total)) + np.longdouble(float(total - Fraction(float(total))))
    return 2 * whole / np.sqrt(np.longdouble(np.pi))
