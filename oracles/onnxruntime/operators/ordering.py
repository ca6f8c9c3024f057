"""ONNX nodes for orders of elements along an axis."""

from math import prod
from typing import Any

from relaxcheck.generators.core.program import ITEM
from relaxcheck.oracles.onnxruntime.call import Call, operator
from relaxcheck.oracles.onnxruntime.graph import Wire, stored_type


@operator("topk")
def _topk(call: Call) -> Wire:
    attributes: dict[str, Any] = dict(call.node.attributes)
    (x,), axis, count = call.operands, attributes.get("axis", -1), attributes.get("k", 1)
    number = count if count > 0 else x.shape[axis]
    shape = list(x.shape)
    shape[axis] = number
    values, places = call.graph.calls(
        "TopK",
        2,
        *(x.name, call.graph.integers([number])),
        axis=axis,
        largest=int(attributes.get("largest", True)),
    )
    result = attributes.get("ret_type", "both")
    if result == "values" or (result == "both" and attributes[ITEM] == 0):
        return call.graph.settle(values, tuple(shape), x.dtype)
    return call.graph.settle(places, tuple(shape), attributes.get("dtype", "int32"))


def _all_in_order(call: Call) -> tuple[str, str]:
    """The values and their places; TopK of as many elements as there are."""
    attributes: dict[str, Any] = dict(call.node.attributes)
    (x,), axis = call.operands, attributes.get("axis", -1)
    largest = int(attributes.get("descending", False))
    count = call.graph.integers([x.shape[axis]])
    values, places = call.graph.calls("TopK", 2, x.name, count, axis=axis, largest=largest)
    return values, places


@operator("sort")
def _sort(call: Call) -> Wire:
    (x,) = call.operands
    return call.graph.settle(_all_in_order(call)[0], x.shape, x.dtype)


@operator("argsort")
def _argsort(call: Call) -> Wire:
    dtype = str(call.node.attributes.get("dtype", "int32"))
    return call.graph.settle(_all_in_order(call)[1], call.operands[0].shape, dtype)


@operator("bucketize")
def _bucketize(call: Call) -> Wire:
    """As many boundaries as are below the element, or not above it."""
    x, boundaries = call.operands
    graph, last = call.graph, call.graph.integers([len(call.operands[0].shape)])
    comparison = "GreaterOrEqual" if call.node.attributes.get("right", False) else "Greater"
    above = graph.call(comparison, graph.call("Unsqueeze", x.name, last), boundaries.name)
    counted = graph.call("Cast", above, to=stored_type("int64"))
    count = graph.call("ReduceSum", counted, last, keepdims=0)
    dtype = "int32" if call.node.attributes.get("out_int32", False) else "int64"
    return Wire(count, x.shape, dtype)


@operator("median")
def _median(call: Call) -> Wire:
    attributes: dict[str, Any] = dict(call.node.attributes)
    (x,), graph, axis = call.operands, call.graph, attributes.get("axis")
    rank, keep = len(x.shape), attributes.get("keepdims", False)
    name, size = x.name, prod(x.shape)
    if axis is None:
        name, along = graph.reshape(name, (size,)), 0
        shape: tuple[int, ...] = (1,) * rank if keep else ()
    else:
        along = (axis if isinstance(axis, int) else axis[0]) % rank
        size = x.shape[along]
        shape = (*x.shape[:along], *((1,) if keep else ()), *x.shape[along + 1 :])
    count = graph.integers([(size - 1) // 2 + 1])
    both = graph.calls("TopK", 2, name, count, axis=along, largest=0)
    item = attributes.get(ITEM, 0)
    last = graph.call("Gather", both[item], graph.integers([(size - 1) // 2]), axis=along)
    return Wire(graph.reshape(last, shape), shape, "int64" if item else x.dtype)
