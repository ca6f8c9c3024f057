"""ONNX nodes for the interpolation of images and volumes."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from relaxcheck.oracles.limitations import When
from relaxcheck.oracles.onnxruntime.call import Call, limit, operator
from relaxcheck.oracles.onnxruntime.graph import Graph, Wire

_NAMES = ("image.resize2d", "image.resize3d")
_NARROW = ("float32", "float16", "bfloat16")


def _rounding(name: str, attributes: Mapping[str, Any]) -> str:
    """The rounding that ``attributes`` of the operator ``name`` mean; empty if not nearest."""
    if attributes.get("method", "linear") != "nearest_neighbor":
        return ""
    if name == "image.resize2d":
        return str(attributes.get("rounding_method", "round"))
    asymmetric = attributes.get("coordinate_transformation_mode") == "asymmetric"
    return str(attributes.get("rounding_method") or ("floor" if asymmetric else "round"))


for _name in _NAMES:
    limit(
        _name,
        When("float64 or an integer", lambda call: call.operands[0].dtype not in _NARROW),
        "ONNX Runtime has no kernel for float64 and integers",
    )
    limit(
        _name,
        When(
            "rounding_method round",
            lambda call: _rounding(call.operator, call.attributes) == "round",
        ),
        "Resize has no such rounding",
    )
    limit(
        _name,
        When("a size that is a value", lambda call: len(call.operands) > 1),
        "the size of the result has to be known before it runs",
    )


@operator("image.resize2d")
def _resize2d(call: Call) -> Wire:
    return _resize(call, ("NCHW", "NHWC"))


@operator("image.resize3d")
def _resize3d(call: Call) -> Wire:
    return _resize(call, ("NCDHW", "NDHWC"))


def _resize(call: Call, layouts: tuple[str, str]) -> Wire:
    attributes: dict[str, Any] = dict(call.node.attributes)
    x, graph, rank = call.operands[0], call.graph, len(layouts[0])
    size: Any = attributes["size"]
    sizes = [size] * (rank - 2) if isinstance(size, int) else list(size) * ((rank - 2) // len(size))
    last = attributes.get("layout", layouts[0]) == layouts[1]
    name, shape = x.name, x.shape
    if last:
        front = (0, rank - 1, *range(1, rank - 1))
        name, shape = graph.call("Transpose", name, perm=front), tuple(shape[at] for at in front)
    whole, shape = shape, (*shape[:2], *sizes)
    laid = (shape[0], *sizes, shape[1]) if last else shape
    if not prod(x.shape):
        return Wire(graph.constant(np.zeros(laid, np.float32)), laid, x.dtype)
    way = _way(call.node.operator, attributes)
    if rank == 5 and attributes.get("method") == "cubic":
        resized = _convolved_volume(graph, name, whole, shape, way)
    else:
        resized = _resized(graph, name, shape, way)
    if last:
        resized = graph.call("Transpose", resized, perm=(0, *range(2, rank), 1))
    return graph.settle(resized, laid, x.dtype)


def _resized(graph: Graph, name: str, shape: Sequence[int], way: Mapping[str, Any]) -> str:
    # As a constant, its shape inference takes the size for what it is.
    size = graph.call("Constant", value_ints=tuple(shape))
    return graph.call("Resize", name, "", "", size, **way)


def _convolved_volume(
    graph: Graph, name: str, whole: Sequence[int], shape: Sequence[int], way: Mapping[str, Any]
) -> str:
    """ONNX Runtime convolves images alone: height and width first, then columns of the depth."""
    images, depth, *plane = prod(whole[:2]), *whole[2:]
    depths, *planes = shape[2:]
    name = graph.reshape(name, (images * depth, 1, *plane))
    name = _resized(graph, name, (images * depth, 1, *planes), way)
    name = graph.reshape(name, (images, depth, prod(planes)))
    name = graph.call("Transpose", name, perm=(0, 2, 1))
    columns = images * prod(planes)
    name = graph.reshape(name, (columns, 1, depth, 1))
    name = _resized(graph, name, (columns, 1, depths, 1), way)
    name = graph.reshape(name, (images, prod(planes), depths))
    return graph.reshape(graph.call("Transpose", name, perm=(0, 2, 1)), shape)


def _way(name: str, attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of Resize."""
    method = attributes.get("method", "linear")
    way: dict[str, Any] = {
        "mode": method.removesuffix("_neighbor"),
        "coordinate_transformation_mode": attributes.get(
            "coordinate_transformation_mode", "half_pixel"
        ),
    }
    if method == "nearest_neighbor":
        way["nearest_mode"] = _rounding(name, attributes)
    if method == "cubic":
        way["cubic_coeff_a"] = attributes.get("cubic_alpha", -0.75)
        way["exclude_outside"] = attributes.get("cubic_exclude", 0)
    return way
