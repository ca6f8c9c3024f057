"""PyTorch's einsum."""

from collections.abc import Sequence

import torch

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.source import Value, assigned, call_text, source
from relaxcheck.oracles.pytorch.tensors import Held, operator, wrapped


@operator("einsum")
def _einsum(node: Node, operands: list[Held]) -> Held:
    subscripts = str(node.attributes["subscripts"])
    result = torch.einsum(subscripts, *(each.tensor for each in operands))
    return wrapped(result, operands[0].dtype)


@source("einsum")
def _einsum_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    subscripts = str(node.attributes["subscripts"])
    return assigned(
        result, call_text("torch.einsum", f'"{subscripts}"', *(each.name for each in operands))
    )
