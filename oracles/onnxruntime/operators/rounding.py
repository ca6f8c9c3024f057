"""ONNX nodes for roundings to whole numbers, the sign and the square."""

from relaxcheck.oracles.onnxruntime.call import Call, Operator, operator
from relaxcheck.oracles.onnxruntime.graph import Wire, is_float
from relaxcheck.oracles.onnxruntime.operators.elementwise import number

_ROUNDINGS = {"ceil": "Ceil", "floor": "Floor", "round": "Round"}


def _rounding(onnx_operator: str) -> Operator:
    def called(call: Call) -> Wire:
        (x,) = call.operands
        # ONNX rounds no integers.
        return _same(call, call.graph.call(onnx_operator, x.name)) if is_float(x.dtype) else x

    return called


def _same(call: Call, name: str) -> Wire:
    (x,) = call.operands
    return call.graph.settle(name, x.shape, x.dtype)


for _name, _onnx in _ROUNDINGS.items():
    operator(_name)(_rounding(_onnx))


@operator("trunc")
def _trunc(call: Call) -> Wire:
    (x,) = call.operands
    if not is_float(x.dtype):
        return x
    graph = call.graph
    # The sign of x + 1 / x is that of x, of a zero too.
    inverse = graph.call("Div", number(call, 1, x.dtype), x.name)
    sign = graph.call("Sign", graph.call("Add", x.name, inverse))
    return _same(call, graph.call("Mul", sign, graph.call("Floor", graph.call("Abs", x.name))))


@operator("sign")
def _sign(call: Call) -> Wire:
    return _same(call, call.graph.call("Sign", call.operands[0].name))


@operator("square")
def _square(call: Call) -> Wire:
    (x,) = call.operands
    return _same(call, call.graph.call("Mul", x.name, x.name))
