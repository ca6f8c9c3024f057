"""ONNX nodes for places that are not zero, and for different elements."""

from typing import Any

import numpy as np

from relaxcheck.generators.core.program import ITEM
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.limitations import When
from relaxcheck.oracles.onnxruntime.call import Call, limit, operator
from relaxcheck.oracles.onnxruntime.graph import Wire, stored_type

for _name in ("nonzero", "unique"):
    limit(
        _name,
        When("computed data", lambda call: call.operands[0].computed),
        "the size of the result is worked out from the program's inputs",
    )


def _data(call: Call) -> Array:
    return call.known[call.node.arguments[0]]


def _vector(call: Call) -> str:
    """The operand; of a scalar a vector of one."""
    (x,) = call.operands
    return x.name if x.shape else call.graph.reshape(x.name, (1,))


@operator("nonzero")
def _nonzero(call: Call) -> Wire:
    (x,), graph = call.operands, call.graph
    zero = graph.call("Cast", graph.constant(np.array(0)), to=stored_type(x.dtype))
    # Its own kernels lack float64.
    flags = graph.call("Not", graph.call("Equal", _vector(call), zero))
    count = int(np.count_nonzero(_data(call)))
    return Wire(graph.call("NonZero", flags), (max(len(x.shape), 1), count), "int64")


_ITEMS = ("return_index", "return_inverse", "return_counts")


@operator("unique")
def _unique(call: Call) -> Wire:
    attributes: dict[str, Any] = dict(call.node.attributes)
    (x,), axis = call.operands, attributes.get("axis")
    along = {} if axis is None else {"axis": axis}
    order = int(attributes.get("sorted", True))
    outputs = call.graph.calls("Unique", 4, _vector(call), sorted=order, **along)
    data = _data(call)
    rows = np.atleast_1d(data).ravel() if axis is None else np.moveaxis(data, axis, 0)
    count = len({row.tobytes() for row in rows})
    item = attributes.get(ITEM, 0)
    if not item:
        shape: tuple[int, ...] = (count,)
        if axis is not None:
            shape = tuple(
                count if at == axis % len(x.shape) else size for at, size in enumerate(x.shape)
            )
        return Wire(outputs[0], shape, x.dtype)
    asked = [name for name in _ITEMS if attributes.get(name)][item - 1]
    size = len(rows) if asked == "return_inverse" else count
    return Wire(outputs[1 + _ITEMS.index(asked)], (size,), "int64")
