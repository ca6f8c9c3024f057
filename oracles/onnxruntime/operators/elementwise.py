"""ONNX nodes for elementwise operators."""

from typing import Any

import numpy as np

from relaxcheck.oracles.limitations import dtype
from relaxcheck.oracles.onnxruntime.call import Call, Operator, limit, operator
from relaxcheck.oracles.onnxruntime.graph import Wire, is_float, stored_type

_NAMES = {
    "negative": "Neg",
    "abs": "Abs",
    "exp": "Exp",
    "log": "Log",
    "sqrt": "Sqrt",
    "tanh": "Tanh",
    "add": "Add",
    "subtract": "Sub",
    "multiply": "Mul",
    "divide": "Div",
    "maximum": "Max",
    "minimum": "Min",
    "power": "Pow",
}

_COMPARISONS = {
    "equal": "Equal",
    "less": "Less",
    "less_equal": "LessOrEqual",
    "greater": "Greater",
    "greater_equal": "GreaterOrEqual",
}


def _plain(onnx_operator: str) -> Operator:
    def called(call: Call) -> Wire:
        names = [each.name for each in call.operands]
        return _settled(call, call.graph.call(onnx_operator, *names))

    return called


def _settled(call: Call, name: str) -> Wire:
    shape = np.broadcast_shapes(*(each.shape for each in call.operands))
    return call.graph.settle(name, shape, call.operands[0].dtype)


def _compared(onnx_operator: str) -> Operator:
    def called(call: Call) -> Wire:
        return _truth(call, call.graph.call(onnx_operator, *(each.name for each in call.operands)))

    return called


def _truth(call: Call, name: str) -> Wire:
    shape = np.broadcast_shapes(*(each.shape for each in call.operands))
    return Wire(call.graph.call("Cast", name, to=stored_type("int64")), shape, "bool")


for _name, _called in _NAMES.items():
    operator(_name)(_plain(_called))
for _name, _called in _COMPARISONS.items():
    operator(_name)(_compared(_called))


@operator("not_equal")
def _not_equal(call: Call) -> Wire:
    same = call.graph.call("Equal", *(each.name for each in call.operands))
    return _truth(call, call.graph.call("Not", same))


def number(call: Call, value: float, dtype: str) -> str:
    """The name of a scalar of ``dtype``, as it is stored."""
    kind = np.float64 if dtype == "float64" else np.float32
    return call.graph.constant(np.array(value, kind if is_float(dtype) else np.int64))


@operator("nn.relu")
def _relu(call: Call) -> Wire:
    (wire,) = call.operands
    if is_float(wire.dtype):
        return Wire(call.graph.call("Relu", wire.name), wire.shape, wire.dtype)
    zero = call.graph.constant(np.zeros((), np.int64))
    return Wire(call.graph.call("Max", wire.name, zero), wire.shape, wire.dtype)


@operator("rsqrt")
def _rsqrt(call: Call) -> Wire:
    (x,) = call.operands
    root = call.graph.call("Sqrt", x.name)
    return _settled(call, call.graph.call("Div", number(call, 1, x.dtype), root))


@operator("sigmoid")
def _sigmoid(call: Call) -> Wire:
    return _settled(call, _logistic(call))


@operator("nn.silu")
def _silu(call: Call) -> Wire:
    (x,) = call.operands
    return _settled(call, call.graph.call("Mul", x.name, _logistic(call)))


def _logistic(call: Call) -> str:
    """The logistic function by an exponential that does not overflow.

    ONNX Runtime's Sigmoid is off by 6e-8 absolutely, which is all that there is from -17 on.
    """
    (x,) = call.operands
    graph, unit = call.graph, number(call, 1, x.dtype)
    small = graph.call("Exp", graph.call("Neg", graph.call("Abs", x.name)))
    below = graph.call("Less", x.name, number(call, 0, x.dtype))
    above = graph.call("Where", below, small, unit)
    return graph.call("Div", above, graph.call("Add", unit, small))


limit("nn.gelu", dtype("float64"), "Erf has no kernel for float64")
limit("nn.gelu_tanh", dtype("float64"), "Gelu rounds its constants to float32")


@operator("nn.gelu")
def _gelu(call: Call) -> Wire:
    (x,) = call.operands
    graph = call.graph
    inner = graph.call("Erf", graph.call("Mul", x.name, number(call, 0.5**0.5, x.dtype)))
    half = graph.call("Mul", x.name, number(call, 0.5, x.dtype))
    return _settled(
        call, graph.call("Mul", half, graph.call("Add", inner, number(call, 1, x.dtype)))
    )


@operator("nn.gelu_tanh")
def _gelu_tanh(call: Call) -> Wire:
    (x,) = call.operands
    return _settled(call, call.graph.call("Gelu", x.name, approximate="tanh"))


@operator("nn.leakyrelu")
def _leakyrelu(call: Call) -> Wire:
    (x,) = call.operands
    alpha: Any = call.node.attributes.get("alpha", 0.01)
    # The slope by itself: LeakyRelu has no kernel for float64, and its alpha is a float32.
    graph, zero = call.graph, number(call, 0, x.dtype)
    low = graph.call("Mul", graph.call("Min", x.name, zero), number(call, alpha, x.dtype))
    return _settled(call, graph.call("Add", graph.call("Max", x.name, zero), low))


@operator("clip")
def _clip(call: Call) -> Wire:
    (x,) = call.operands
    low: Any = call.node.attributes["min"]
    high: Any = call.node.attributes["max"]
    ends = [number(call, each, x.dtype) for each in (low, high)]
    return _settled(call, call.graph.call("Clip", x.name, *ends))


@operator("floor_mod")
def _floor_mod(call: Call) -> Wire:
    x, y = (each.name for each in call.operands)
    return _settled(call, call.graph.call("Mod", x, _divisor(call, y)))


@operator("floor_divide")
def _floor_divide(call: Call) -> Wire:
    # ONNX divides integers towards zero: one less where that leaves something of another sign than
    # the divisor's, which Mod tells apart from nothing. Nothing overflows on the way.
    graph = call.graph
    x, y = (each.name for each in call.operands)
    y = _divisor(call, y)
    quotient = graph.call("Div", x, y)
    zero = graph.constant(np.zeros((), np.int64))
    left = graph.call("Not", graph.call("Equal", graph.call("Mod", x, y), zero))
    opposite = graph.call("Xor", graph.call("Less", x, zero), graph.call("Less", y, zero))
    correction = graph.call("Cast", graph.call("And", left, opposite), to=stored_type("int64"))
    return _settled(call, graph.call("Sub", quotient, correction))


def _divisor(call: Call, name: str) -> str:
    """``name`` with 1 in place of 0, where no result is looked at."""
    graph = call.graph
    zero, unit = (graph.constant(np.array(each)) for each in (0, 1))
    return graph.call("Where", graph.call("Equal", name, zero), unit, name)
