"""ONNX nodes for affine grids, whose coordinates are last there."""

from typing import Any

from relaxcheck.oracles.onnxruntime.call import Call, operator
from relaxcheck.oracles.onnxruntime.graph import Wire


@operator("image.affine_grid")
def _affine_grid(call: Call) -> Wire:
    (matrices,), graph = call.operands, call.graph
    size: Any = call.node.attributes["size"]
    aligned = int(bool(call.node.attributes.get("align_corners", True)))
    batch, rank = matrices.shape[0], len(size)
    sizes = graph.integers((batch, 1, *size))
    grid = graph.call("AffineGrid", matrices.name, sizes, align_corners=aligned)
    turned = graph.call("Transpose", grid, perm=(0, rank + 1, *range(1, rank + 1)))
    return graph.settle(turned, (batch, rank, *size), matrices.dtype)
