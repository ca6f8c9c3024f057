"""PyTorch's gradients of operators that read elements."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.gradients import gradient
from relaxcheck.oracles.pytorch.source import Value, source
from relaxcheck.oracles.pytorch.tensors import Held, operator


def _axis(node: Node, rank: int) -> int:
    axis: Any = node.attributes.get("axis")
    return 0 if axis is None else int(axis) % rank


@operator("grad.take_backward")
def _take_backward(node: Node, operands: list[Held]) -> Held:
    of_output, x, indices = (each.tensor for each in operands)

    def taken(data: Tensor, places: Tensor) -> Tensor:
        read = data.index_select(_axis(node, data.ndim), places.reshape(-1))
        return read.reshape(of_output.shape)

    return Held(gradient(taken, of_output, x, indices), operands[1].dtype)


@source("grad.take_backward")
def _take_backward_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    of_output, x, indices = operands
    leaf, axis = f"{result.name}_at", _axis(node, len(x.shape))
    places = indices.name if len(indices.shape) == 1 else f"{indices.name}.reshape(-1)"
    taken = f"{leaf}.index_select({axis}, {places})"
    if len(indices.shape) != 1:
        taken += f".reshape({of_output.name}.shape)"
    return [
        f"{leaf} = {x.name}.clone().requires_grad_()",
        f"({result.name},) = torch.autograd.grad({taken}, {leaf}, {of_output.name})",
    ]
