"""ONNX nodes for transposed convolutions."""

from math import prod

import numpy as np
from numpy.typing import NDArray

from relaxcheck.oracles.onnxruntime import attributes
from relaxcheck.oracles.onnxruntime.call import Call, operator
from relaxcheck.oracles.onnxruntime.graph import Graph, Wire, is_float, stored_type
from relaxcheck.oracles.onnxruntime.layouts import pack, unpack


@operator("nn.conv1d_transpose")
def _conv1d_transpose(call: Call) -> Wire:
    return _conv_transpose("W", call)


@operator("nn.conv2d_transpose")
def _conv2d_transpose(call: Call) -> Wire:
    return _conv_transpose("HW", call)


@operator("nn.conv3d_transpose")
def _conv3d_transpose(call: Call) -> Wire:
    return _conv_transpose("DHW", call)


def _conv_transpose(spatial: str, call: Call) -> Wire:
    attrs = attributes.conv_transpose(call.node, spatial, call.operands[0].dtype)
    graph, dtype = call.graph, attrs.dtype
    data, kernel = (graph.cast(each, dtype) for each in call.operands)
    x = unpack(graph, data, attrs.data, f"NC{spatial}")
    w = unpack(graph, kernel, attrs.kernel, f"IO{spatial}")
    shape = attrs.output_shape(x.shape, w.shape)
    if 0 in shape or 0 in x.shape or 0 in w.shape:
        # No products are summed: all is zero.
        name = graph.call("Cast", graph.constant(np.zeros(shape, np.int64)), to=stored_type(dtype))
    elif is_float(dtype) and dtype != "float64":
        name = graph.call(
            "ConvTranspose",
            x.name,
            w.name,
            strides=attrs.strides,
            pads=attrs.pads,
            dilations=attrs.dilations,
            output_padding=attrs.output_padding,
            group=attrs.group,
        )
    else:
        name = _scatter(graph, attrs, x, w, shape[2:])
    packed = pack(graph, Wire(name, shape, dtype), attrs.out, f"NC{spatial}")
    return graph.settle(packed.name, packed.shape, dtype)


def _scatter(
    graph: Graph, attrs: attributes.ConvTranspose, x: Wire, w: Wire, out: tuple[int, ...]
) -> str:
    """A transposed convolution of canonical operands from MatMul and ScatterND.

    ConvTranspose has no kernel for float64 and integers. All products come from one MatMul a
    group; their sums from adding them into the output, one more cell taking what is cropped.
    """
    batch, channels, *size = x.shape
    wide, *taps = w.shape[1:]
    groups, inner = attrs.group, channels // attrs.group
    places, tap_count = prod(size), prod(taps)
    columns = graph.reshape(x.name, (batch, groups, inner, places))
    kernel = graph.reshape(w.name, (groups, inner, wide * tap_count))
    turned = graph.call("Transpose", kernel, perm=(0, 2, 1))
    products = graph.call("MatMul", turned, columns)
    products = graph.reshape(products, (batch * groups * wide, tap_count, places))
    updates = graph.reshape(
        graph.call("Transpose", products, perm=(1, 2, 0)),
        (tap_count * places, batch * groups * wide),
    )
    cells = _cells(attrs, tuple(size), tuple(taps), out).reshape(-1, 1)
    dtype = np.float64 if is_float(attrs.dtype) else np.int64
    empty = graph.constant(np.zeros((prod(out) + 1, batch * groups * wide), dtype))
    sums = graph.call("ScatterND", empty, graph.constant(cells), updates, reduction="add")
    kept = graph.call("Slice", sums, graph.integers((0,)), graph.integers((prod(out),)))
    return graph.reshape(graph.call("Transpose", kept, perm=(1, 0)), (batch, groups * wide, *out))


def _cells(
    attrs: attributes.ConvTranspose,
    size: tuple[int, ...],
    taps: tuple[int, ...],
    out: tuple[int, ...],
) -> NDArray[np.int64]:
    """The flat output cell of each (tap, input position); ``prod(out)`` where it is cropped."""
    rank = len(out)
    cells = np.zeros((*taps, *size), np.int64)
    kept = np.ones((*taps, *size), np.bool_)
    for axis in range(rank):
        along_tap = np.arange(taps[axis]).reshape(-1, *[1] * (2 * rank - axis - 1))
        along_size = np.arange(size[axis]).reshape(-1, *[1] * (rank - axis - 1))
        place = along_size * attrs.strides[axis] + along_tap * attrs.dilations[axis]
        place = place - attrs.pads[axis]
        kept &= (place >= 0) & (place < out[axis])
        cells = cells * out[axis] + place
    return np.where(kept, cells, prod(out))
