"""ONNX nodes for marks, which compute nothing."""

from relaxcheck.oracles.onnxruntime.call import Call, operator
from relaxcheck.oracles.onnxruntime.graph import Wire


def _same(call: Call) -> Wire:
    (x,) = call.operands
    return Wire(call.graph.call("Identity", x.name), x.shape, x.dtype)


for _name in ("no_grad", "start_checkpoint", "end_checkpoint"):
    operator(f"grad.{_name}")(_same)
