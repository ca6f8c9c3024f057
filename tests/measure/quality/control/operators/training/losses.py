"""Losses, target by target, and the gradient of one."""

from collections.abc import Sequence

import numpy as np

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import (
    FLOATS,
    Array,
    Type,
    one_dtype,
    operator,
    refuse,
    text,
    whole,
)
from tests.measure.quality.control.rounding import computed_in, constant
from tests.measure.quality.control.summation import Freedom, reduced


def _infer_cross_entropy(node: Node, operands: Sequence[Type]) -> Type:
    predictions, labels = operands
    dtype = one_dtype(node, operands)
    if labels.rank != predictions.rank:
        raise refuse(node, f"ndim {labels.rank} of the labels is not {predictions.rank}")
    if labels.shape != predictions.shape:
        raise refuse(node, f"shape {labels.shape} of the labels is not {predictions.shape}")
    return Type((), dtype)


@operator("nn.cross_entropy_with_logits", _infer_cross_entropy)
def _cross_entropy(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    def loss(x: Array, labels: Array) -> Array:
        with np.errstate(all="ignore"):
            summed = -reduced((x * labels).ravel(), freedom)
            return np.asarray(summed / constant(x.shape[0], x) if x.ndim > 1 else summed)

    return computed_in(operands[0].dtype, freedom, *operands, compute=loss)


def _others(shape: tuple[int, ...]) -> tuple[int, ...]:
    return shape[:1] + shape[2:] if len(shape) > 1 else ()


def _check(node: Node, predictions: Type, targets: Type, weights: Sequence[Type]) -> None:
    one_dtype(node, [predictions, *weights], FLOATS)
    if not targets.dtype.startswith(("int", "uint")):
        raise refuse(node, f"the dtype of the targets is {targets.dtype}, not an integer's")
    if not predictions.rank or targets.shape != _others(predictions.shape):
        shapes = f"shape {targets.shape} of the targets, {predictions.shape} of the predictions"
        raise refuse(node, f"{shapes}: their batch sizes, or numbers of dimensions (ndim), differ")
    classes = predictions.shape[min(1, predictions.rank - 1)]
    for each in weights:
        if each.shape != (classes,):
            raise refuse(node, f"shape {each.shape} (ndim {each.rank}) of the weights")
    if text(node, "reduction", "mean") not in ("mean", "sum", "none"):
        raise refuse(node, f"reduction is {text(node, 'reduction', 'mean')}")


def _reduced_shape(node: Node, predictions: Type) -> tuple[int, ...]:
    return _others(predictions.shape) if text(node, "reduction", "mean") == "none" else ()


def _infer_loss(node: Node, operands: Sequence[Type]) -> Type:
    predictions, targets, *weights = operands
    _check(node, predictions, targets, weights)
    return Type(_reduced_shape(node, predictions), predictions.dtype)


def _infer_gradient(node: Node, operands: Sequence[Type]) -> Type:
    gradient, predictions, targets, *weights = operands
    _check(node, predictions, targets, weights)
    one_dtype(node, [gradient, predictions])
    wanted = _reduced_shape(node, predictions)
    if gradient.shape != wanted:
        raise refuse(node, f"shape {gradient.shape} (ndim {gradient.rank}) is not {wanted}")
    return predictions


Place = tuple[int, ...]


def _taken(node: Node, shape: tuple[int, ...], targets: Array) -> list[tuple[Place, Place, int]]:
    """Of each target that counts its own place, that in the predictions, and its class."""
    ignored, taken = whole(node, "ignore_index", -100), []
    classes = shape[min(1, len(shape) - 1)]
    for place in np.ndindex(targets.shape):
        target = int(targets[place])
        if target == ignored:
            continue
        if not 0 <= target < classes:
            raise AssertionError(f"the target {target} is no class")
        taken.append((place, (*place[:1], target, *place[1:]), target))
    return taken


def _weights(x: Array, weights: Sequence[Array]) -> Array:
    classes = x.shape[min(1, x.ndim - 1)]
    return weights[0] if weights else np.ones(classes, x.dtype)


@operator("nn.nll_loss", _infer_loss)
def _nll_loss(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    targets, reduction = operands[1], text(node, "reduction", "mean")

    def loss(x: Array, *own: Array) -> Array:
        taken, weights = _taken(node, x.shape, targets), _weights(x, own)
        each = np.array([-x[at] * weights[target] for _, at, target in taken], x.dtype)
        if reduction == "none":
            result = np.zeros(targets.shape, x.dtype)
            for (place, _, _), value in zip(taken, each, strict=True):
                result[place] = value
            return result
        summed = reduced(each, freedom)
        if reduction == "sum":
            return np.asarray(summed)
        by = reduced(np.array([weights[target] for _, _, target in taken], x.dtype), freedom)
        return np.asarray(summed / by)

    with np.errstate(all="ignore"):
        floats = [each for each in operands if each is not targets]
        return computed_in(operands[0].dtype, freedom, *floats, compute=loss)


@operator("grad.nll_loss_backward", _infer_gradient)
def _nll_loss_backward(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    targets, reduction = operands[2], text(node, "reduction", "mean")

    def backward(gradient: Array, x: Array, *own: Array) -> Array:
        taken, weights = _taken(node, x.shape, targets), _weights(x, own)
        result = np.zeros(x.shape, x.dtype)
        taken_weights = np.array([weights[target] for _, _, target in taken], x.dtype)
        by = reduced(taken_weights, freedom) if reduction == "mean" else constant(1, x)
        first = freedom.choice(("divides", "multiplies")) == "divides"
        for place, at, target in taken:
            g = gradient[place] if reduction == "none" else gradient[()]
            w = weights[target]
            result[at] = -(w * (g / by)) if first else -(w * g) / by
        return result

    with np.errstate(all="ignore"):
        floats = [each for each in operands if each is not targets]
        return computed_in(operands[1].dtype, freedom, *floats, compute=backward)
