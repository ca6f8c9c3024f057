"""PyTorch's elementwise operators."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from generators.program import Node
from oracles.answer import declare
from oracles.pytorch_tensors import Held, Operator, wrapped

OPERATORS: dict[str, Operator] = {}

operator = declare(OPERATORS)

_UNARY: dict[str, Callable[[Tensor], Tensor]] = {
    "negative": torch.neg,
    "abs": torch.abs,
    "exp": torch.exp,
    "log": torch.log,
    "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "nn.silu": functional.silu,
    "nn.gelu": functional.gelu,
    "nn.gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
}

_BINARY: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "subtract": torch.sub,
    "divide": torch.true_divide,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "power": torch.pow,
}

_COMPARED: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "equal": torch.eq,
    "not_equal": torch.ne,
    "less": torch.lt,
    "less_equal": torch.le,
    "greater": torch.gt,
    "greater_equal": torch.ge,
}

# PyTorch raises where an integer divisor is 0; what comes of one is nobody's.
_WHOLE: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "floor_divide": lambda a, b: torch.div(a, b.masked_fill(b == 0, 1), rounding_mode="floor"),
    "floor_mod": lambda a, b: torch.remainder(a, b.masked_fill(b == 0, 1)),
}


def _applied(function: Callable[..., Tensor]) -> Operator:
    def applied(node: Node, operands: list[Held]) -> Held:
        return wrapped(function(*(each.tensor for each in operands)), operands[0].dtype)

    return applied


def _compared(function: Callable[..., Tensor]) -> Operator:
    def compared(node: Node, operands: list[Held]) -> Held:
        return Held(function(*(each.tensor for each in operands)).to(torch.int64), "bool")

    return compared


for _name, _function in (_UNARY | _BINARY | _WHOLE).items():
    operator(_name)(_applied(_function))
for _name, _function in _COMPARED.items():
    operator(_name)(_compared(_function))


@operator("nn.leakyrelu")
def _leakyrelu(node: Node, operands: list[Held]) -> Held:
    alpha: Any = node.attributes.get("alpha", 0.01)
    return Held(functional.leaky_relu(operands[0].tensor, alpha), operands[0].dtype)


@operator("clip")
def _clip(node: Node, operands: list[Held]) -> Held:
    low: Any = node.attributes["min"]
    high: Any = node.attributes["max"]
    return Held(operands[0].tensor.clamp(low, high), operands[0].dtype)
