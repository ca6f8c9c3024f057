"""PyTorch's parametric rectified linear unit."""

from collections.abc import Sequence
from typing import Any

from torch.nn import functional

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.source import Value, assigned, source
from relaxcheck.oracles.pytorch.tensors import Held, operator


@operator("nn.prelu")
def _prelu(node: Node, operands: list[Held]) -> Held:
    x, alpha = (each.tensor for each in operands)
    axis: Any = node.attributes.get("axis", 1)
    # PyTorch's channels are second; a vector has none without an axis in front.
    at = axis % x.ndim + 1
    y = functional.prelu(x.unsqueeze(0).movedim(at, 1), alpha)
    return Held(y.movedim(1, at).squeeze(0), operands[0].dtype)


@source("nn.prelu")
def _prelu_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    x, alpha = operands
    axis: Any = node.attributes.get("axis", 1)
    shape = [1] * len(x.shape)
    shape[axis] = alpha.shape[0]
    slope = f"{alpha.name}.reshape({tuple(shape)})"
    return assigned(result, f"torch.where({x.name} > 0, {x.name}, {slope} * {x.name})")
