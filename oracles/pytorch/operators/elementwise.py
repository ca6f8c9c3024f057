"""PyTorch's elementwise operators."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from relaxcheck.generators.core.program import Node
from relaxcheck.generators.core.values import numpy_dtype
from relaxcheck.oracles.pytorch.source import Value, assigned, expression, source
from relaxcheck.oracles.pytorch.tensors import Held, Operator, operator, wrapped

_UNARY: dict[str, Callable[[Tensor], Tensor]] = {
    "negative": torch.neg,
    "nn.relu": torch.relu,
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
    "add": torch.add,
    "subtract": torch.sub,
    "multiply": torch.mul,
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


_EXPRESSIONS: dict[str, Callable[..., str]] = {
    "negative": lambda x: f"-{x}",
    **{
        name: lambda x, name=name: f"torch.{name}({x})"
        for name in ("abs", "exp", "log", "sqrt", "rsqrt", "sigmoid", "tanh")
    },
    "nn.relu": lambda x: f"torch.relu({x})",
    "nn.silu": lambda x: f"F.silu({x})",
    "nn.gelu": lambda x: f"F.gelu({x})",
    "nn.gelu_tanh": lambda x: f'F.gelu({x}, approximate="tanh")',
    **{
        name: lambda a, b, sign=sign: f"{a} {sign} {b}"
        for name, sign in {
            "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power": "**",
        }.items()
    },
    "maximum": lambda a, b: f"torch.maximum({a}, {b})",
    "minimum": lambda a, b: f"torch.minimum({a}, {b})",
    "floor_divide": lambda a, b: f'torch.div({a}, {b}.masked_fill({b} == 0, 1), '
    'rounding_mode="floor")',
    "floor_mod": lambda a, b: f"torch.remainder({a}, {b}.masked_fill({b} == 0, 1))",
    **{
        name: lambda a, b, sign=sign: f"({a} {sign} {b}).long()"
        for name, sign in {
            "equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=",
            "greater": ">", "greater_equal": ">=",
        }.items()
    },
    "where": lambda c, a, b: f"torch.where({c} != 0, {a}, {b})",
}  # fmt: skip

for _name, _write in _EXPRESSIONS.items():
    source(_name)(expression(_write))


@source("nn.leakyrelu")
def _leakyrelu_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    alpha = node.attributes.get("alpha", 0.01)
    return assigned(result, f"F.leaky_relu({operands[0].name}, {alpha})")


@source("clip")
def _clip_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    (x,) = operands
    # The ends are numbers of the operand's dtype.
    low, high = (
        np.array(node.attributes[name]).astype(numpy_dtype(x.dtype)).item()
        for name in ("min", "max")
    )
    return assigned(result, f"{x.name}.clamp({low}, {high})")
