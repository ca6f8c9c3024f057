"""PyTorch's sums that undo a broadcast."""

from collections.abc import Sequence
from typing import Any

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.source import Value, assigned, source
from relaxcheck.oracles.pytorch.tensors import Held, operator, wrapped


@operator("collapse_sum_to")
def _collapse_sum_to(node: Node, operands: list[Held]) -> Held:
    shape: Any = node.attributes["shape"]
    return wrapped(operands[0].tensor.sum_to_size(shape), operands[0].dtype)


@operator("collapse_sum_like")
def _collapse_sum_like(node: Node, operands: list[Held]) -> Held:
    data, target = operands
    return wrapped(data.tensor.sum_to_size(target.tensor.shape), data.dtype)


def _text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    return assigned(result, f"{operands[0].name}.sum_to_size({result.shape})")


for _name in ("collapse_sum_to", "collapse_sum_like"):
    source(_name)(_text)
