"""ONNX nodes for circular and hyperbolic functions, their inverses, and the error function."""

from relaxcheck.oracles.limitations import dtype
from relaxcheck.oracles.onnxruntime.call import Call, Operator, limit, operator
from relaxcheck.oracles.onnxruntime.graph import Wire

_NAMES = {
    "acos": "Acos",
    "acosh": "Acosh",
    "asin": "Asin",
    "asinh": "Asinh",
    "atan": "Atan",
    "atanh": "Atanh",
    "cos": "Cos",
    "cosh": "Cosh",
    "erf": "Erf",
    "sin": "Sin",
    "sinh": "Sinh",
    "tan": "Tan",
}


def _plain(onnx_operator: str) -> Operator:
    def called(call: Call) -> Wire:
        (x,) = call.operands
        return call.graph.settle(call.graph.call(onnx_operator, x.name), x.shape, x.dtype)

    return called


for _name, _onnx in _NAMES.items():
    operator(_name)(_plain(_onnx))
    if _name in ("cos", "sin"):
        limit(_name, dtype("float64"), f"{_onnx} is off by more than 2 units in float64")
    else:
        limit(_name, dtype("float64"), f"{_onnx} has no kernel for float64")
for _name in ("acos", "asin", "atan"):
    # By up to 4.9, 8.4 and 4.1 unit roundoffs, at 4 million numbers each.
    limit(_name, dtype("float32"), f"{_NAMES[_name]} is off by more than 2 units in float32")
