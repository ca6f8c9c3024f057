"""ONNX nodes for views of bytes: Reshape and Slice, which keep the dtype."""

from math import prod
from typing import Any

from relaxcheck.generators.core.values import numpy_dtype
from relaxcheck.oracles.answer import Unsupported
from relaxcheck.oracles.limitations import When
from relaxcheck.oracles.onnxruntime.call import Call, limit, operator
from relaxcheck.oracles.onnxruntime.graph import Wire

_WHY = "ONNX has no operator that reads bytes in another dtype"

limit(
    "memory.view",
    When(
        "another dtype",
        lambda call: call.attributes.get("dtype") not in (None, call.operands[0].dtype),
    ),
    _WHY,
)


@operator("memory.view")
def _view(call: Call) -> Wire:
    (x,), attributes, graph = call.operands, dict[str, Any](call.node.attributes), call.graph
    if attributes.get("dtype") not in (None, x.dtype):
        raise Unsupported(f"onnxruntime: {_WHY}")
    shape = attributes.get("shape")
    shape = x.shape if shape is None else tuple(shape)
    begin = attributes.get("relative_byte_offset") or 0
    first, rest = divmod(
        begin[0] if isinstance(begin, tuple) else begin, numpy_dtype(x.dtype).itemsize
    )
    if rest:
        raise Unsupported("onnxruntime: a view that begins within an element")
    flat = graph.reshape(x.name, (prod(x.shape),))
    ends = (graph.integers((each,)) for each in (first, first + prod(shape)))
    return Wire(graph.reshape(graph.call("Slice", flat, *ends), shape), shape, x.dtype)


@operator("memory.ensure_zero_offset")
def _ensure_zero_offset(call: Call) -> Wire:
    return call.operands[0]
