"""PyTorch's affine grids, whose coordinates are last there."""

from collections.abc import Sequence
from typing import Any

from torch.nn import functional

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.source import Value, assigned, call_text, source
from relaxcheck.oracles.pytorch.tensors import FLOATS, Held, operator

_NARROW = ("float16", "bfloat16")


@operator("image.affine_grid")
def _affine_grid(node: Node, operands: list[Held]) -> Held:
    (matrices,) = operands
    size: Any = node.attributes["size"]
    aligned = bool(node.attributes.get("align_corners", True))
    batch = matrices.tensor.shape[0]
    if not batch:
        return Held(matrices.tensor.new_zeros((0, len(size), *size)), matrices.dtype)
    # Of a single place there is no kernel in 16 bits.
    wide = matrices.tensor.float() if matrices.dtype in _NARROW else matrices.tensor
    grid = functional.affine_grid(wide, [batch, 1, *size], align_corners=aligned)
    return Held(grid.movedim(-1, 1).to(FLOATS[matrices.dtype]), matrices.dtype)


@source("image.affine_grid")
def _affine_grid_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    size = (result.shape[0], 1, *result.shape[2:])
    aligned = bool(node.attributes.get("align_corners", True))
    call = call_text("F.affine_grid", operands[0].name, str(size), align_corners=aligned)
    return assigned(result, f"{call}.movedim(-1, 1)")
