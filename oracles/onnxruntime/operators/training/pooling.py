"""ONNX nodes for gradients of pooling over two axes."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxcheck.oracles.onnxruntime.call import Call, operator
from relaxcheck.oracles.onnxruntime.graph import Wire
from relaxcheck.oracles.onnxruntime.operators.windows import listed, nothing, window

_RANK = 2


@operator("grad.max_pool2d_backward")
def _max_pool2d_backward(call: Call) -> Wire:
    """ONNX has none: the gradient of each window added at the place that MaxPool names."""
    (gradient, x), graph = call.operands, call.graph
    if not prod(x.shape):
        return nothing(call, x.shape, x.dtype)
    size = listed(call.node.attributes.get("pool_size", 1), _RANK)
    attributes, out = window(call, size, x.shape[2:])
    _, places = graph.calls("MaxPool", 2, x.name, kernel_shape=size, **attributes)
    kind = np.float64 if x.dtype == "float64" else np.float32
    # MaxPool names some place, or none, where all is padding.
    holds = np.any(_elements(size, attributes, x.shape[2:], out) >= 0, axis=1, keepdims=True)
    inside = graph.constant(holds.reshape(out))
    places = graph.call("Where", inside, places, graph.constant(np.array(0, np.int64)))
    each = graph.call("Where", inside, gradient.name, graph.constant(np.array(0, kind)))
    empty = graph.constant(np.zeros(prod(x.shape), kind))
    operands = (graph.reshape(name, (prod(gradient.shape),)) for name in (places, each))
    sums = graph.call("ScatterElements", empty, *operands, axis=0, reduction="add")
    return graph.settle(graph.reshape(sums, x.shape), x.shape, x.dtype)


@operator("grad.avg_pool2d_backward")
def _avg_pool2d_backward(call: Call) -> Wire:
    """ONNX has none: the gradient of each window, divided, added at all elements under it."""
    (gradient, x), graph = call.operands, call.graph
    if not prod(x.shape):
        return nothing(call, x.shape, x.dtype)
    size = listed(call.node.attributes.get("pool_size", 1), _RANK)
    attributes, out = window(call, size, x.shape[2:])
    held = _elements(size, attributes, x.shape[2:], out)
    inside = held >= 0
    counts = np.full(len(held), prod(size))
    if not call.node.attributes.get("count_include_pad", False):
        counts = inside.sum(axis=1)
    kind = np.float64 if x.dtype == "float64" else np.float32
    planes, cells = prod(x.shape[:2]), prod(x.shape[2:])
    rows = graph.reshape(gradient.name, (planes, prod(out)))
    each = graph.call("Div", rows, graph.constant(counts.astype(kind)))
    # A row for each element of the windows, those of padding at one more cell.
    terms = graph.call("Transpose", each, perm=(1, 0))
    windows = np.repeat(np.arange(prod(out)), prod(size))
    terms = graph.call("Gather", terms, graph.constant(windows))
    at = np.where(inside, held, cells).reshape(-1, 1)
    empty = graph.constant(np.zeros((cells + 1, planes), kind))
    sums = graph.call("ScatterND", empty, graph.constant(at), terms, reduction="add")
    kept = graph.call("Slice", sums, graph.integers((0,)), graph.integers((cells,)))
    result = graph.reshape(graph.call("Transpose", kept, perm=(1, 0)), x.shape)
    return graph.settle(result, x.shape, x.dtype)


def _elements(
    size: Sequence[int], attributes: Mapping[str, Any], sizes: Sequence[int], out: Sequence[int]
) -> NDArray[np.int64]:
    """The number of each element under each window, a row a window; -1 for padding."""
    lines = []
    for axis, count in enumerate(out):
        places = np.arange(count)[:, None] * attributes["strides"][axis]
        taps = np.arange(size[axis]) * attributes["dilations"][axis]
        at = places + taps - attributes["pads"][axis]
        lines.append(np.where((at >= 0) & (at < sizes[axis]), at, -1))
    high, wide = lines
    rows, columns = high[:, None, :, None], wide[None, :, None, :]
    numbers = np.where((rows >= 0) & (columns >= 0), rows * sizes[1] + columns, -1)
    return numbers.reshape(prod(out), prod(size)).astype(np.int64)
