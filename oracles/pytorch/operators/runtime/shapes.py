"""PyTorch's numbers of elements, and shapes made of tensors."""

from collections.abc import Sequence

import torch

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.source import Value, assigned, source
from relaxcheck.oracles.pytorch.tensors import Held, operator


@operator("size")
def _size(node: Node, operands: list[Held]) -> Held:
    return Held(torch.tensor(operands[0].tensor.numel()), "int64")


@source("size")
def _size_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    return assigned(result, f"torch.tensor({operands[0].name}.numel())")


@operator("tensor_to_shape")
def _tensor_to_shape(node: Node, operands: list[Held]) -> Held:
    return Held(operands[0].tensor, "int64")
