"""PyTorch's truth values and operations on bits."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.source import Value, assigned, expression, source
from relaxcheck.oracles.pytorch.tensors import Held, Operator, operator, wrapped

_CLASSES = ("isfinite", "isinf", "isnan")

_LOGICAL = ("logical_not", "logical_and", "logical_or", "logical_xor")

_BITS: dict[str, tuple[Callable[[Tensor, Tensor], Tensor], str]] = {
    "bitwise_and": (torch.bitwise_and, "&"),
    "bitwise_or": (torch.bitwise_or, "|"),
    "bitwise_xor": (torch.bitwise_xor, "^"),
}


def _truth(function: Callable[..., Tensor]) -> Operator:
    def applied(node: Node, operands: list[Held]) -> Held:
        return Held(function(*(each.tensor for each in operands)).to(torch.int64), "bool")

    return applied


def _whole(function: Callable[..., Tensor]) -> Operator:
    def applied(node: Node, operands: list[Held]) -> Held:
        return wrapped(function(*(each.tensor for each in operands)), operands[0].dtype)

    return applied


def _truth_text(name: str) -> Callable[..., str]:
    return lambda *operands: f"torch.{name}({', '.join(operands)}).long()"


for _name in (*_CLASSES, *_LOGICAL):
    operator(_name)(_truth(getattr(torch, _name)))
    source(_name)(expression(_truth_text(_name)))
for _name, (_function, _sign) in _BITS.items():
    operator(_name)(_whole(_function))
    source(_name)(expression(lambda a, b, sign=_sign: f"{a} {sign} {b}"))


def _shift(function: Callable[[Tensor, Tensor], Tensor]) -> Operator:
    def shifted(node: Node, operands: list[Held]) -> Held:
        x, by = (each.tensor for each in operands)
        return wrapped(function(x, by.clamp(0, 63)), operands[0].dtype)

    return shifted


for _name, _function, _sign in (
    ("left_shift", torch.bitwise_left_shift, "<<"),
    ("right_shift", torch.bitwise_right_shift, ">>"),
):
    operator(_name)(_shift(_function))
    source(_name)(expression(lambda a, b, sign=_sign: f"{a} {sign} {b}.clamp(0, 63)"))


@operator("bitwise_not")
def _bitwise_not(node: Node, operands: list[Held]) -> Held:
    (x,) = operands
    if x.dtype == "bool":
        return Held(torch.bitwise_not(x.tensor.bool()).to(torch.int64), "bool")
    return wrapped(torch.bitwise_not(x.tensor), x.dtype)


@source("bitwise_not")
def _bitwise_not_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    (x,) = operands
    return assigned(result, f"1 - {x.name}" if x.dtype == "bool" else f"~{x.name}")
