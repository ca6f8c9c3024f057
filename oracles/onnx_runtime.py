"""The ONNX Runtime oracle: the whole program as one ONNX model at concrete shapes.

Layouts, masks, output sizes and what left-out attributes mean are derived here and in the
``onnx_*`` modules, from nothing that another oracle or the reference uses.
"""

from collections.abc import Mapping
from math import prod

import numpy as np
from numpy.typing import NDArray

from generators.program import Program
from oracles import onnx_attributes as attributes
from oracles import (
    onnx_elementwise,
    onnx_movement,
    onnx_normalization,
    onnx_reductions,
    onnx_windows,
)
from oracles.answer import Array, Unsupported, declare
from oracles.onnx_call import Call, Operator
from oracles.onnx_graph import Graph, Wire, is_float, stored_type
from oracles.onnx_layouts import pack, unpack
from oracles.onnx_masks import visible

_MODERATE = 1e18

OPERATORS: dict[str, Operator] = {
    **onnx_elementwise.OPERATORS,
    **onnx_movement.OPERATORS,
    **onnx_normalization.OPERATORS,
    **onnx_reductions.OPERATORS,
    **onnx_windows.OPERATORS,
}

operator = declare(OPERATORS)


def evaluate(program: Program, arrays: Mapping[str, Array]) -> tuple[Array, ...]:
    """The outputs of ``program`` for the input ``arrays``, in its output dtypes.

    Raises:
        Unsupported: ONNX Runtime cannot evaluate an operator, dtype or shape of the program.

    The program must be valid; the reference refuses one that is not.
    """
    graph = Graph()
    wires: dict[str, Wire] = {}
    for source in program.inputs:
        wires[source.name] = graph.input(source.name, arrays[source.name], source.dtype)
    for node in program.nodes:
        if node.operator not in OPERATORS:
            raise Unsupported(f"onnxruntime: no operator {node.operator}")
        operands = tuple(wires[name] for name in node.arguments)
        wires[node.name] = OPERATORS[node.operator](Call(graph, node, operands, arrays))
    return graph.run([wires[name] for name in program.outputs])


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


@operator("nn.attention")
def _attention(call: Call) -> Wire:
    attrs = attributes.attention(call.node)
    query, key, value, *rest = call.operands
    bias = rest[0] if rest else None
    # ONNX's own causal mask is aligned at the top left. The kernel adds the lowest finite number.
    own = (
        attrs.causal_mask == "TopLeft"
        and attrs.window_size is None
        and query.dtype != "float64"
        and all(_is_moderate(each) for each in call.known.values())
    )
    if own or (attrs.causal_mask is None and attrs.window_size is None):
        return _attend(call.graph, attrs.scale, query, key, value, bias, None, causal=own)
    queries, keys = query.shape[1], key.shape[1]
    starts_q, starts_k = np.array((0, queries)), np.array((0, keys))
    seen = visible(starts_q, starts_k, queries, keys, attrs.causal_mask, attrs.window_size)
    return _attend(call.graph, attrs.scale, query, key, value, bias, seen)


def _is_moderate(array: Array) -> bool:
    """Whether no product of two elements comes near the range of float32."""
    return bool((np.abs(array.astype(np.float64)) <= _MODERATE).all())


@operator("nn.attention_var_len")
def _attention_var_len(call: Call) -> Wire:
    """All sequences at once, under a mask that keeps them apart."""
    attrs = attributes.attention(call.node)
    query, key, value = call.operands[:3]
    names = (call.node.arguments[3], call.node.arguments[5])
    if any(name not in call.known for name in names):
        raise Unsupported("onnxruntime: attention_var_len with computed sequence starts")
    starts_q, starts_k = (call.known[name] for name in names)
    queries, keys = query.shape[1], key.shape[1]
    seen = visible(starts_q, starts_k, queries, keys, attrs.causal_mask, attrs.window_size)
    return _attend(call.graph, attrs.scale, query, key, value, None, seen)


def _attend(
    graph: Graph,
    scale: float | None,
    query: Wire,
    key: Wire,
    value: Wire,
    bias: Wire | None,
    seen: NDArray[np.bool_] | None,
    causal: bool = False,
) -> Wire:
    """Attention of BSNH operands; keys are seen as ``seen`` or ONNX's ``causal`` mask has it."""
    batch, queries, heads, head_dim = query.shape
    keys = key.shape[1]
    shape = (batch, queries, heads, value.shape[3])
    dtype = np.float64 if query.dtype == "float64" else np.float32
    if 0 in shape or keys == 0:
        return Wire(graph.constant(np.zeros(shape, dtype)), shape, query.dtype)
    q = graph.call("Transpose", query.name, perm=(0, 2, 1, 3))
    k, v = (_by_head(graph, each, heads) for each in (key, value))
    mask = None
    if bias is not None:
        # The CPU kernel of Attention does not broadcast every axis of its mask.
        mask = graph.call("Expand", bias.name, graph.integers((batch, heads, queries, keys)))
    if seen is not None:
        hidden = graph.constant(np.where(seen, 0, -np.inf).astype(dtype))
        mask = hidden if mask is None else graph.call("Add", mask, hidden)
    if query.dtype == "float64":
        y = _double_attention(graph, q, k, v, mask, head_dim**-0.5 if scale is None else scale)
    else:
        arguments = [q, k, v] if mask is None else [q, k, v, mask]
        # Without a scale, Attention takes 1 / sqrt(head dim) by itself.
        given = {} if scale is None else {"scale": scale}
        y = graph.call("Attention", *arguments, is_causal=int(causal), **given)
    if seen is not None and not seen.any(axis=1).all():
        sighted = graph.constant(np.asarray(seen.any(axis=1, keepdims=True)))
        y = graph.call("Where", sighted, y, graph.constant(np.zeros((), dtype)))
    return graph.settle(graph.call("Transpose", y, perm=(0, 2, 1, 3)), shape, query.dtype)


def _double_attention(graph: Graph, q: str, k: str, v: str, mask: str | None, factor: float) -> str:
    """Attention in float64 from primitive operators: Attention's ``scale`` is a float32."""
    scores = graph.call("MatMul", q, graph.call("Transpose", k, perm=(0, 1, 3, 2)))
    scores = graph.call("Mul", scores, graph.constant(np.array(factor, np.float64)))
    if mask is not None:
        scores = graph.call("Add", scores, mask)
    return graph.call("MatMul", graph.call("Softmax", scores, axis=-1), v)


def _by_head(graph: Graph, wire: Wire, heads: int) -> str:
    """BSNH to batch, head, sequence, dim; each head repeated for the queries that share it."""
    batch, length, own, dim = wire.shape
    turned = graph.call("Transpose", wire.name, perm=(0, 2, 1, 3))
    if own == heads:
        return turned
    apart = graph.reshape(turned, (batch, own, 1, length, dim))
    shape = (batch, own, heads // own, length, dim)
    repeated = graph.call("Expand", apart, graph.integers(shape))
    return graph.reshape(repeated, (batch, heads, length, dim))


@operator("matmul")
def _matmul(call: Call) -> Wire:
    dtype = call.node.attributes.get("out_dtype") or call.operands[0].dtype
    if not isinstance(dtype, str):
        raise ValueError(f"out_dtype {dtype!r} is not text")
    a, b = (call.graph.cast(each, dtype) for each in call.operands)
    shape = _matmul_shape(a.shape, b.shape)
    return call.graph.settle(call.graph.call("MatMul", a.name, b.name), shape, dtype)


def _matmul_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    outer = np.broadcast_shapes(a[:-2], b[:-2])
    return (*outer, *a[-2:-1], *(b[-1:] if len(b) > 1 else ()))


@operator("add")
def _add(call: Call) -> Wire:
    return _elementwise(call, "Add")


@operator("multiply")
def _multiply(call: Call) -> Wire:
    return _elementwise(call, "Mul")


def _elementwise(call: Call, onnx_operator: str) -> Wire:
    a, b = call.operands
    shape = np.broadcast_shapes(a.shape, b.shape)
    return call.graph.settle(call.graph.call(onnx_operator, a.name, b.name), shape, a.dtype)


@operator("nn.relu")
def _relu(call: Call) -> Wire:
    (wire,) = call.operands
    if is_float(wire.dtype):
        return Wire(call.graph.call("Relu", wire.name), wire.shape, wire.dtype)
    zero = call.graph.constant(np.zeros((), np.int64))
    return Wire(call.graph.call("Max", wire.name, zero), wire.shape, wire.dtype)


@operator("permute_dims")
def _permute_dims(call: Call) -> Wire:
    (wire,) = call.operands
    axes = call.node.attributes.get("axes")
    if axes is None:
        axes = tuple(reversed(range(len(wire.shape))))
    if not isinstance(axes, tuple):
        raise ValueError(f"axes {axes!r} is not a list of integers")
    if not axes:
        # A scalar has no axes, and an ONNX attribute no empty list.
        return wire
    order = tuple(axis % len(wire.shape) for axis in axes)
    name = call.graph.call("Transpose", wire.name, perm=order)
    return Wire(name, tuple(wire.shape[axis] for axis in order), wire.dtype)
