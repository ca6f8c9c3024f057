"""ONNX nodes for ``zeros_like``, ``ones_like`` and ``full_like``."""

from typing import Any

from relaxcheck.oracles.onnxruntime.call import Call, operator
from relaxcheck.oracles.onnxruntime.graph import Wire
from relaxcheck.oracles.onnxruntime.operators.elementwise import number

_FILLED: dict[str, float | None] = {"zeros_like": 0, "ones_like": 1, "full_like": None}


def _declare(name: str, value: float | None) -> None:
    @operator(name)
    def called(call: Call) -> Wire:
        (x,) = call.operands
        attributes: dict[str, Any] = dict(call.node.attributes)
        dtype = attributes.get("dtype") or x.dtype
        filled = attributes["fill_value"] if value is None else value
        shape = call.graph.call("Shape", x.name)
        name = call.graph.call("Expand", number(call, filled, dtype), shape)
        return call.graph.settle(name, x.shape, dtype)


for _name, _value in _FILLED.items():
    _declare(_name, _value)
