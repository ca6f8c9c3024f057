"""ONNX nodes for tables of vectors."""

from typing import Any

from relaxcheck.oracles.onnxruntime.call import Call, operator
from relaxcheck.oracles.onnxruntime.graph import Wire


@operator("outer")
def _outer(call: Call) -> Wire:
    a, b = call.operands
    column = call.graph.call("Unsqueeze", a.name, call.graph.integers([1]))
    product = call.graph.call("Mul", column, b.name)
    return call.graph.settle(product, (*a.shape, *b.shape), a.dtype)


@operator("meshgrid")
def _meshgrid(call: Call) -> Wire:
    attributes: dict[str, Any] = dict(call.node.attributes)
    item, graph = attributes["item"], call.graph
    sizes = [each.shape[0] for each in call.operands]
    x = call.operands[item]
    axes = [axis for axis in range(len(sizes)) if axis != item]
    line = graph.call("Unsqueeze", x.name, graph.integers(axes)) if axes else x.name
    wide = graph.call("Expand", line, graph.integers(sizes))
    if attributes.get("indexing", "ij") == "ij" or len(sizes) < 2:
        return Wire(wide, tuple(sizes), x.dtype)
    order = (1, 0, *range(2, len(sizes)))
    turned = graph.call("Transpose", wide, perm=order)
    return Wire(turned, tuple(sizes[axis] for axis in order), x.dtype)
