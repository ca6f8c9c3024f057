"""PyTorch's tables of vectors."""

from collections.abc import Sequence
from typing import Any

import torch

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.source import Value, assigned, expression, source
from relaxcheck.oracles.pytorch.tensors import Held, operator, wrapped


@operator("outer")
def _outer(node: Node, operands: list[Held]) -> Held:
    return wrapped(torch.outer(*(each.tensor for each in operands)), operands[0].dtype)


source("outer")(expression(lambda a, b: f"torch.outer({a}, {b})"))


@operator("meshgrid")
def _meshgrid(node: Node, operands: list[Held]) -> Held:
    attributes: dict[str, Any] = dict(node.attributes)
    tensors = [each.tensor for each in operands]
    grids = torch.meshgrid(*tensors, indexing=attributes.get("indexing", "ij"))
    return Held(grids[attributes["item"]].contiguous(), operands[0].dtype)


@source("meshgrid")
def _meshgrid_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    names = ", ".join(each.name for each in operands)
    indexing = node.attributes.get("indexing", "ij")
    call = f"torch.meshgrid({names}, indexing={indexing!r})"
    return assigned(result, f"{call}[{node.attributes['item']}]")
