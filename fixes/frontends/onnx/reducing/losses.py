"""ONNX's NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss, which TVM does not import."""

from collections.abc import Callable, Sequence

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.framework.probes import Array
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.computing import bounded, computed, filled
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/onnx/losses.py")

_REDUCTIONS = ("none", "sum", "mean")


def negative_log_likelihood(node: Node) -> Expr:
    """The loss of log probabilities.

    Raises:
        ValueError: a shape or an attribute is invalid.
        OpNotImplemented: the log probabilities are no floats.
    """
    data, dtype = _scores(node, "input")
    return operands.widened(node, _loss(node, data, dtype), dtype)


def softmax_cross_entropy(node: Node) -> Expr:
    """The loss of scores, and their log probabilities if these are used.

    Raises:
        ValueError: a shape or an attribute is invalid.
        OpNotImplemented: the scores are no floats.
    """
    data, dtype = _scores(node, "scores")
    logs = node.emit(relax.op.nn.log_softmax(data, 1))
    loss = operands.widened(node, _loss(node, logs, dtype), dtype)
    return loss if node.outputs == 1 else relax.Tuple([loss, operands.widened(node, logs, dtype)])


def _scores(node: Node, name: str) -> tuple[Expr, str]:
    data = operands.required(node, 0, name)
    dtype = tvm_api.dtype_of(data)
    if dtype not in operands.FLOATS:
        raise refuse(node.operator, **{f"dtype of {name}": dtype})
    if operands.rank_of(data) < 2:
        shape = tvm_api.show(tvm_api.shape_of(data))
        why = "it must have 2 dimensions or more"
        raise invalid(node.operator, why, **{f"shape of {name}": shape})
    return operands.widened(node, data, operands.inner_dtype(dtype)), dtype


def _loss(node: Node, data: Expr, dtype: str) -> Expr:
    """The loss of log probabilities ``data``, (N, C, further axes)."""
    labels, weight = operands.required(node, 1, "target"), operands.optional(node, 2, "weight")
    if operands.rank_of(labels) != operands.rank_of(data) - 1:
        shape = tvm_api.show(tvm_api.shape_of(labels))
        why = f"it must have {operands.rank_of(data) - 1} dimensions"
        raise invalid(node.operator, why, **{"shape of target": shape})
    reduction = operands.choice(node, "reduction", "mean", _REDUCTIONS)
    ignored, inner = node.attribute("ignore_index"), tvm_api.dtype_of(data)

    def compute(logs: Tensor, classes: Tensor, *weights: Tensor) -> Tensor:
        zero = tirx.const(0, inner)

        def share(at: Sequence[PrimExpr]) -> PrimExpr:
            label = classes[tuple(at)].astype("int64")
            value = tirx.const(1, inner)
            for each in weights:
                value = each[bounded(label, each.shape[0])]
            if ignored is None:
                return value
            return tirx.if_then_else(label == tvm_api.integer(int(ignored)), zero, value)

        def loss(at: Sequence[PrimExpr]) -> PrimExpr:
            label = bounded(classes[tuple(at)].astype("int64"), logs.shape[1])
            own = share(at)
            # An infinite loss of an ignored element is not to make a NaN.
            value = tirx.if_then_else(own != zero, logs[(at[0], label, *at[1:])] * own, zero)
            return zero - value

        if reduction == "none":
            return filled(classes.shape, loss, "loss")
        total = filled((), lambda _: _summed(classes, loss), "total")
        if reduction == "sum":
            return total
        shares = filled((), lambda _: _summed(classes, share), "shares")
        return filled((), lambda at: total[tuple(at)] / shares[tuple(at)], "mean")

    tensors = [labels, *([] if weight is None else [operands.widened(node, weight, inner)])]
    return computed(node, compute, data, *tensors)


def _summed(classes: Tensor, element: Callable[[Sequence[PrimExpr]], PrimExpr]) -> PrimExpr:
    axes = [te.reduce_axis((0, size), f"k{axis}") for axis, size in enumerate(classes.shape)]
    return te.sum(element([axis.var for axis in axes]), axis=axes)


CONVERSIONS: dict[str, Convert] = {
    "NegativeLogLikelihoodLoss": negative_log_likelihood,
    "SoftmaxCrossEntropyLoss": softmax_cross_entropy,
}

_LABELS = np.array([1, 0], np.int64)


def _lacks_likelihood() -> bool:
    """True if the loss of log probabilities is not computed."""
    data = np.array([[1, 2], [4, 8]], np.float32)
    model = node_model("NegativeLogLikelihoodLoss", {"input": data, "target": _LABELS}, 13)
    return fails(model, [data, _LABELS], [np.array(-3, np.float32)])


def _lacks_entropy() -> bool:
    """True if the loss of scores is not computed."""
    data = np.zeros((2, 2), np.float32)
    inputs: dict[str, Array] = {"scores": data, "labels": _LABELS}
    model = node_model("SoftmaxCrossEntropyLoss", inputs, 13, reduction="sum")
    return fails(model, [data, _LABELS], [np.array(2 * np.log(2), np.float32)])


FIX = Fix(
    name="onnx_losses",
    operators=tuple(CONVERSIONS),
    fault="ONNX's NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss are not imported",
    issue=None,
    parts=(
        FaultPart("likelihood", _lacks_likelihood),
        FaultPart("entropy", _lacks_entropy),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_top_k",
    patch=patch(CONVERSIONS),
)
