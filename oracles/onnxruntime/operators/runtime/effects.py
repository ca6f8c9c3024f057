"""Calls with an effect, which ONNX lacks: each stands for its last operand."""

from relaxcheck.oracles.onnxruntime.call import Call, operator
from relaxcheck.oracles.onnxruntime.graph import Wire


@operator("print")
def _print(call: Call) -> Wire:
    return call.operands[-1]


@operator("assert_op")
def _assert_op(call: Call) -> Wire:
    return call.operands[-1]
