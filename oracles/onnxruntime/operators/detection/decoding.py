"""ONNX nodes for boxes and scores of anchors."""

from typing import Any

import numpy as np

from relaxcheck.generators.core.program import ITEM
from relaxcheck.oracles.onnxruntime.call import Call, operator
from relaxcheck.oracles.onnxruntime.graph import Wire


@operator("vision.multibox_transform_loc")
def _decoded(call: Call) -> Wire:
    attributes: dict[str, Any] = dict(call.node.attributes)
    return _boxes(call, attributes) if attributes[ITEM] == 0 else _scores(call, attributes)


def _kind(call: Call) -> Any:
    return np.float64 if call.operands[0].dtype == "float64" else np.float32


def _scores(call: Call, attributes: dict[str, Any]) -> Wire:
    (scores, _, _), graph, kind = call.operands, call.graph, _kind(call)
    name, zero = scores.name, graph.constant(np.array(0, kind))
    if 0 in scores.shape:
        return scores
    if attributes.get("apply_softmax", True):
        name = graph.call("Softmax", name, axis=1)
    limit = graph.constant(np.array(attributes.get("threshold", 0.0), kind))
    kept = graph.call("Where", graph.call("GreaterOrEqual", name, limit), name, zero)
    if not attributes.get("keep_background", True):
        first = np.arange(scores.shape[1])[:, None] > 0
        kept = graph.call("Where", graph.constant(first), kept, zero)
    return graph.settle(kept, scores.shape, scores.dtype)


def _boxes(call: Call, attributes: dict[str, Any]) -> Wire:
    (_, places, anchor), graph, kind = call.operands, call.graph, _kind(call)
    batch, count = places.shape[0], anchor.shape[1]
    rows = graph.reshape(places.name, (batch, count, 4))
    variances = graph.constant(np.array(attributes.get("variances", (1, 1, 1, 1)), kind))
    moves = graph.call("Mul", rows, variances)
    x, y, w, h = (_column(call, moves, at) for at in range(4))
    left, top, right, bottom = (_column(call, anchor.name, at) for at in range(4))
    half = graph.constant(np.array(0.5, kind))
    ends = {}
    for name, low, high, move, growth in (("x", left, right, x, w), ("y", top, bottom, y, h)):
        length = graph.call("Sub", high, low)
        middle = graph.call("Mul", graph.call("Add", low, high), half)
        center = graph.call("Add", graph.call("Mul", move, length), middle)
        wide = graph.call("Mul", graph.call("Mul", graph.call("Exp", growth), length), half)
        ends[name] = (graph.call("Sub", center, wide), graph.call("Add", center, wide))
    names = (ends["y"][0], ends["x"][0], ends["y"][1], ends["x"][1])
    corners = graph.call("Concat", *names, axis=2)
    if attributes.get("clip", False):
        limits = (graph.constant(np.array(limit, kind)) for limit in (0, 1))
        corners = graph.call("Clip", corners, *limits)
    return graph.settle(corners, (batch, count, 4), anchor.dtype)


def _column(call: Call, name: str, at: int) -> str:
    return call.graph.call("Gather", name, call.graph.integers([at]), axis=2)
