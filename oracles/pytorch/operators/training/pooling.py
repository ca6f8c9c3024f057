"""PyTorch's gradients of pooling over two axes."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.limitations import When
from relaxcheck.oracles.pytorch.gradients import gradient
from relaxcheck.oracles.pytorch.operators.windows import avg_pool, is_dilated, max_pool
from relaxcheck.oracles.pytorch.source import SOURCES, Value, source
from relaxcheck.oracles.pytorch.tensors import Held, limit, operator

limit(
    "grad.avg_pool2d_backward",
    When("dilation other than 1", is_dilated),
    "avg_pool has no dilation",
)


def _backward(pool: Callable[[Held], Held], operands: list[Held]) -> Held:
    of_output, data = operands
    if not data.tensor.numel():
        return Held(torch.zeros_like(data.tensor), data.dtype)

    def pooled(x: Tensor) -> Tensor:
        return pool(Held(x, data.dtype)).tensor

    return Held(gradient(pooled, of_output.tensor, data.tensor), data.dtype)


@operator("grad.max_pool2d_backward")
def _max_pool2d_backward(node: Node, operands: list[Held]) -> Held:
    return _backward(lambda x: max_pool(2, node, x), operands)


@operator("grad.avg_pool2d_backward")
def _avg_pool2d_backward(node: Node, operands: list[Held]) -> Held:
    include = bool(node.attributes.get("count_include_pad", False))
    return _backward(lambda x: avg_pool(2, node, x, include), operands)


def _declare_text(kind: str) -> None:
    @source(f"grad.{kind}_pool2d_backward")
    def text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
        of_output, data = operands
        leaf = Value(f"{result.name}_at", data.shape, data.dtype)
        pooled = Value(f"{result.name}_pooled", of_output.shape, data.dtype)
        return [
            f"{leaf.name} = {data.name}.clone().requires_grad_()",
            *SOURCES[f"nn.{kind}_pool2d"](node, [leaf], pooled),
            f"({result.name},) = torch.autograd.grad({pooled.name}, {leaf.name}, {of_output.name})",
        ]


for _kind in ("max", "avg"):
    _declare_text(_kind)
