"""ONNX nodes for transformations of layouts: Gather from the elements and one of padding."""

from math import prod
from typing import Any

import numpy as np

from relaxcheck.generators.core.attributes import index_map_of
from relaxcheck.generators.core.dims import fold
from relaxcheck.oracles.onnxruntime.call import Call, operator
from relaxcheck.oracles.onnxruntime.graph import Wire, is_float


@operator("layout_transform")
def _layout_transform(call: Call) -> Wire:
    (x,), attributes, graph = call.operands, dict[str, Any](call.node.attributes), call.graph
    index_map = index_map_of(attributes["index_map"])
    ends = dict(zip(index_map.names, x.shape, strict=True))
    shape = tuple(_end(result, ends) for result in index_map.results)
    count = prod(x.shape)
    # The element behind the last one is that of padding.
    origins = np.full(shape, count, np.int64)
    for at, element in enumerate(np.ndindex(x.shape)):
        origins[index_map.places(dict(zip(index_map.names, element, strict=True)))] = at
    kind = np.float64 if x.dtype == "float64" else np.float32
    pad = np.array([attributes.get("pad_value") or 0], kind if is_float(x.dtype) else np.int64)
    flat = graph.reshape(x.name, (count,))
    elements = graph.call("Concat", flat, graph.constant(pad), axis=0)
    name = graph.call("Gather", elements, graph.constant(origins), axis=0)
    return graph.settle(name, shape, x.dtype)


def _end(result: str, ends: dict[str, int]) -> int:
    """The number of indices that ``result`` has a place for."""

    def binary(sign: str, left: int, right: int) -> int:
        # Of what is right only a multiplier or divisor is written as a number.
        match sign:
            case "*":
                return (left - 1) * (right - 1) + 1
            case "//":
                return (left - 1) // (right - 1) + 1
            case "%":
                return right - 1
        return left + right - 1

    # A number is the only value of itself: one less than its end.
    return fold(result, lambda value: value + 1, ends.__getitem__, binary)
