"""PyTorch's ``atan2``, ``log_add_exp``, ``mod`` and ``ewise_fma``."""

from collections.abc import Callable

import torch
from torch import Tensor

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.source import expression, source
from relaxcheck.oracles.pytorch.tensors import Held, Operator, operator, wrapped


def _mod(a: Tensor, b: Tensor) -> Tensor:
    """The remainder; PyTorch raises where an integer divisor is 0."""
    return torch.fmod(a, b if b.is_floating_point() else b.masked_fill(b == 0, 1))


_FUNCTIONS: dict[str, Callable[..., Tensor]] = {
    "atan2": torch.atan2,
    "log_add_exp": torch.logaddexp,
    "mod": _mod,
    "ewise_fma": lambda a, b, c: torch.addcmul(c, a, b),
}


def _applied(function: Callable[..., Tensor]) -> Operator:
    def applied(node: Node, operands: list[Held]) -> Held:
        return wrapped(function(*(each.tensor for each in operands)), operands[0].dtype)

    return applied


for _name, _function in _FUNCTIONS.items():
    operator(_name)(_applied(_function))

source("atan2")(expression(lambda a, b: f"torch.atan2({a}, {b})"))
source("log_add_exp")(expression(lambda a, b: f"torch.logaddexp({a}, {b})"))
source("ewise_fma")(expression(lambda a, b, c: f"{a} * {b} + {c}"))
source("mod")(expression(lambda a, b: f"torch.fmod({a}, {b}.masked_fill({b} == 0, 1))"))
