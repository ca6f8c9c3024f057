"""ONNX nodes for triangles and identities."""

from typing import Any

import numpy as np

from relaxcheck.oracles.onnxruntime.call import Call, operator
from relaxcheck.oracles.onnxruntime.graph import Wire, stored_type


def _trilu(call: Call, upper: int) -> Wire:
    (x,), k = call.operands, call.node.attributes.get("k", 0)
    number = call.graph.constant(np.array(k, np.int64))
    return Wire(call.graph.call("Trilu", x.name, number, upper=upper), x.shape, x.dtype)


@operator("tril")
def _tril(call: Call) -> Wire:
    return _trilu(call, 0)


@operator("triu")
def _triu(call: Call) -> Wire:
    return _trilu(call, 1)


def _identity(call: Call, like: str, shape: tuple[int, ...], dtype: str) -> Wire:
    k = call.node.attributes.get("k", 0)
    name = call.graph.call("EyeLike", like, dtype=stored_type(dtype), k=k)
    return Wire(name, shape, dtype)


@operator("eye")
def _eye(call: Call) -> Wire:
    attributes: dict[str, Any] = dict(call.node.attributes)
    sizes = [attributes["n"], attributes.get("m")]
    rows, columns = (each[0] if isinstance(each, tuple) else each for each in sizes)
    shape = (rows, rows if columns is None else columns)
    like = call.graph.constant(np.zeros(shape, np.int64))
    return _identity(call, like, shape, attributes.get("dtype", "float32"))


@operator("eye_like")
def _eye_like(call: Call) -> Wire:
    (x,) = call.operands
    return _identity(call, x.name, x.shape, str(call.node.attributes.get("dtype") or x.dtype))
