"""ONNX nodes for sums that undo a broadcast."""

from typing import Any

from relaxcheck.oracles.onnxruntime.call import Call, operator
from relaxcheck.oracles.onnxruntime.graph import Wire
from relaxcheck.oracles.onnxruntime.operators.reductions import over


@operator("collapse_sum_to")
def _collapse_sum_to(call: Call) -> Wire:
    shape: Any = call.node.attributes["shape"]
    return _collapsed(call, tuple(shape))


@operator("collapse_sum_like")
def _collapse_sum_like(call: Call) -> Wire:
    return _collapsed(call, call.operands[1].shape)


def _collapsed(call: Call, shape: tuple[int, ...]) -> Wire:
    """The axes in front go, those of size 1 stay."""
    x = call.operands[0]
    more = len(x.shape) - len(shape)
    axes = [
        at for at, size in enumerate(x.shape) if at < more or (shape[at - more] == 1 and size != 1)
    ]
    if not axes:
        return x
    wire = over(call, "ReduceSum", axes, keep=False)
    return Wire(call.graph.reshape(wire.name, shape), shape, x.dtype)
