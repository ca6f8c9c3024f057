"""CausalConvWithState of ONNX: a depthwise convolution over the past, whose end is its state."""

import functools
from typing import Any

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.elementwise.numbers import cast, constant, wide
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr

UPSTREAM = NewFile("relax/frontend/onnx/causal_convolution.py")

_ACTIVATIONS = ("none", "silu", "swish")


def _causal_convolution(node: Node) -> Expr:
    x = operands.required(node, 0, "input")
    weight = operands.required(node, 1, "weight")
    batch, channels, length = tvm_api.shape_of(x)
    size = tvm_api.as_int(tvm_api.shape_of(weight)[2])
    activation = operands.choice(node, "activation", "none", _ACTIVATIONS)
    if not size:
        why = "the kernel must have a known size"
        raise invalid(node.operator, why, weight=tvm_api.show(tvm_api.shape_of(weight)))
    dtype = tvm_api.dtype_of(x)
    inner = wide(dtype)
    past = operands.optional(node, 3, "past_state")
    if past is None:
        past = relax.op.broadcast_to(constant(0.0, dtype), [batch, channels, size - 1])
    whole = node.emit(relax.op.concat([node.emit(past), x], axis=2))
    wider, kernel = (node.emit(cast(each, dtype, inner)) for each in (whole, weight))
    terms = [_term(node, wider, kernel, place, length) for place in range(size)]
    y = functools.reduce(lambda left, right: node.emit(relax.op.add(left, right)), terms)
    bias = operands.optional(node, 2, "bias")
    if bias is not None:
        column = node.emit(relax.op.reshape(bias, (1, channels, 1)))
        y = node.emit(relax.op.add(y, cast(column, dtype, inner)))
    if activation != "none":
        y = node.emit(relax.op.multiply(y, relax.op.sigmoid(y)))
    state = relax.op.strided_slice(whole, [2], [length], [length + (size - 1)])
    return relax.Tuple([node.emit(cast(y, inner, dtype)), node.emit(state)])


def _term(node: Node, whole: Expr, kernel: Expr, place: int, length: Any) -> Expr:
    """The product of each element with its weight, ``size - 1 - place`` positions later."""
    weights = node.emit(relax.op.strided_slice(kernel, [2], [place], [place + 1]))
    column = node.emit(relax.op.permute_dims(weights, [1, 0, 2]))
    elements = node.emit(relax.op.strided_slice(whole, [2], [place], [length + place]))
    return node.emit(relax.op.multiply(elements, column))


CONVERSIONS: dict[str, Convert] = {"CausalConvWithState": _causal_convolution}


def _convolves() -> bool:
    x, weight = np.array([[[1, 2, 3]]], "float32"), np.array([[[10, 1]]], "float32")
    inputs = {"x": x, "weight": weight, "bias": None, "past": np.array([[[4]]], "float32")}
    model = node_model("CausalConvWithState", inputs, 27, outputs=2)
    expected = [np.array([[[41, 12, 23]]], "float32"), np.array([[[3]]], "float32")]
    return not fails(model, [each for each in inputs.values() if each is not None], expected)


FIX = Fix(
    name="onnx_causal_convolution",
    operators=tuple(CONVERSIONS),
    fault="CausalConvWithState of ONNX models is not imported",
    issue=None,
    parts=(FaultPart("CausalConvWithState", lambda: not _convolves()),),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_dropout",
    patch=patch(CONVERSIONS),
)
