"""Roundings to whole numbers, the sign and the square, in the operand's own dtype."""

from collections.abc import Callable, Sequence

import numpy as np

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import Array, Type, operator
from tests.measure.quality.control.summation import Freedom


def _infer(node: Node, operands: Sequence[Type]) -> Type:
    return Type(operands[0].shape, operands[0].dtype)


def _half_to_even(x: Array) -> Array:
    """Half to even, from the whole numbers on both sides."""
    low = np.floor(x)
    with np.errstate(invalid="ignore"):
        rest = x - low
        odd = np.mod(low, np.asarray(2, x.dtype)) == 1
        up = (rest > 0.5) | ((rest == 0.5) & odd)
    return np.copysign(np.where(up, np.ceil(x), low), x)


def _towards_zero(x: Array) -> Array:
    return np.where(np.signbit(x), np.ceil(x), np.floor(x))


_ROUNDINGS: dict[str, Callable[[Array], Array]] = {
    "ceil": np.ceil,
    "floor": np.floor,
    "round": _half_to_even,
    "trunc": _towards_zero,
}


def _declare(name: str, evaluate: Callable[[Array], Array]) -> None:
    @operator(name, _infer)
    def compute(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
        (x,) = operands
        return x if x.dtype.kind in "iu" else evaluate(x).astype(x.dtype)


for _name, _evaluate in _ROUNDINGS.items():
    _declare(_name, _evaluate)


@operator("sign", _infer)
def _sign(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    (x,) = operands
    return (x > 0).astype(x.dtype) - (x < 0).astype(x.dtype)


@operator("square", _infer)
def _square(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    return operands[0] * operands[0]
