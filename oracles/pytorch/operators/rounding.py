"""PyTorch's roundings to whole numbers, the sign and the square."""

from collections.abc import Callable

import torch
from torch import Tensor

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.source import expression, source
from relaxcheck.oracles.pytorch.tensors import Held, Operator, operator, wrapped

_NAMES = ("ceil", "floor", "round", "sign", "square", "trunc")


def _applied(function: Callable[[Tensor], Tensor]) -> Operator:
    def applied(node: Node, operands: list[Held]) -> Held:
        return wrapped(function(operands[0].tensor), operands[0].dtype)

    return applied


def _text(name: str) -> Callable[[str], str]:
    return lambda x: f"torch.{name}({x})"


for _name in _NAMES:
    operator(_name)(_applied(getattr(torch, _name)))
    source(_name)(expression(_text(_name)))
