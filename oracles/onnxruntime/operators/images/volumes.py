"""ONNX nodes for the interpolation of volumes."""

from math import prod
from typing import Any

import numpy as np

from relaxcheck.oracles.limitations import When
from relaxcheck.oracles.onnxruntime.call import Call, limit, operator
from relaxcheck.oracles.onnxruntime.graph import Wire

_NAME = "image.resize3d"
_NARROW = ("float32", "float16", "bfloat16")


def _sizes(attributes: Any) -> list[int]:
    size: Any = attributes["size"]
    return [size] * 3 if isinstance(size, int) else list(size) * (3 // len(size))


limit(
    _NAME,
    When("float64 or an integer", lambda call: call.operands[0].dtype not in _NARROW),
    "ONNX Runtime has no kernel for float64 and integers",
)
limit(
    _NAME,
    When("rounding_method round", lambda call: _rounding(call.attributes) == "round"),
    "Resize has no such rounding",
)


def _rounding(attributes: Any) -> str:
    if attributes.get("method", "linear") != "nearest_neighbor":
        return ""
    asymmetric = attributes.get("coordinate_transformation_mode") == "asymmetric"
    return str(attributes.get("rounding_method") or ("floor" if asymmetric else "round"))


@operator(_NAME)
def _resize3d(call: Call) -> Wire:
    attributes: dict[str, Any] = dict(call.node.attributes)
    (x,), graph, sizes = call.operands, call.graph, _sizes(attributes)
    last = attributes.get("layout", "NCDHW") == "NDHWC"
    name, shape = x.name, x.shape
    if last:
        name, shape = graph.call("Transpose", name, perm=(0, 4, 1, 2, 3)), (shape[0], shape[4])
    shape = (*shape[:2], *sizes)
    laid = (shape[0], *sizes, shape[1]) if last else shape
    if not prod(x.shape):
        return Wire(graph.constant(np.zeros(laid, np.float32)), laid, x.dtype)
    nearest = attributes.get("method", "linear") == "nearest_neighbor"
    more: dict[str, Any] = {"nearest_mode": _rounding(attributes)} if nearest else {}
    # As a constant, its shape inference takes the size for what it is.
    size = graph.call("Constant", value_ints=shape)
    resized = graph.call(
        *("Resize", name, "", "", size),
        mode="nearest" if nearest else "linear",
        coordinate_transformation_mode=attributes.get(
            "coordinate_transformation_mode", "half_pixel"
        ),
        **more,
    )
    if last:
        resized = graph.call("Transpose", resized, perm=(0, 2, 3, 4, 1))
    return graph.settle(resized, laid, x.dtype)
