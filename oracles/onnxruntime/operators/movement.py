"""ONNX nodes for the operators that move, repeat, pick or make elements, and compute nothing.

Sizes are worked out here, as every model is for concrete shapes.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from relaxcheck.generators.core.values import numpy_dtype
from relaxcheck.oracles.answer import Unsupported
from relaxcheck.oracles.limitations import When
from relaxcheck.oracles.onnxruntime.call import Call, limit, operator
from relaxcheck.oracles.onnxruntime.graph import Wire, is_float, stored_type

_LEAST = -(2**62)

_BOOL = 9
"""ONNX's number of its element type ``bool``."""


def _attributes_of(call: Call) -> dict[str, Any]:
    return dict(call.node.attributes)


def _list(value: Any) -> list[int]:
    return [value] if isinstance(value, int) else list(value)


def _reshaped(call: Call, shape: Sequence[int]) -> Wire:
    x = call.operands[0]
    return Wire(call.graph.reshape(x.name, shape), tuple(shape), x.dtype)


def _target(call: Call) -> list[int]:
    return _list(call.node.attributes["shape"])


for _name in ("reshape", "broadcast_to"):
    limit(
        _name,
        When(
            "a shape that is a value",
            lambda call: len(call.operands) > 1 and call.attributes.get("shape") is None,
        ),
        f"{_name} to a shape that is a value",
    )


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


@operator("nn.batch_flatten")
def _batch_flatten(call: Call) -> Wire:
    (x,) = call.operands
    name = call.graph.call("Flatten", x.name, axis=1)
    return Wire(name, (x.shape[0], prod(x.shape[1:])), x.dtype)


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


@operator("squeeze")
def _squeeze(call: Call) -> Wire:
    size = call.operands[0].shape
    axis = call.node.attributes.get("axis")
    gone = [at for at, n in enumerate(size) if n == 1] if axis is None else _list(axis)
    gone = [at + len(size) if at < 0 else at for at in gone]
    if not gone:
        return _reshaped(call, list(size))
    # A Reshape would not say what is wrong with an axis.
    name = call.graph.call("Squeeze", call.operands[0].name, call.graph.integers(gone))
    shape = tuple(n for at, n in enumerate(size) if at not in gone)
    return Wire(name, shape, call.operands[0].dtype)


@operator("expand_dims")
def _expand_dims(call: Call) -> Wire:
    x, axes = call.operands[0], _list(_attributes_of(call)["axis"])
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
    axis = _attributes_of(call).get("axis", 0) % len(call.operands[0].shape)
    return _joined(call, [each.name for each in call.operands], call.operands, axis)


@operator("stack")
def _stack(call: Call) -> Wire:
    rank = len(call.operands[0].shape) + 1
    axis = _attributes_of(call).get("axis", 0) % rank
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
    attributes, x = _attributes_of(call), call.operands[0]
    axis = attributes.get("axis", 0) % len(x.shape)
    size, wanted, item = x.shape[axis], attributes["indices_or_sections"], attributes["item"]
    if isinstance(wanted, int):
        step = (size + wanted - 1) // wanted
        first, last = step * item, step * (item + 1)
    else:
        first = 0 if item == 0 else wanted[item - 1]
        last = size if item == len(wanted) else wanted[item]
    return _slice(call, [axis], [first], [last], [1])


@operator("flip")
def _flip(call: Call) -> Wire:
    (axis,) = _list(_attributes_of(call)["axis"])
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
    attributes = _attributes_of(call)
    steps = attributes.get("strides") or (1,) * len(attributes["axes"])
    return _slice(call, attributes["axes"], attributes["begin"], attributes["end"], steps)


limit(
    "dynamic_strided_slice",
    When("computed indices", lambda call: any(each.computed for each in call.operands[1:4])),
    "dynamic_strided_slice with computed indices",
)


@operator("dynamic_strided_slice")
def _dynamic_strided_slice(call: Call) -> Wire:
    names = call.node.arguments[1:4]
    begin, end, steps = (call.known[name].tolist() for name in names)
    return _slice(call, range(len(call.operands[0].shape)), begin, end, steps)


@operator("repeat")
def _repeat(call: Call) -> Wire:
    attributes, x, graph = _attributes_of(call), call.operands[0], call.graph
    count, axis = attributes["repeats"], attributes.get("axis")
    shape: tuple[int, ...] = x.shape if axis is not None else (prod(x.shape),)
    at = axis % len(shape) if axis is not None else 0
    before, after = shape[: at + 1], shape[at + 1 :]
    apart = graph.reshape(x.name, (*before, 1, *after))
    wide = graph.call("Expand", apart, graph.integers((*before, count, *after)))
    result = (*before[:-1], before[-1] * count, *after)
    return Wire(graph.reshape(wide, result), result, x.dtype)


@operator("tile")
def _tile(call: Call) -> Wire:
    x, counts = call.operands[0], _list(_attributes_of(call)["repeats"])
    rank = max(len(counts), len(x.shape))
    counts = [1] * (rank - len(counts)) + counts
    shape = [1] * (rank - len(x.shape)) + list(x.shape)
    whole = call.graph.reshape(x.name, shape)
    name = call.graph.call("Tile", whole, call.graph.integers(counts))
    return Wire(name, tuple(n * c for n, c in zip(shape, counts, strict=True)), x.dtype)


@operator("take")
def _take(call: Call) -> Wire:
    x, places = call.operands
    axis = (_attributes_of(call).get("axis") or 0) % len(x.shape)
    name = call.graph.call("Gather", x.name, places.name, axis=axis)
    return Wire(name, (*x.shape[:axis], *places.shape, *x.shape[axis + 1 :]), x.dtype)


@operator("gather_elements")
def _gather_elements(call: Call) -> Wire:
    x, places = call.operands
    axis = _attributes_of(call).get("axis", 0)
    return Wire(
        call.graph.call("GatherElements", x.name, places.name, axis=axis), places.shape, x.dtype
    )


@operator("gather_nd")
def _gather_nd(call: Call) -> Wire:
    x, places = call.operands
    batch = _attributes_of(call).get("batch_dims", 0)
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
    attributes, x, graph = _attributes_of(call), call.operands[0], call.graph
    width = attributes["pad_width"]
    modes = {"replicate": "edge", "circular": "wrap"}
    mode = attributes.get("pad_mode") or "constant"
    shape = tuple(n + b + e for n, b, e in zip(x.shape, width[::2], width[1::2], strict=True))
    if 0 in x.shape and mode != "constant":
        kind = np.float64 if x.dtype == "float64" else np.float32
        empty = np.zeros(shape, kind if is_float(x.dtype) else np.int64)
        return Wire(graph.constant(empty), shape, x.dtype)
    pads = graph.integers((*width[::2], *width[1::2]))
    arguments = [x.name, pads]
    if mode == "constant":
        value = np.array(attributes.get("pad_value", 0.0)).astype(numpy_dtype(x.dtype))
        stored = np.float64 if x.dtype == "float64" else np.float32
        arguments.append(graph.constant(value.astype(stored if is_float(x.dtype) else np.int64)))
    name = graph.call("Pad", *arguments, mode=modes.get(mode, mode))
    return Wire(name, shape, x.dtype)


@operator("astype")
def _astype(call: Call) -> Wire:
    dtype, x = _attributes_of(call)["dtype"], call.operands[0]
    graph = call.graph
    if dtype == "bool":
        zero = graph.call("Cast", graph.constant(np.array(0)), to=stored_type(x.dtype))
        same = graph.call("Not", graph.call("Equal", x.name, zero))
        return Wire(graph.call("Cast", same, to=stored_type("int64")), x.shape, dtype)
    stored, narrow = graph.feeds.get(x.name), dtype not in ("float32", "float64")
    if is_float(dtype) and narrow and stored is not None:
        with np.errstate(invalid="ignore", over="ignore"):
            single = stored.astype(np.float32)
            same = (single.astype(stored.dtype) == stored) | ~np.isfinite(single)
        if not same.all():
            raise Unsupported("onnxruntime: Cast rounds to float32 first, and that rounds twice")
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
    return _filled(call, _attributes_of(call)["fill_value"])


def _filled(call: Call, value: float) -> Wire:
    attributes = _attributes_of(call)
    dtype, shape = attributes["dtype"], tuple(attributes["shape"])
    kind = np.float64 if is_float(dtype) else np.int64
    element = call.graph.constant(np.array(value).astype(numpy_dtype(dtype)).astype(kind))
    wide = call.graph.call("Expand", element, call.graph.integers(shape))
    return Wire(call.graph.call("Cast", wide, to=stored_type(dtype)), shape, dtype)


@operator("where")
def _where(call: Call) -> Wire:
    condition, a, b = call.operands
    mask = call.graph.call("Cast", condition.name, to=_BOOL)
    shape = np.broadcast_shapes(condition.shape, a.shape, b.shape)
    return Wire(call.graph.call("Where", mask, a.name, b.name), shape, a.dtype)
