"""ONNX nodes for writing slices and reversing sequences."""

from typing import Any

import numpy as np

from relaxcheck.oracles.onnxruntime.call import Call, operator
from relaxcheck.oracles.onnxruntime.graph import Wire


@operator("slice_scatter")
def _slice_scatter(call: Call) -> Wire:
    """Lines along the axis, in front, written by number."""
    attributes: dict[str, Any] = dict(call.node.attributes)
    x, new = call.operands
    ends = (attributes[name] for name in ("start", "end", "step"))
    start, end, step = (each[0] if isinstance(each, tuple) else each for each in ends)
    axis = attributes.get("axis", 0) % len(x.shape)
    graph, order = call.graph, list(range(len(x.shape)))
    order = [axis, *order[:axis], *order[axis + 1 :]]
    back = [int(at) for at in np.argsort(order)]
    lines, written = (graph.call("Transpose", each.name, perm=order) for each in (x, new))
    places = np.arange(x.shape[axis])[start:end:step].reshape(-1, 1)
    scattered = graph.call("ScatterND", lines, graph.constant(places), written)
    return Wire(graph.call("Transpose", scattered, perm=back), x.shape, x.dtype)


@operator("reverse_sequence")
def _reverse_sequence(call: Call) -> Wire:
    """ReverseSequence wants the two axes in front."""
    attributes: dict[str, Any] = dict(call.node.attributes)
    x, lengths = call.operands
    rank, graph = len(x.shape), call.graph
    first = [attributes.get(name, default) % rank for name, default in _AXES]
    order = [*first, *(axis for axis in range(rank) if axis not in first)]
    back = [int(at) for at in np.argsort(order)]
    if 0 in x.shape:
        return x
    turned = graph.call("Transpose", x.name, perm=order)
    result = graph.call("ReverseSequence", turned, lengths.name, time_axis=1, batch_axis=0)
    return Wire(graph.call("Transpose", result, perm=back), x.shape, x.dtype)


_AXES = (("batch_axis", 0), ("seq_axis", 1))
