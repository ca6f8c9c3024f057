"""ONNX nodes for scatters, and for reads and writes at places."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from relaxcheck.oracles.limitations import attribute
from relaxcheck.oracles.onnxruntime.call import Call, limit, operator
from relaxcheck.oracles.onnxruntime.graph import Wire

_REDUCTIONS = {"update": "none"}

limit("scatter_elements", attribute("reduction", "mean"), "ScatterElements has no mean")


def _scatter(call: Call, name: str, **attributes: Any) -> Wire:
    data = call.operands[0]
    reduction = str(call.node.attributes.get("reduction", "update"))
    names = (each.name for each in call.operands)
    reduction = _REDUCTIONS.get(reduction, reduction)
    scattered = call.graph.call(name, *names, reduction=reduction, **attributes)
    return call.graph.settle(scattered, data.shape, data.dtype)


@operator("scatter_elements")
def _scatter_elements(call: Call) -> Wire:
    return _scatter(call, "ScatterElements", axis=call.node.attributes.get("axis", 0))


@operator("scatter_nd")
def _scatter_nd(call: Call) -> Wire:
    return _scatter(call, "ScatterND")


def _listed(call: Call, indices: Sequence[Wire]) -> tuple[str, tuple[int, ...]]:
    """Tensors of places broadcast together, as places on a last axis."""
    graph = call.graph
    shape = tuple(np.broadcast_shapes(*(each.shape for each in indices)))
    wide = (graph.call("Expand", each.name, graph.integers(shape)) for each in indices)
    last = graph.integers([len(shape)])
    columns = [graph.call("Unsqueeze", name, last) for name in wide]
    return graph.call("Concat", *columns, axis=len(shape)), shape


@operator("index_tensor")
def _index_tensor(call: Call) -> Wire:
    data, *indices = call.operands
    places, shape = _listed(call, indices)
    name = call.graph.call("GatherND", data.name, places)
    return Wire(name, (*shape, *data.shape[len(indices) :]), data.dtype)


@operator("index_put")
def _index_put(call: Call) -> Wire:
    data, *indices, values = call.operands
    places, shape = _listed(call, indices)
    reduction = "add" if call.node.attributes.get("accumulate", False) else "none"
    # ScatterND does not broadcast its updates.
    whole = call.graph.integers((*shape, *data.shape[len(indices) :]))
    updates = call.graph.call("Expand", values.name, whole)
    name = call.graph.call("ScatterND", data.name, places, updates, reduction=reduction)
    return call.graph.settle(name, data.shape, data.dtype)
