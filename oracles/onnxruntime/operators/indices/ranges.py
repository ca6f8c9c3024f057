"""ONNX nodes for ranges, windows, and ones at indices."""

from math import pi
from typing import Any

import numpy as np

from relaxcheck.oracles.onnxruntime.call import Call, operator
from relaxcheck.oracles.onnxruntime.graph import Wire, is_float, stored_type


def _number(value: Any, default: Any) -> Any:
    if value is None:
        return default
    return value[0] if isinstance(value, tuple) else value


@operator("arange")
def _arange(call: Call) -> Wire:
    attributes: dict[str, Any] = dict(call.node.attributes)
    start, step = _number(attributes.get("start"), 0), _number(attributes.get("step"), 1)
    end = _number(attributes.get("end"), None)
    start, end = (0, start) if end is None else (start, end)
    ends = (start, end, step)
    whole = all(isinstance(each, int) for each in ends)
    kind = np.dtype(np.int64 if whole else np.float64)
    line = call.graph.call("Range", *(call.graph.constant(np.array(each, kind)) for each in ends))
    to = attributes.get("dtype") or ("int64" if whole else "float32")
    shape = (max(int(np.ceil((end - start) / step)), 0),)
    return call.graph.settle(call.graph.call("Cast", line, to=stored_type(to)), shape, to)


@operator("hamming_window")
def _hamming_window(call: Call) -> Wire:
    attributes: dict[str, Any] = dict(call.node.attributes)
    graph, size, to = call.graph, attributes["window_size"], attributes["dtype"]
    span = max(size if attributes["periodic"] else size - 1, 1)
    kind = np.float64 if to == "float64" else np.float32
    if size == 1:
        return Wire(graph.constant(np.ones(1, kind)), (1,), to)
    places = graph.constant(np.arange(size).astype(kind))
    turn = graph.constant(np.array(2 * pi / span, kind))
    cosine = graph.call("Cos", graph.call("Mul", places, turn))
    alpha, beta = (graph.constant(np.array(attributes[name], kind)) for name in ("alpha", "beta"))
    window = graph.call("Sub", alpha, graph.call("Mul", beta, cosine))
    return graph.settle(window, (size,), to)


@operator("one_hot")
def _one_hot(call: Call) -> Wire:
    attributes: dict[str, Any] = dict(call.node.attributes)
    (x,), graph, depth = call.operands, call.graph, attributes["depth"]
    axis, on, off = attributes.get("axis", -1), attributes["on_value"], attributes["off_value"]
    to = "float64" if isinstance(on, float) else "int64"
    # OneHot has no kernel for double; the numbers drawn are those of float too.
    values = graph.constant(np.array([off, on], np.float32 if is_float(to) else np.int64))
    at = axis % (len(x.shape) + 1)
    # OneHot takes no scalar.
    name = x.name if x.shape else graph.reshape(x.name, (1,))
    hot = graph.call("OneHot", name, graph.constant(np.array(depth)), values, axis=at)
    shape = (*x.shape[:at], depth, *x.shape[at:])
    hot = graph.reshape(hot, shape)
    return Wire(graph.call("Cast", hot, to=stored_type(to)), shape, to)
