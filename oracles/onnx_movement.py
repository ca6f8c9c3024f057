"""ONNX nodes for the operators that move, repeat, pick or make elements, and compute nothing.

Sizes are worked out here, as every model is for concrete shapes.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from generators.values import numpy_dtype
from oracles.answer import Unsupported, declare
from oracles.onnx_call import Call, Operator
from oracles.onnx_graph import Wire, is_float, stored_type

OPERATORS: dict[str, Operator] = {}

operator = declare(OPERATORS)

_LEAST = -(2**62)

_BOOL = 9
"""ONNX's number of its element type ``bool``."""


def _given(call: Call) -> dict[str, Any]:
    return dict(call.node.attributes)


def _list(value: Any) -> list[int]:
    return [value] if isinstance(value, int) else list(value)


def _reshaped(call: Call, shape: Sequence[int]) -> Wire:
    x = call.operands[0]
    return Wire(call.graph.reshape(x.name, shape), tuple(shape), x.dtype)


def _target(call: Call) -> list[int]:
    if len(call.operands) > 1:
        # A shape that another node gave: its model is for concrete shapes, and so is this.
        told = call.node.attributes.get("shape")
        if told is None:
            raise Unsupported(f"onnxruntime: {call.node.operator} to a shape that is a value")
        return _list(told)
    return _list(call.node.attributes["shape"])


@operator("reshape")
def _reshape(call: Call) -> Wire:
    shape = _target(call)
    if -1 in shape:
        rest = prod(size for size in shape if size != -1)
        shape[shape.index(-1)] = prod(call.operands[0].shape) // rest if rest else 0
    return _reshaped(call, shape)


@operator("flatten")
def _flatten(call: Call) -> Wire:
    return _reshaped(call, (prod(call.operands[0].shape),))


@operator("squeeze")
def _squeeze(call: Call) -> Wire:
    size = call.operands[0].shape
    axis = call.node.attributes.get("axis")
    gone = [at for at, n in enumerate(size) if n == 1] if axis is None else _list(axis)
    gone = [at + len(size) if at < 0 else at for at in gone]
    return _reshaped(call, [n for at, n in enumerate(size) if at not in gone])


@operator("expand_dims")
def _expand_dims(call: Call) -> Wire:
    x, axes = call.operands[0], _list(_given(call)["axis"])
    name = call.graph.call("Unsqueeze", x.name, call.graph.integers(axes))
    rank = len(x.shape) + len(axes)
    new = {at + rank if at < 0 else at for at in axes}
    old = iter(x.shape)
    return Wire(name, tuple(1 if at in new else next(old) for at in range(rank)), x.dtype)


@operator("broadcast_to")
def _broadcast_to(call: Call) -> Wire:
    x, shape = call.operands[0], _target(call)
    name = call.graph.call("Expand", x.name, call.graph.integers(shape))
    return Wire(name, tuple(shape), x.dtype)


@operator("concat")
def _concat(call: Call) -> Wire:
    axis = _given(call).get("axis", 0) % len(call.operands[0].shape)
    return _joined(call, [each.name for each in call.operands], call.operands, axis)


@operator("stack")
def _stack(call: Call) -> Wire:
    rank = len(call.operands[0].shape) + 1
    axis = _given(call).get("axis", 0) % rank
    at = call.graph.integers((axis,))
    names = [call.graph.call("Unsqueeze", each.name, at) for each in call.operands]
    wires = [
        Wire(name, (*x.shape[:axis], 1, *x.shape[axis:]), x.dtype)
        for name, x in zip(names, call.operands, strict=True)
    ]
    return _joined(call, names, wires, axis)


def _joined(call: Call, names: Sequence[str], wires: Sequence[Wire], axis: int) -> Wire:
    shape = list(wires[0].shape)
    shape[axis] = sum(each.shape[axis] for each in wires)
    return Wire(call.graph.call("Concat", *names, axis=axis), tuple(shape), wires[0].dtype)


@operator("split")
def _split(call: Call) -> Wire:
    given, x = _given(call), call.operands[0]
    axis = given.get("axis", 0) % len(x.shape)
    size, wanted, item = x.shape[axis], given["indices_or_sections"], given["item"]
    if isinstance(wanted, int):
        step = (size + wanted - 1) // wanted
        first, last = step * item, step * (item + 1)
    else:
        first = 0 if item == 0 else wanted[item - 1]
        last = size if item == len(wanted) else wanted[item]
    return _slice(call, [axis], [first], [last], [1])


@operator("flip")
def _flip(call: Call) -> Wire:
    (axis,) = _list(_given(call)["axis"])
    return _slice(call, [axis], [-1], [_LEAST], [-1])


def _slice(
    call: Call,
    axes: Sequence[int],
    begin: Sequence[int],
    end: Sequence[int],
    steps: Sequence[int],
) -> Wire:
    x = call.operands[0]
    lists = [call.graph.integers(each) for each in (begin, end, axes, steps)]
    name = call.graph.call("Slice", x.name, *lists)
    shape = list(x.shape)
    for axis, first, last, step in zip(axes, begin, end, steps, strict=True):
        shape[axis] = len(range(x.shape[axis])[first:last:step])
    return Wire(name, tuple(shape), x.dtype)


@operator("strided_slice")
def _strided_slice(call: Call) -> Wire:
    given = _given(call)
    steps = given.get("strides") or (1,) * len(given["axes"])
    return _slice(call, given["axes"], given["begin"], given["end"], steps)


@operator("dynamic_strided_slice")
def _dynamic_strided_slice(call: Call) -> Wire:
    names = call.node.arguments[1:4]
    if any(name not in call.known for name in names):
        raise Unsupported("onnxruntime: dynamic_strided_slice with computed indices")
    begin, end, steps = (call.known[name].tolist() for name in names)
    return _slice(call, range(len(call.operands[0].shape)), begin, end, steps)


@operator("repeat")
def _repeat(call: Call) -> Wire:
    given, x, graph = _given(call), call.operands[0], call.graph
    count, axis = given["repeats"], given.get("axis")
    shape: tuple[int, ...] = x.shape if axis is not None else (prod(x.shape),)
    at = axis % len(shape) if axis is not None else 0
    before, after = shape[: at + 1], shape[at + 1 :]
    apart = graph.reshape(x.name, (*before, 1, *after))
    wide = graph.call("Expand", apart, graph.integers((*before, count, *after)))
    result = (*before[:-1], before[-1] * count, *after)
    return Wire(graph.reshape(wide, result), result, x.dtype)


@operator("tile")
def _tile(call: Call) -> Wire:
    x, counts = call.operands[0], _list(_given(call)["repeats"])
    rank = max(len(counts), len(x.shape))
    counts = [1] * (rank - len(counts)) + counts
    shape = [1] * (rank - len(x.shape)) + list(x.shape)
    whole = call.graph.reshape(x.name, shape)
    name = call.graph.call("Tile", whole, call.graph.integers(counts))
    return Wire(name, tuple(n * c for n, c in zip(shape, counts, strict=True)), x.dtype)


@operator("take")
def _take(call: Call) -> Wire:
    x, places = call.operands
    axis = (_given(call).get("axis") or 0) % len(x.shape)
    name = call.graph.call("Gather", x.name, places.name, axis=axis)
    return Wire(name, (*x.shape[:axis], *places.shape, *x.shape[axis + 1 :]), x.dtype)


@operator("gather_elements")
def _gather_elements(call: Call) -> Wire:
    x, places = call.operands
    axis = _given(call).get("axis", 0)
    return Wire(
        call.graph.call("GatherElements", x.name, places.name, axis=axis), places.shape, x.dtype
    )


@operator("gather_nd")
def _gather_nd(call: Call) -> Wire:
    x, places = call.operands
    batch = _given(call).get("batch_dims", 0)
    name = call.graph.call("GatherND", x.name, places.name, batch_dims=batch)
    shape = (*places.shape[:-1], *x.shape[batch + places.shape[-1] :])
    if 0 in shape:
        # Its kernel refuses some shapes without elements.
        kind = np.float64 if x.dtype == "float64" else np.float32
        empty = np.zeros(shape, kind if is_float(x.dtype) else np.int64)
        return Wire(call.graph.constant(empty), shape, x.dtype)
    return Wire(name, shape, x.dtype)


@operator("nn.pad")
def _pad(call: Call) -> Wire:
    given, x, graph = _given(call), call.operands[0], call.graph
    width = given["pad_width"]
    modes = {"replicate": "edge", "circular": "wrap"}
    mode = given.get("pad_mode") or "constant"
    shape = tuple(n + b + e for n, b, e in zip(x.shape, width[::2], width[1::2], strict=True))
    if 0 in x.shape and mode != "constant":
        kind = np.float64 if x.dtype == "float64" else np.float32
        empty = np.zeros(shape, kind if is_float(x.dtype) else np.int64)
        return Wire(graph.constant(empty), shape, x.dtype)
    pads = graph.integers((*width[::2], *width[1::2]))
    arguments = [x.name, pads]
    if mode == "constant":
        value = np.array(given.get("pad_value", 0.0)).astype(numpy_dtype(x.dtype))
        stored = np.float64 if x.dtype == "float64" else np.float32
        arguments.append(graph.constant(value.astype(stored if is_float(x.dtype) else np.int64)))
    name = graph.call("Pad", *arguments, mode=modes.get(mode, mode))
    return Wire(name, shape, x.dtype)


@operator("astype")
def _astype(call: Call) -> Wire:
    dtype, x = _given(call)["dtype"], call.operands[0]
    graph = call.graph
    if dtype == "bool":
        zero = graph.call("Cast", graph.constant(np.array(0)), to=stored_type(x.dtype))
        same = graph.call("Not", graph.call("Equal", x.name, zero))
        return Wire(graph.call("Cast", same, to=stored_type("int64")), x.shape, dtype)
    if is_float(x.dtype) and not is_float(dtype):
        whole = graph.call("Cast", x.name, to=stored_type("int64"))
        return graph.settle(whole, x.shape, dtype)
    return graph.cast(x, dtype)


@operator("match_cast")
def _match_cast(call: Call) -> Wire:
    return call.operands[0]


@operator("shape_of")
def _shape_of(call: Call) -> Wire:
    x = call.operands[0]
    return Wire(call.graph.call("Shape", x.name), (len(x.shape),), "int64")


@operator("shape_to_tensor")
def _shape_to_tensor(call: Call) -> Wire:
    return call.operands[0]


@operator("zeros")
def _zeros(call: Call) -> Wire:
    return _filled(call, 0)


@operator("ones")
def _ones(call: Call) -> Wire:
    return _filled(call, 1)


@operator("full")
def _full(call: Call) -> Wire:
    return _filled(call, _given(call)["fill_value"])


def _filled(call: Call, value: float) -> Wire:
    given = _given(call)
    dtype, shape = given["dtype"], tuple(given["shape"])
    kind = np.float64 if is_float(dtype) else np.int64
    one = call.graph.constant(np.array(value).astype(numpy_dtype(dtype)).astype(kind))
    wide = call.graph.call("Expand", one, call.graph.integers(shape))
    return Wire(call.graph.call("Cast", wide, to=stored_type(dtype)), shape, dtype)


@operator("where")
def _where(call: Call) -> Wire:
    condition, a, b = call.operands
    told = call.graph.call("Cast", condition.name, to=_BOOL)
    shape = np.broadcast_shapes(condition.shape, a.shape, b.shape)
    return Wire(call.graph.call("Where", told, a.name, b.name), shape, a.dtype)
