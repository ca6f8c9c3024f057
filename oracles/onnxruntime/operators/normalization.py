"""Normalizations as ONNX nodes: means, differences, roots and products by themselves.

ONNX's own normalization operators have kernels for few dtypes and trailing axes only.
"""

from math import prod
from typing import Any

from relaxcheck.oracles.onnxruntime.call import Call, operator
from relaxcheck.oracles.onnxruntime.graph import Wire
from relaxcheck.oracles.onnxruntime.operators.elementwise import number


def _mean(call: Call, name: str, axes: list[int]) -> str:
    return call.graph.call("ReduceMean", name, call.graph.integers(axes), keepdims=1)


def _moments(call: Call, name: str, axes: list[int]) -> tuple[str, str]:
    """The differences from the mean, and the variance."""
    apart = call.graph.call("Sub", name, _mean(call, name, axes))
    return apart, _mean(call, call.graph.call("Mul", apart, apart), axes)


def _root(call: Call, variance: str, dtype: str) -> str:
    epsilon: Any = call.node.attributes.get("epsilon", 1e-5)
    return call.graph.call("Sqrt", call.graph.call("Add", variance, number(call, epsilon, dtype)))


def _axes(call: Call, default: Any = None) -> list[int]:
    rank = len(call.operands[0].shape)
    axes: Any = call.node.attributes.get("axes", default)
    listed = [axes] if isinstance(axes, int) else list(axes)
    return [axis + rank if axis < 0 else axis for axis in listed]


def _placed(call: Call, wire: Wire, axes: list[int]) -> str:
    """``wire`` over ``axes``, to be broadcast to the data."""
    shape = [1] * len(call.operands[0].shape)
    for axis, size in zip(axes, wire.shape, strict=True):
        shape[axis] = size
    return call.graph.reshape(wire.name, shape)


def _finished(call: Call, name: str, weight: str, bias: str | None) -> Wire:
    x, graph = call.operands[0], call.graph
    scaled = graph.call("Mul", graph.reshape(name, x.shape), weight)
    if bias is not None:
        scaled = graph.call("Add", scaled, bias)
    return graph.settle(scaled, x.shape, x.dtype)


@operator("nn.layer_norm")
def _layer_norm(call: Call) -> Wire:
    x, weight, bias = call.operands
    if not prod(x.shape):
        return x
    axes = _axes(call)
    apart, variance = _moments(call, x.name, axes)
    y = call.graph.call("Div", apart, _root(call, variance, x.dtype))
    return _finished(call, y, _placed(call, weight, axes), _placed(call, bias, axes))


@operator("nn.rms_norm")
def _rms_norm(call: Call) -> Wire:
    x, weight = call.operands
    if not prod(x.shape):
        return x
    axes = _axes(call, -1)
    power = _mean(call, call.graph.call("Mul", x.name, x.name), axes)
    y = call.graph.call("Div", x.name, _root(call, power, x.dtype))
    return _finished(call, y, _placed(call, weight, axes), None)


@operator("nn.group_norm")
def _group_norm(call: Call) -> Wire:
    groups: Any = call.node.attributes["num_groups"]
    return _by_group(call, groups)


@operator("nn.instance_norm")
def _instance_norm(call: Call) -> Wire:
    return _by_group(call, call.operands[0].shape[1])


def _by_group(call: Call, groups: int) -> Wire:
    x, weight, bias = call.operands
    if not prod(x.shape):
        return x
    flat = call.graph.reshape(x.name, (x.shape[0], groups, prod(x.shape) // x.shape[0] // groups))
    apart, variance = _moments(call, flat, [2])
    y = call.graph.call("Div", apart, _root(call, variance, x.dtype))
    return _finished(call, y, _placed(call, weight, [1]), _placed(call, bias, [1]))


@operator("nn.batch_norm")
def _batch_norm(call: Call) -> Wire:
    attributes: dict[str, Any] = dict(call.node.attributes)
    x, weight, bias, mean, variance = call.operands
    axis, graph = attributes["axis"] % len(x.shape), call.graph
    item, training = attributes.get("item", 0), attributes.get("training", True)
    if item == 0 and not prod(x.shape):
        return x
    if training:
        others = [at for at in range(len(x.shape)) if at != axis]
        apart, spread = _moments(call, x.name, others)
    else:
        apart = graph.call("Sub", x.name, _placed(call, mean, [axis]))
        spread = _placed(call, variance, [axis])
    if item == 0:
        y = graph.call("Div", apart, _root(call, spread, x.dtype))
        return _finished(call, y, _placed(call, weight, [axis]), _placed(call, bias, [axis]))
    old = (mean, variance)[item - 1]
    if not training:
        return old
    new = _mean(call, x.name, others) if item == 1 else spread
    share = attributes.get("momentum", 0.1)
    kept = graph.call("Mul", old.name, number(call, 1 - share, x.dtype))
    fresh = graph.call("Mul", graph.reshape(new, old.shape), number(call, share, x.dtype))
    return graph.settle(graph.call("Add", kept, fresh), old.shape, x.dtype)
