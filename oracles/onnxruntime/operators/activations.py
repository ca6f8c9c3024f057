"""ONNX nodes for ``nn.selu``, ``nn.softplus`` and ``nn.dropout``."""

from typing import Any

import numpy as np

from relaxcheck.generators.core.program import ITEM
from relaxcheck.oracles.limitations import dtype
from relaxcheck.oracles.onnxruntime.call import Call, limit, operator
from relaxcheck.oracles.onnxruntime.graph import Wire
from relaxcheck.oracles.onnxruntime.operators.elementwise import number

limit("nn.selu", dtype("float64"), "Selu has no kernel for float64")
limit("nn.softplus", dtype("float64"), "Softplus has no kernel for float64")


@operator("nn.selu")
def _selu(call: Call) -> Wire:
    (x,) = call.operands
    return call.graph.settle(call.graph.call("Selu", x.name), x.shape, x.dtype)


@operator("nn.softplus")
def _softplus(call: Call) -> Wire:
    (x,) = call.operands
    graph, attributes = call.graph, call.node.attributes
    beta: Any = attributes.get("beta", 1.0)
    threshold: Any = attributes.get("threshold", 20.0)
    factor = number(call, beta, x.dtype)
    scaled = graph.call("Mul", x.name, factor)
    smooth = graph.call("Div", graph.call("Softplus", scaled), factor)
    above = graph.call("Greater", scaled, number(call, threshold, x.dtype))
    return graph.settle(graph.call("Where", above, x.name, smooth), x.shape, x.dtype)


@operator("nn.dropout")
def _dropout(call: Call) -> Wire:
    (x,) = call.operands
    graph, rate = call.graph, call.node.attributes.get("rate", 0.5)
    if call.node.attributes.get(ITEM, 0) == 0:
        ratio = graph.constant(np.array(rate, np.float32))
        training = graph.constant(np.array(False))
        return Wire(graph.call("Dropout", x.name, ratio, training), x.shape, x.dtype)
    ones = graph.call("Expand", number(call, 1, x.dtype), graph.integers(x.shape))
    return Wire(ones, x.shape, x.dtype)
