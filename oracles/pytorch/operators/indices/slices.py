"""PyTorch's writing of slices; its reversal of sequences, one after the other."""

from collections.abc import Sequence
from typing import Any

import torch

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.source import Value, assigned, source
from relaxcheck.oracles.pytorch.tensors import Held, operator


def _slice(node: Node) -> list[Any]:
    """Axis, start, end and step."""
    values = (node.attributes.get(name, 0) for name in ("axis", "start", "end", "step"))
    return [each[0] if isinstance(each, tuple) else each for each in values]


@operator("slice_scatter")
def _slice_scatter(node: Node, operands: list[Held]) -> Held:
    data, source_held = operands
    return Held(torch.slice_scatter(data.tensor, source_held.tensor, *_slice(node)), data.dtype)


@source("slice_scatter")
def _slice_scatter_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    names = ", ".join(each.name for each in operands)
    return assigned(result, f"torch.slice_scatter({names}, {', '.join(map(str, _slice(node)))})")


@operator("reverse_sequence")
def _reverse_sequence(node: Node, operands: list[Held]) -> Held:
    attributes: dict[str, Any] = dict(node.attributes)
    x, lengths = operands
    along, batch = attributes.get("seq_axis", 1), attributes.get("batch_axis", 0)
    rank = x.tensor.ndim
    rows = x.tensor.movedim((batch % rank, along % rank), (0, 1)).clone()
    for row, length in zip(rows, lengths.tensor.tolist(), strict=True):
        row[:length] = row[:length].flip(0)
    return Held(rows.movedim((0, 1), (batch % rank, along % rank)).contiguous(), x.dtype)
