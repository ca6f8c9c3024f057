"""ONNX nodes for truth values and operations on bits."""

import numpy as np
from onnx import TensorProto

from relaxcheck.oracles.onnxruntime.call import Call, Operator, operator
from relaxcheck.oracles.onnxruntime.graph import Wire, is_float, stored_type

_LOGICAL = {
    "logical_not": "Not",
    "logical_and": "And",
    "logical_or": "Or",
    "logical_xor": "Xor",
}

_BITS = {
    "bitwise_not": "BitwiseNot",
    "bitwise_and": "BitwiseAnd",
    "bitwise_or": "BitwiseOr",
    "bitwise_xor": "BitwiseXor",
}


_UNSIGNED = int(TensorProto.UINT64)


def _truth(call: Call, name: str) -> Wire:
    shape = np.broadcast_shapes(*(each.shape for each in call.operands))
    return Wire(call.graph.call("Cast", name, to=stored_type("int64")), shape, "bool")


def _logical(onnx_operator: str) -> Operator:
    def called(call: Call) -> Wire:
        graph = call.graph
        names = [graph.call("Cast", each.name, to=TensorProto.BOOL) for each in call.operands]
        return _truth(call, graph.call(onnx_operator, *names))

    return called


def _bits(onnx_operator: str, logical: Operator) -> Operator:
    def called(call: Call) -> Wire:
        dtype = call.operands[0].dtype
        if dtype == "bool":
            return logical(call)
        shape = np.broadcast_shapes(*(each.shape for each in call.operands))
        name = call.graph.call(onnx_operator, *(each.name for each in call.operands))
        return call.graph.settle(name, shape, dtype)

    return called


for _name, _onnx in _LOGICAL.items():
    operator(_name)(_logical(_onnx))
    _kind = _name.partition("_")[2]
    operator(f"bitwise_{_kind}")(_bits(_BITS[f"bitwise_{_kind}"], _logical(_onnx)))


@operator("left_shift")
def _left_shift(call: Call) -> Wire:
    """ONNX shifts unsigned integers alone: a product with a power of two, which wraps around."""
    (x, by) = call.operands
    return _settled(call, call.graph.call("Mul", x.name, _power_of_two(call, by.name)))


@operator("right_shift")
def _right_shift(call: Call) -> Wire:
    """Two quotients: no power above 2**62 is positive."""
    graph = call.graph
    (x, by) = call.operands
    half = graph.call("Div", by.name, graph.constant(np.array(2)))
    name = x.name
    for part in (half, graph.call("Sub", by.name, half)):
        power = _power_of_two(call, part)
        # Div truncates: what Mod leaves goes first.
        even = graph.call("Sub", name, graph.call("Mod", name, power))
        name = graph.call("Div", even, power)
    return _settled(call, name)


def _power_of_two(call: Call, exponent: str) -> str:
    """2 to the power of ``exponent``, clipped to 0 and 63, in int64."""
    graph = call.graph
    ends = [graph.constant(np.array(each)) for each in (0, 63)]
    by = graph.call("Cast", graph.call("Clip", exponent, *ends), to=_UNSIGNED)
    shifted = graph.call("BitShift", graph.constant(np.array(1, np.uint64)), by, direction="LEFT")
    return graph.call("Cast", shifted, to=stored_type("int64"))


def _settled(call: Call, name: str) -> Wire:
    shape = np.broadcast_shapes(*(each.shape for each in call.operands))
    return call.graph.settle(name, shape, call.operands[0].dtype)


@operator("isnan")
def _isnan(call: Call) -> Wire:
    (x,) = call.operands
    if is_float(x.dtype):
        return _truth(call, call.graph.call("IsNaN", x.name))
    return _truth(call, call.graph.call("Not", call.graph.call("Equal", x.name, x.name)))


@operator("isinf")
def _isinf(call: Call) -> Wire:
    (x,) = call.operands
    if is_float(x.dtype):
        return _truth(call, call.graph.call("IsInf", x.name))
    return _isnan(call)


@operator("isfinite")
def _isfinite(call: Call) -> Wire:
    (x,) = call.operands
    graph = call.graph
    # A finite number minus itself is 0; infinity minus infinity is NaN.
    return _truth(call, graph.call("Equal", graph.call("Sub", x.name, x.name), _zero(call)))


def _zero(call: Call) -> str:
    (x,) = call.operands
    kind = np.float64 if x.dtype == "float64" else np.float32
    return call.graph.constant(np.zeros((), kind if is_float(x.dtype) else np.int64))
