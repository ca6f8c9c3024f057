"""ONNX nodes for reductions, running sums and softmax."""

from math import prod
from typing import Any

import numpy as np

from relaxcheck.oracles.limitations import always
from relaxcheck.oracles.onnxruntime.call import Call, Operator, limit, operator
from relaxcheck.oracles.onnxruntime.graph import Graph, Wire, is_float

_NAMES = {"sum": "ReduceSum", "mean": "ReduceMean", "max": "ReduceMax", "min": "ReduceMin",
          "prod": "ReduceProd"}  # fmt: skip


def axes_of(call: Call) -> list[int]:
    """The axes that a node reduces, none negative; all of them where none is given."""
    rank = len(call.operands[0].shape)
    axis: Any = call.node.attributes.get("axis")
    if axis is None:
        return list(range(rank))
    return [at + rank if at < 0 else at for at in ([axis] if isinstance(axis, int) else axis)]


def _shape(call: Call, axes: list[int], keep: bool) -> tuple[int, ...]:
    sizes = enumerate(call.operands[0].shape)
    if keep:
        return tuple(1 if at in axes else n for at, n in sizes)
    return tuple(n for at, n in sizes if at not in axes)


def reduce(call: Call, onnx_operator: str, name: str, axes: list[int], keep: bool) -> str:
    """``name`` reduced over ``axes``."""
    at = call.graph.integers(axes)
    # No axes are no axes here, not all of them.
    return call.graph.call(
        onnx_operator, name, at, keepdims=int(keep), noop_with_empty_axes=int(not axes)
    )


def _reduced(onnx_operator: str) -> Operator:
    def reduced(call: Call) -> Wire:
        keep = bool(call.node.attributes.get("keepdims", False))
        return over(call, onnx_operator, axes_of(call), keep)

    return reduced


def over(call: Call, onnx_operator: str, axes: list[int], keep: bool) -> Wire:
    """The first operand of ``call``, reduced over ``axes``."""
    x = call.operands[0]
    shape = _shape(call, axes, keep)
    if 0 in x.shape and 0 not in shape and onnx_operator in ("ReduceSum", "ReduceProd"):
        # The kernel's result over nothing: left to the definition.
        kind = np.float64 if x.dtype == "float64" else np.float32
        start = float(onnx_operator == "ReduceProd")
        held = np.full(shape, start, kind if is_float(x.dtype) else np.int64)
        return Wire(call.graph.constant(held), shape, x.dtype)
    if onnx_operator == "ReduceProd" and not is_float(x.dtype):
        return _folded("Mul", call.graph, x, axes, shape)
    if onnx_operator == "ReduceSum" and x.dtype == "int64":
        return _folded("Add", call.graph, x, axes, shape)
    return call.graph.settle(reduce(call, onnx_operator, x.name, axes, keep), shape, x.dtype)


def _folded(binary: str, graph: Graph, x: Wire, axes: list[int], shape: tuple[int, ...]) -> Wire:
    """Integers reduced by ``binary``, which wraps around each time.

    ReduceProd ends at the largest int64 where a product is beyond it; ReduceSum adds int64 in
    float64.
    """
    others = [axis for axis in range(len(x.shape)) if axis not in axes]
    turned = graph.call("Transpose", x.name, perm=(*others, *axes)) if x.shape else x.name
    rows, count = (prod(x.shape[axis] for axis in each) for each in (others, axes))
    name, last = graph.reshape(turned, (rows, count)), graph.integers((1,))

    def part(first: int, end: int) -> str:
        return graph.call("Slice", name, graph.integers((first,)), graph.integers((end,)), last)

    while count > 1:
        half = count // 2
        pairs = graph.call(binary, part(0, half), part(half, 2 * half))
        pairs = graph.settle(pairs, (rows, half), x.dtype).name
        if count % 2:
            pairs = graph.call("Concat", pairs, part(count - 1, count), axis=1)
        name, count = pairs, half + count % 2
    return Wire(graph.reshape(name, shape), shape, x.dtype)


for _name, _called in _NAMES.items():
    operator(_name)(_reduced(_called))


def _variance_of(call: Call, keep: bool) -> str:
    graph, (x,), axes = call.graph, call.operands, axes_of(call)
    apart = graph.call("Sub", x.name, reduce(call, "ReduceMean", x.name, axes, True))
    return reduce(call, "ReduceMean", graph.call("Mul", apart, apart), axes, keep)


@operator("variance")
def _variance(call: Call) -> Wire:
    keep = bool(call.node.attributes.get("keepdims", False))
    shape = _shape(call, axes_of(call), keep)
    return call.graph.settle(_variance_of(call, keep), shape, call.operands[0].dtype)


@operator("std")
def _std(call: Call) -> Wire:
    keep = bool(call.node.attributes.get("keepdims", False))
    shape = _shape(call, axes_of(call), keep)
    root = call.graph.call("Sqrt", _variance_of(call, keep))
    return call.graph.settle(root, shape, call.operands[0].dtype)


def _placed(onnx_operator: str) -> Operator:
    def placed(call: Call) -> Wire:
        (x,), keep = call.operands, bool(call.node.attributes.get("keepdims", False))
        axis: Any = call.node.attributes.get("axis")
        name = x.name
        if axis is None:
            name, axis = call.graph.reshape(name, (prod(x.shape),)), 0
            shape: tuple[int, ...] = (1,) * len(x.shape) if keep else ()
        else:
            axis %= len(x.shape)
            shape = _shape(call, [axis], keep)
        place = call.graph.call(onnx_operator, name, axis=axis, keepdims=1)
        return Wire(call.graph.reshape(place, shape), shape, "int64")

    return placed


operator("argmax")(_placed("ArgMax"))
operator("argmin")(_placed("ArgMin"))


@operator("cumsum")
def _cumsum(call: Call) -> Wire:
    attributes: dict[str, Any] = dict(call.node.attributes)
    x = call.graph.cast(call.operands[0], attributes.get("dtype") or call.operands[0].dtype)
    axis, name, shape = attributes.get("axis"), x.name, x.shape
    if axis is None:
        shape = (prod(x.shape),)
        axis, name = 0, call.graph.reshape(name, shape)
    at = call.graph.constant(np.array(axis))
    summed = call.graph.call("CumSum", name, at, exclusive=int(bool(attributes.get("exclusive"))))
    return call.graph.settle(summed, shape, x.dtype)


limit("cumprod", always(), "ONNX has no running product")


@operator("nn.softmax")
def _softmax(call: Call) -> Wire:
    return _along(call, "Softmax")


@operator("nn.log_softmax")
def _log_softmax(call: Call) -> Wire:
    return _along(call, "LogSoftmax")


def _along(call: Call, onnx_operator: str) -> Wire:
    (x,) = call.operands
    if not prod(x.shape):
        return x
    axis: Any = call.node.attributes.get("axis", -1)
    return call.graph.settle(call.graph.call(onnx_operator, x.name, axis=axis), x.shape, x.dtype)
