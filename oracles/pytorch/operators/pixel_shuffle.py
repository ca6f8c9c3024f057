"""PyTorch's pixel shuffle."""

from collections.abc import Sequence
from typing import Any

from torch.nn import functional

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.source import Value, assigned, call_text, source
from relaxcheck.oracles.pytorch.tensors import Held, operator


@operator("nn.pixel_shuffle")
def _pixel_shuffle(node: Node, operands: list[Held]) -> Held:
    (data,) = operands
    factor: Any = node.attributes["upscale_factor"]
    return Held(functional.pixel_shuffle(data.tensor, factor), data.dtype)


@source("nn.pixel_shuffle")
def _pixel_shuffle_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    factor = str(node.attributes["upscale_factor"])
    return assigned(result, call_text("F.pixel_shuffle", operands[0].name, factor))
