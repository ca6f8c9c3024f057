"""PyTorch's scatters, and reads and writes at places."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.source import Value, assigned, source
from relaxcheck.oracles.pytorch.tensors import Held, operator, wrapped

_REDUCTIONS = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin", "mean": "mean"}


@operator("scatter_elements")
def _scatter_elements(node: Node, operands: list[Held]) -> Held:
    attributes: dict[str, Any] = dict(node.attributes)
    x, indices, updates = (each.tensor for each in operands)
    axis, reduction = attributes.get("axis", 0), attributes.get("reduction", "update")
    places = indices.where(indices >= 0, indices + x.shape[axis])
    return wrapped(_reduced(x, axis, places, updates, reduction), operands[0].dtype)


def _reduced(x: Tensor, axis: int, places: Tensor, updates: Tensor, reduction: str) -> Tensor:
    if reduction == "update":
        return x.scatter(axis, places, updates)
    return x.scatter_reduce(axis, places, updates, _REDUCTIONS[reduction])


@source("scatter_elements")
def _scatter_elements_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    attributes: dict[str, Any] = dict(node.attributes)
    x, indices, updates = operands
    axis, reduction = attributes.get("axis", 0), attributes.get("reduction", "update")
    places = f"{indices.name} % {max(x.shape[axis], 1)}"
    if reduction == "update":
        return assigned(result, f"{x.name}.scatter({axis}, {places}, {updates.name})")
    arguments = f"{axis}, {places}, {updates.name}, {_REDUCTIONS[reduction]!r}"
    return assigned(result, f"{x.name}.scatter_reduce({arguments})")


@operator("scatter_nd")
def _scatter_nd(node: Node, operands: list[Held]) -> Held:
    """Slices as rows of a matrix, each with the number of its place."""
    x, indices, updates = (each.tensor for each in operands)
    depth = indices.shape[-1]
    front, rest = x.shape[:depth], x.shape[depth:]
    numbers = torch.zeros(indices.shape[:-1], dtype=torch.int64)
    for axis, size in enumerate(front):
        numbers = numbers * size + indices[..., axis]
    if not updates.numel():
        return operands[0]
    rows = updates.reshape(numbers.numel(), rest.numel())
    places = numbers.reshape(-1, 1).expand(rows.shape)
    matrix = x.reshape(front.numel(), rest.numel())
    reduction: Any = node.attributes.get("reduction", "update")
    return wrapped(_reduced(matrix, 0, places, rows, reduction).reshape(x.shape), operands[0].dtype)


@operator("index_tensor")
def _index_tensor(node: Node, operands: list[Held]) -> Held:
    data, *indices = operands
    return Held(data.tensor[tuple(each.tensor for each in indices)], data.dtype)


@source("index_tensor")
def _index_tensor_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    data, *indices = operands
    return assigned(result, f"{data.name}[{', '.join(each.name for each in indices)}]")


@operator("index_put")
def _index_put(node: Node, operands: list[Held]) -> Held:
    data, *indices, values = operands
    at, accumulate = [each.tensor for each in indices], node.attributes.get("accumulate", False)
    put = data.tensor.index_put(at, values.tensor, accumulate=bool(accumulate))
    return wrapped(put, data.dtype)


@source("index_put")
def _index_put_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    data, *indices, values = operands
    at = ", ".join(each.name for each in indices)
    accumulate = bool(node.attributes.get("accumulate", False))
    return assigned(result, f"{data.name}.index_put([{at}], {values.name}, {accumulate})")
