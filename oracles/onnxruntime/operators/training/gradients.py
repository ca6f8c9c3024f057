"""ONNX nodes for gradients of operators that read elements."""

from math import prod
from typing import Any

import numpy as np

from relaxcheck.oracles.onnxruntime.call import Call, operator
from relaxcheck.oracles.onnxruntime.graph import Wire


@operator("grad.take_backward")
def _take_backward(call: Call) -> Wire:
    """ONNX has none: rows of a matrix, each added at its place."""
    (gradient, x, indices), graph = call.operands, call.graph
    axis: Any = call.node.attributes.get("axis")
    at = 0 if axis is None else axis % len(x.shape)
    count = prod(indices.shape)
    others = (*x.shape[:at], *x.shape[at + 1 :])
    front = (at, *(other for other in range(len(x.shape)) if other != at))
    rows = graph.reshape(gradient.name, (*x.shape[:at], count, *x.shape[at + 1 :]))
    rows = graph.call("Transpose", rows, perm=front)
    kind = np.float64 if x.dtype == "float64" else np.float32
    empty = graph.constant(np.zeros((x.shape[at], *others), kind))
    places = graph.reshape(indices.name, (count, 1))
    sums = graph.call("ScatterND", empty, places, rows, reduction="add")
    back = np.argsort(front).tolist()
    return graph.settle(graph.call("Transpose", sums, perm=back), x.shape, x.dtype)
