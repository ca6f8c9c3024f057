"""ONNX nodes for rows of a class, a score and a box."""

from typing import Any

import numpy as np

from relaxcheck.generators.core.program import ITEM
from relaxcheck.oracles.onnxruntime.call import Call, operator
from relaxcheck.oracles.onnxruntime.graph import Wire, stored_type


@operator("vision.get_valid_counts")
def _valid_counts(call: Call) -> Wire:
    """Rows in descending order of the boxes behind them, those that are valid before all others."""
    attributes: dict[str, Any] = dict(call.node.attributes)
    (data,), graph = call.operands, call.graph
    batch, boxes, _ = data.shape
    kind = np.float64 if data.dtype == "float64" else np.float32

    def column(name: str, default: int) -> str:
        return graph.call("Gather", data.name, _number(attributes.get(name, default)), axis=2)

    def _number(value: int) -> str:
        return graph.constant(np.array(value, np.int64))

    limit = graph.constant(np.array(attributes.get("score_threshold", 0), kind))
    valid = graph.call("Greater", column("score_index", 1), limit)
    if attributes.get("id_index", 0) >= 0:
        zero = graph.constant(np.array(0, kind))
        known = graph.call("GreaterOrEqual", column("id_index", 0), zero)
        valid = graph.call("And", valid, known)
    counted = graph.call("Cast", valid, to=stored_type("int64"))
    count = graph.call("ReduceSum", counted, graph.integers([1]), keepdims=1)
    if attributes[ITEM] == 0:
        return graph.settle(graph.reshape(count, (batch,)), (batch,), "int32")
    behind = graph.constant(np.arange(boxes, 0, -1, dtype=np.int64))
    key = graph.call("Add", graph.call("Mul", counted, _number(boxes)), behind)
    _, order = graph.calls("TopK", 2, key, graph.integers([boxes]), axis=1)
    inside = graph.call("Less", graph.constant(np.arange(boxes)[None]), count)
    if attributes[ITEM] == 2:
        places = graph.call("Where", inside, order, _number(-1))
        return graph.settle(places, (batch, boxes), "int32")
    last = graph.integers([2])
    at = graph.call("Expand", graph.call("Unsqueeze", order, last), graph.integers(data.shape))
    moved = graph.call("GatherElements", data.name, at, axis=1)
    empty = graph.constant(np.array(-1, kind))
    rows = graph.call("Where", graph.call("Unsqueeze", inside, last), moved, empty)
    return graph.settle(rows, data.shape, data.dtype)
