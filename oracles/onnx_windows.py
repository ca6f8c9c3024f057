"""ONNX nodes for convolutions, poolings and interpolation."""

from collections.abc import Sequence
from math import gcd, prod
from typing import Any

import numpy as np

from oracles.answer import Unsupported, declare
from oracles.onnx_call import Call, Operator
from oracles.onnx_graph import Wire, is_float

OPERATORS: dict[str, Operator] = {}

operator = declare(OPERATORS)


def _list(value: Any, rank: int) -> list[int]:
    return [value] * rank if isinstance(value, int) else list(value) * (rank // len(value) or 1)


def _common(call: Call, size: Sequence[int]) -> tuple[dict[str, Any], tuple[int, ...]]:
    """ONNX's attributes of a sliding window, and the spatial sizes of the result."""
    given, rank = dict(call.node.attributes), len(size)
    strides, dilations = (_list(given.get(name, 1), rank) for name in ("strides", "dilation"))
    pads = _list(given.get("padding", 0), rank)
    if len(pads) == rank:
        pads = pads * 2
    spans = [d * (k - 1) + 1 for d, k in zip(dilations, size, strict=True)]
    sizes = call.operands[0].shape[2:]
    out = tuple(
        (sizes[at] + pads[at] + pads[at + rank] - spans[at]) // strides[at] + 1
        for at in range(rank)
    )
    return {"strides": strides, "pads": pads, "dilations": dilations}, out


def _nothing(call: Call, shape: tuple[int, ...]) -> Wire:
    dtype = call.operands[0].dtype
    kind = np.float64 if dtype == "float64" else np.float32
    zeros = np.zeros(shape, kind if is_float(dtype) else np.int64)
    return Wire(call.graph.constant(zeros), shape, dtype)


def _only_floats(call: Call, dtypes: Sequence[str] = ("float32", "float16", "bfloat16")) -> None:
    if call.operands[0].dtype not in dtypes:
        name, dtype = call.node.operator, call.operands[0].dtype
        raise Unsupported(f"onnxruntime: {name} has no kernel for {dtype}")


def _conv(call: Call) -> Wire:
    x, w = call.operands
    _only_floats(call)
    attributes, out = _common(call, w.shape[2:])
    shape = (x.shape[0], w.shape[0], *out)
    if not prod(x.shape) or not prod(w.shape):
        return _nothing(call, shape)
    groups: Any = call.node.attributes.get("groups", 1)
    name = call.graph.call("Conv", x.name, w.name, group=groups, **attributes)
    return call.graph.settle(name, shape, x.dtype)


def _pool(call: Call, rank: int, onnx_operator: str, **more: Any) -> Wire:
    (x,) = call.operands
    _only_floats(call)
    size = _list(call.node.attributes.get("pool_size", 1), rank)
    attributes, out = _common(call, size)
    shape = (*x.shape[:2], *out)
    if not prod(x.shape):
        return _nothing(call, shape)
    name = call.graph.call(onnx_operator, x.name, kernel_shape=size, **attributes, **more)
    return call.graph.settle(name, shape, x.dtype)


operator("nn.conv1d")(_conv)
operator("nn.conv2d")(_conv)


@operator("nn.max_pool1d")
def _max_pool1d(call: Call) -> Wire:
    return _pool(call, 1, "MaxPool")


@operator("nn.max_pool2d")
def _max_pool2d(call: Call) -> Wire:
    return _pool(call, 2, "MaxPool")


@operator("nn.avg_pool1d")
def _avg_pool1d(call: Call) -> Wire:
    include = call.node.attributes.get("count_include_pad", True)
    return _pool(call, 1, "AveragePool", count_include_pad=int(bool(include)))


@operator("nn.avg_pool2d")
def _avg_pool2d(call: Call) -> Wire:
    include = call.node.attributes.get("count_include_pad", False)
    return _pool(call, 2, "AveragePool", count_include_pad=int(bool(include)))


@operator("nn.adaptive_avg_pool1d")
def _adaptive_avg_pool1d(call: Call) -> Wire:
    return _adaptive(call, 1)


@operator("nn.adaptive_avg_pool2d")
def _adaptive_avg_pool2d(call: Call) -> Wire:
    return _adaptive(call, 2)


def _adaptive(call: Call, rank: int) -> Wire:
    """ONNX has none: the sums of the windows along each axis in turn, divided by their sizes."""
    (x,), graph = call.operands, call.graph
    given = call.node.attributes.get("output_size")
    out = list(x.shape[2:]) if given is None else _list(given, rank)
    shape = (*x.shape[:2], *out)
    if not prod(x.shape):
        return _nothing(call, shape)
    name, counts = x.name, np.ones((1,) * rank)
    for axis, size, places in zip(range(2, 2 + rank), x.shape[2:], out, strict=True):
        at = graph.integers((axis,))
        sums, sizes = [], []
        for place in range(places):
            first, last = place * size // places, ((place + 1) * size + places - 1) // places
            ends = (graph.integers((first,)), graph.integers((last,)))
            sums.append(
                graph.call("ReduceSum", graph.call("Slice", name, *ends, at), at, keepdims=1)
            )
            sizes.append(last - first)
        name = graph.call("Concat", *sums, axis=axis)
        counts = counts * np.reshape(sizes, [places if axis == 2 + n else 1 for n in range(rank)])
    kind = np.float64 if x.dtype == "float64" else np.float32
    mean = graph.call("Div", name, graph.constant(counts.astype(kind)))
    return graph.settle(mean, shape, x.dtype)


@operator("image.resize2d")
def _resize2d(call: Call) -> Wire:
    given: dict[str, Any] = dict(call.node.attributes)
    x, graph = call.operands[0], call.graph
    _only_floats(call)
    if len(call.operands) > 1:
        raise Unsupported("onnxruntime: image.resize2d to a size that is a value")
    shape = (*x.shape[:2], *_list(given["size"], 2))
    if not prod(x.shape):
        return _nothing(call, shape)
    nearest = given.get("method") == "nearest_neighbor"
    if nearest and any(_is_rounded(n, m) for n, m in zip(x.shape[2:], shape[2:], strict=True)):
        raise Unsupported("onnxruntime: Resize divides by a rounded scale")
    more: dict[str, Any] = {"mode": given.get("method", "linear").removesuffix("_neighbor")}
    if more["mode"] == "nearest":
        more["nearest_mode"] = given.get("rounding_method", "round")
    more["coordinate_transformation_mode"] = given.get(
        "coordinate_transformation_mode", "half_pixel"
    )
    # Its shape inference takes a size that is no constant for an empty one.
    size = graph.call("Constant", value_ints=shape)
    name = graph.call("Resize", x.name, "", "", size, **more)
    return graph.settle(name, shape, x.dtype)


def _is_rounded(size: int, places: int) -> bool:
    """Whether ``places / size`` is no float32: a coordinate may then be below a whole number."""
    divisor = size // gcd(size, places)
    return divisor & (divisor - 1) != 0
