"""ONNX nodes for the parametric rectified linear unit."""

from typing import Any

from relaxcheck.oracles.onnxruntime.call import Call, operator
from relaxcheck.oracles.onnxruntime.graph import Wire
from relaxcheck.oracles.onnxruntime.operators.elementwise import number


@operator("nn.prelu")
def _prelu(call: Call) -> Wire:
    (x, alpha), graph = call.operands, call.graph
    axis: Any = call.node.attributes.get("axis", 1)
    shape = [1] * len(x.shape)
    shape[axis] = alpha.shape[0]
    slope = graph.reshape(alpha.name, shape)
    if x.dtype != "float64":
        return graph.settle(graph.call("PRelu", x.name, slope), x.shape, x.dtype)
    # PRelu has no kernel for float64.
    above = graph.call("Greater", x.name, number(call, 0, x.dtype))
    product = graph.call("Mul", x.name, slope)
    return Wire(graph.call("Where", above, x.name, product), x.shape, x.dtype)
