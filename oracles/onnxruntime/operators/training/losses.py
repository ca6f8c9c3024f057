"""ONNX nodes for losses, and the gradient of one."""

from typing import Any

import numpy as np

from relaxcheck.oracles.onnxruntime.call import Call, operator
from relaxcheck.oracles.onnxruntime.graph import Wire, is_float


def _number(value: float, dtype: str) -> np.ndarray[Any, Any]:
    return np.array(value, np.float64 if dtype == "float64" else np.float32)


@operator("nn.cross_entropy_with_logits")
def _cross_entropy(call: Call) -> Wire:
    x, labels = call.operands
    graph = call.graph
    product = graph.call("Mul", x.name, labels.name)
    flat = graph.reshape(product, (int(np.prod(x.shape)),))
    loss = graph.call("Neg", graph.call("ReduceSum", flat, graph.integers((0,)), keepdims=0))
    if len(x.shape) > 1:
        loss = graph.call("Div", loss, graph.constant(_number(x.shape[0], x.dtype)))
    return graph.settle(loss, (), x.dtype)


def _others(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (shape[0], *shape[2:]) if len(shape) > 1 else ()


@operator("nn.nll_loss")
def _nll_loss(call: Call) -> Wire:
    (x, targets, *weights), graph = call.operands, call.graph
    attributes: dict[str, Any] = dict(call.node.attributes)
    reduction = attributes.get("reduction", "mean")
    others, names = _others(x.shape), [x.name, targets.name]
    if len(x.shape) == 1:
        # ONNX wants a batch.
        names = [graph.reshape(x.name, (1, *x.shape)), graph.reshape(targets.name, (1,))]
    name = graph.call(
        "NegativeLogLikelihoodLoss",
        *(*names, *(each.name for each in weights)),
        ignore_index=attributes.get("ignore_index", -100),
        reduction=reduction,
    )
    shape = others if reduction == "none" else ()
    return graph.settle(graph.reshape(name, shape), shape, x.dtype)


@operator("grad.nll_loss_backward")
def _nll_loss_backward(call: Call) -> Wire:
    """ONNX has none: the gradient of each target where the class is its own, else 0."""
    (gradient, x, targets, *weights), graph = call.operands, call.graph
    attributes: dict[str, Any] = dict(call.node.attributes)
    others, dtype = _others(x.shape), x.dtype
    axis = min(1, len(x.shape) - 1)
    zero, one = (graph.constant(_number(value, dtype)) for value in (0, 1))
    index = graph.constant(np.array(attributes.get("ignore_index", -100), np.int64))
    ignored = graph.call("Equal", targets.name, index)
    kept = graph.call("Where", ignored, graph.constant(np.array(0, np.int64)), targets.name)
    own = graph.call("Gather", weights[0].name, kept) if weights else one
    own = graph.call("Where", ignored, zero, own)
    each = gradient.name
    if attributes.get("reduction", "mean") == "mean":
        wide = graph.call("Expand", own, graph.integers(others))
        each = graph.call("Div", each, graph.call("ReduceSum", wide, keepdims=0))
    each = graph.call("Neg", graph.call("Mul", each, own))
    classes = np.arange(x.shape[axis]).reshape(-1, *(1,) * (len(x.shape) - axis - 1))
    if others:
        at = graph.integers((axis,))
        each, targets_wide = (
            graph.call("Unsqueeze", graph.call("Expand", name, graph.integers(others)), at)
            for name in (each, targets.name)
        )
    else:
        targets_wide = targets.name
    here = graph.call("Equal", targets_wide, graph.constant(classes.astype(np.int64)))
    name = graph.call("Where", here, each, zero)
    assert is_float(dtype)
    return graph.settle(name, x.shape, dtype)
