"""ONNX nodes for convolutions and poolings."""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from relaxcheck.oracles import limitations
from relaxcheck.oracles.limitations import When
from relaxcheck.oracles.onnxruntime.call import Call, limit, operator
from relaxcheck.oracles.onnxruntime.graph import Wire, is_float
from relaxcheck.oracles.onnxruntime.layouts import pack, unpack


def listed(value: Any, rank: int) -> list[int]:
    """``value``, a number or a list, as a list of ``rank``."""
    return [value] * rank if isinstance(value, int) else list(value) * (rank // len(value) or 1)


def window(
    call: Call, size: Sequence[int], sizes: Sequence[int]
) -> tuple[dict[str, Any], tuple[int, ...]]:
    """ONNX's attributes of a window of ``size`` that slides over ``sizes``, and its places."""
    attributes, rank = dict(call.node.attributes), len(size)
    strides, dilations = (listed(attributes.get(name, 1), rank) for name in ("strides", "dilation"))
    pads = listed(attributes.get("padding", 0), rank)
    if len(pads) == rank:
        pads = pads * 2
    spans = [d * (k - 1) + 1 for d, k in zip(dilations, size, strict=True)]
    out = tuple(
        (sizes[at] + pads[at] + pads[at + rank] - spans[at]) // strides[at] + 1
        for at in range(rank)
    )
    return {"strides": strides, "pads": pads, "dilations": dilations}, out


def nothing(call: Call, shape: tuple[int, ...], dtype: str) -> Wire:
    """Zeros of ``shape``."""
    kind = np.float64 if dtype == "float64" else np.float32
    zeros = np.zeros(shape, kind if is_float(dtype) else np.int64)
    return Wire(call.graph.constant(zeros), shape, dtype)


_STORED_AS_FLOAT = ("float32", "float16", "bfloat16")


def _is_no_float32(call: limitations.Call) -> bool:
    dtype = call.attributes.get("out_dtype") or call.operands[0].dtype
    return dtype not in _STORED_AS_FLOAT


_RANKS = (1, 2, 3)

for _name in (f"nn.{each}{rank}d" for each in ("conv", "avg_pool") for rank in _RANKS):
    limit(
        _name,
        When("float64 or an integer", _is_no_float32),
        "ONNX Runtime has no kernel for float64 and integers",
    )
for _name in (f"nn.max_pool{rank}d" for rank in _RANKS):
    limit(
        _name,
        When("an integer", lambda call: not is_float(call.operands[0].dtype)),
        "ONNX Runtime has no kernel for integers of more than 8 bits",
    )


def _conv(spatial: str) -> Callable[[Call], Wire]:
    def convolved(call: Call) -> Wire:
        options, graph = dict[str, Any](call.node.attributes), call.graph
        layout, dtype = options.get("data_layout", f"NC{spatial}"), options.get("out_dtype")
        dtype = dtype or call.operands[0].dtype
        data, kernel = (graph.cast(each, dtype) for each in call.operands)
        x = unpack(graph, data, layout, f"NC{spatial}")
        w = unpack(graph, kernel, options.get("kernel_layout", f"OI{spatial}"), f"OI{spatial}")
        attributes, out = window(call, w.shape[2:], x.shape[2:])
        shape = (x.shape[0], w.shape[0], *out)
        if not prod(x.shape) or not prod(w.shape):
            convolution = nothing(call, shape, dtype)
        else:
            groups = options.get("groups", 1)
            name = graph.call("Conv", x.name, w.name, group=groups, **attributes)
            convolution = Wire(name, shape, dtype)
        laid = pack(graph, convolution, options.get("out_layout", layout), f"NC{spatial}")
        return graph.settle(laid.name, laid.shape, dtype)

    return convolved


def _pool(call: Call, rank: int, onnx_operator: str, **more: Any) -> Wire:
    (x,) = call.operands
    size = listed(call.node.attributes.get("pool_size", 1), rank)
    attributes, out = window(call, size, x.shape[2:])
    shape = (*x.shape[:2], *out)
    if not prod(x.shape):
        return nothing(call, shape, x.dtype)
    name = call.graph.call(onnx_operator, x.name, kernel_shape=size, **attributes, **more)
    return call.graph.settle(name, shape, x.dtype)


operator("nn.conv1d")(_conv("W"))
operator("nn.conv2d")(_conv("HW"))
operator("nn.conv3d")(_conv("DHW"))


@operator("nn.max_pool1d")
def _max_pool1d(call: Call) -> Wire:
    return _pool(call, 1, "MaxPool")


@operator("nn.max_pool2d")
def _max_pool2d(call: Call) -> Wire:
    return _pool(call, 2, "MaxPool")


@operator("nn.max_pool3d")
def _max_pool3d(call: Call) -> Wire:
    return _pool(call, 3, "MaxPool")


@operator("nn.avg_pool1d")
def _avg_pool1d(call: Call) -> Wire:
    include = call.node.attributes.get("count_include_pad", True)
    return _pool(call, 1, "AveragePool", count_include_pad=int(bool(include)))


@operator("nn.avg_pool2d")
def _avg_pool2d(call: Call) -> Wire:
    include = call.node.attributes.get("count_include_pad", False)
    return _pool(call, 2, "AveragePool", count_include_pad=int(bool(include)))


@operator("nn.avg_pool3d")
def _avg_pool3d(call: Call) -> Wire:
    include = call.node.attributes.get("count_include_pad", True)
    return _pool(call, 3, "AveragePool", count_include_pad=int(bool(include)))


@operator("nn.adaptive_avg_pool1d")
def _adaptive_avg_pool1d(call: Call) -> Wire:
    return _adaptive(call, 1)


@operator("nn.adaptive_avg_pool2d")
def _adaptive_avg_pool2d(call: Call) -> Wire:
    return _adaptive(call, 2)


@operator("nn.adaptive_avg_pool3d")
def _adaptive_avg_pool3d(call: Call) -> Wire:
    return _adaptive(call, 3)


def _adaptive(call: Call, rank: int) -> Wire:
    """ONNX has none: the sums of the windows along each axis in turn, divided by their sizes."""
    (x,), graph = call.operands, call.graph
    wanted = call.node.attributes.get("output_size")
    out = list(x.shape[2:]) if wanted is None else listed(wanted, rank)
    shape = (*x.shape[:2], *out)
    if not prod(x.shape):
        return nothing(call, shape, call.operands[0].dtype)
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
