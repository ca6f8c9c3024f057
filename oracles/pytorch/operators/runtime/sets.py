"""PyTorch's places that are not zero, and its different elements."""

from collections.abc import Sequence
from typing import Any

import torch

from relaxcheck.generators.core.program import ITEM, Node
from relaxcheck.oracles.pytorch.source import NoText, Value, assigned, expression, source
from relaxcheck.oracles.pytorch.tensors import Held, operator


@operator("nonzero")
def _nonzero(node: Node, operands: list[Held]) -> Held:
    x = operands[0].tensor
    return Held((x if x.ndim else x.reshape(1)).nonzero().T.contiguous(), "int64")


source("nonzero")(expression(lambda x: f"torch.atleast_1d({x}).nonzero().T"))


@operator("unique")
def _unique(node: Node, operands: list[Held]) -> Held:
    attributes: dict[str, Any] = dict(node.attributes)
    (x,), axis = operands, attributes.get("axis")
    values, inverse, counts = x.tensor.unique(return_inverse=True, return_counts=True, dim=axis)
    inverse = inverse.reshape(-1)
    size = len(inverse)
    first = torch.full_like(counts, size)
    first = first.scatter_reduce(0, inverse, torch.arange(size), "amin")
    if attributes.get("sorted") is False:
        # PyTorch sorts them all the same.
        order = first.argsort()
        values = values.index_select(axis or 0, order)
        first, counts, inverse = first[order], counts[order], order.argsort()[inverse]
    named = {"return_index": first, "return_inverse": inverse, "return_counts": counts}
    asked = [tensor for name, tensor in named.items() if attributes.get(name)]
    item = attributes.get(ITEM, 0)
    return Held(asked[item - 1], "int64") if item else Held(values, x.dtype)


@source("unique")
def _unique_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    if node.attributes.get(ITEM) or node.attributes.get("sorted") is False:
        raise NoText
    axis = node.attributes.get("axis")
    along = "" if axis is None else f"dim={axis}"
    return assigned(result, f"{operands[0].name}.unique({along})")
