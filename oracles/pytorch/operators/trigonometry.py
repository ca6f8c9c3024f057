"""PyTorch's circular and hyperbolic functions, their inverses, and the error function."""

from collections.abc import Callable

import torch
from torch import Tensor

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.source import expression, source
from relaxcheck.oracles.pytorch.tensors import Held, Operator, operator

_NAMES = (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh"),
    *("cos", "cosh", "sin", "sinh", "tan", "erf"),
)


def _erf(x: Tensor) -> Tensor:
    """erf; kernels of 16 bits use a polynomial that is off by 1e-7 absolutely, at zero too."""
    return torch.erf(x.float()).to(x.dtype) if x.dtype.itemsize == 2 else torch.erf(x)


def _in_double(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """``function``, computed in float64.

    The vectorised kernels of float32 return inf where ``exp(|x|)`` overflows; ``sinh`` and ``cosh``
    are half of that.
    """
    return lambda x: function(x.double()).to(x.dtype)


_FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "cosh": _in_double(torch.cosh),
    "erf": _erf,
    "sinh": _in_double(torch.sinh),
}


def _applied(function: Callable[[Tensor], Tensor]) -> Operator:
    def applied(node: Node, operands: list[Held]) -> Held:
        return Held(function(operands[0].tensor), operands[0].dtype)

    return applied


def _text(name: str) -> Callable[[str], str]:
    return lambda x: f"torch.{name}({x})"


for _name in _NAMES:
    operator(_name)(_applied(_FUNCTIONS.get(_name) or getattr(torch, _name)))
    source(_name)(expression(_text(_name)))
