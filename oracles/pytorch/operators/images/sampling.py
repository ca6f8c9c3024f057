"""PyTorch's sampling by a grid, whose coordinates are last there."""

from collections.abc import Sequence
from typing import Any

from torch.nn import functional

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.source import Value, assigned, call_text, source
from relaxcheck.oracles.pytorch.tensors import Held, operator


@operator("image.grid_sample")
def _grid_sample(node: Node, operands: list[Held]) -> Held:
    attributes: dict[str, Any] = dict(node.attributes)
    data, grid = (each.tensor for each in operands)
    sampled = functional.grid_sample(
        data,
        grid.movedim(1, -1),
        mode=attributes.get("method", "bilinear"),
        padding_mode=attributes.get("padding_mode", "zeros"),
        align_corners=attributes.get("align_corners", False),
    )
    return Held(sampled, operands[0].dtype)


@source("image.grid_sample")
def _grid_sample_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    attributes: dict[str, Any] = dict(node.attributes)
    call = call_text(
        "F.grid_sample",
        operands[0].name,
        f"{operands[1].name}.movedim(1, -1)",
        mode=f'"{attributes.get("method", "bilinear")}"',
        padding_mode=f'"{attributes.get("padding_mode", "zeros")}"',
        align_corners=bool(attributes.get("align_corners", False)),
    )
    return assigned(result, call)
