"""ONNX nodes for sampling by a grid, whose coordinates are last there."""

from math import prod
from typing import Any

import numpy as np

from relaxcheck.oracles.onnxruntime.call import Call, operator
from relaxcheck.oracles.onnxruntime.graph import Wire

_MODES = {"bilinear": "linear", "bicubic": "cubic"}


@operator("image.grid_sample")
def _grid_sample(call: Call) -> Wire:
    attributes: dict[str, Any] = dict(call.node.attributes)
    (data, grid), graph = call.operands, call.graph
    shape = (*data.shape[:2], *grid.shape[2:])
    if not prod(shape):
        kind = np.float64 if data.dtype == "float64" else np.float32
        return Wire(graph.constant(np.zeros(shape, kind)), shape, data.dtype)
    method = attributes.get("method", "bilinear")
    last = graph.call("Transpose", grid.name, perm=(0, *range(2, len(grid.shape)), 1))
    sampled = graph.call(
        "GridSample",
        data.name,
        last,
        mode=_MODES.get(method, method),
        padding_mode=attributes.get("padding_mode", "zeros"),
        align_corners=int(attributes.get("align_corners", False)),
    )
    return graph.settle(sampled, shape, data.dtype)
