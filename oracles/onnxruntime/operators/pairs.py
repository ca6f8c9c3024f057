"""ONNX nodes for ``log_add_exp``, ``mod`` and ``ewise_fma``."""

import numpy as np

from relaxcheck.oracles.limitations import always
from relaxcheck.oracles.onnxruntime.call import Call, limit, operator
from relaxcheck.oracles.onnxruntime.graph import Wire, is_float

limit("atan2", always(), "ONNX has no angle of a point")


@operator("log_add_exp")
def _log_add_exp(call: Call) -> Wire:
    graph = call.graph
    shape = np.broadcast_shapes(*(each.shape for each in call.operands))
    stacked = [
        graph.call("Expand", each.name, graph.integers((1, *shape))) for each in call.operands
    ]
    whole = graph.call("Concat", *stacked, axis=0)
    name = graph.call("ReduceLogSumExp", whole, graph.integers([0]), keepdims=0)
    return graph.settle(name, shape, call.operands[0].dtype)


@operator("ewise_fma")
def _multiply_add(call: Call) -> Wire:
    x, factor, term = call.operands
    name = call.graph.call("Add", call.graph.call("Mul", x.name, factor.name), term.name)
    return call.graph.settle(name, x.shape, x.dtype)


@operator("mod")
def _mod(call: Call) -> Wire:
    x, y = call.operands
    graph = call.graph
    if not is_float(x.dtype):
        # No result is looked at where the divisor is 0.
        zero, unit = (graph.constant(np.array(each)) for each in (0, 1))
        divisor = graph.call("Where", graph.call("Equal", y.name, zero), unit, y.name)
        # fmod=1 goes through double; Div truncates.
        whole = graph.call("Mul", graph.call("Div", x.name, divisor), divisor)
        name = graph.call("Sub", x.name, whole)
    else:
        name = graph.call("Mod", x.name, y.name, fmod=1)
    return graph.settle(name, np.broadcast_shapes(x.shape, y.shape), x.dtype)
