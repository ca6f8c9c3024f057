"""ONNX nodes for orders of elements along an axis."""

from typing import Any

from relaxcheck.generators.core.program import ITEM
from relaxcheck.oracles.onnxruntime.call import Call, operator
from relaxcheck.oracles.onnxruntime.graph import Wire


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
