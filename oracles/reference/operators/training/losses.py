"""The reference's losses, and the gradient of one."""

from dataclasses import dataclass, replace

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.attribute_values import integer, text
from relaxcheck.oracles.reference.averages import ONE, shared, total
from relaxcheck.oracles.reference.bounds import computed, negated, unconstrain
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, Flags, ordinary, unknown
from relaxcheck.oracles.reference.evaluation import operator, same_dtype
from relaxcheck.oracles.reference.operators.movement import moved, places_of

_REDUCTIONS = ("none", "sum", "mean")


@operator("nn.cross_entropy_with_logits")
def _cross_entropy(node: Node, operands: list[Estimate]) -> Estimate:
    predictions, labels = operands
    shape = predictions.value.shape
    if labels.value.shape != shape:
        raise ValueError(f"labels of shape {labels.value.shape} for predictions of {shape}")
    dtype = same_dtype(node, operands)
    summed = bounds.sum_of_products(
        predictions, labels, lambda a, b: np.asarray((a * b).sum()), dtype, settled=len(shape) < 2
    )
    if len(shape) < 2:
        return negated(summed)
    if shape[0] == 0:
        return unconstrain(summed, np.ones((), np.bool_))
    return negated(shared(summed, np.array(shape[0])))


@dataclass(frozen=True, slots=True)
class _Taken:
    """Choices of the targets: ``classes``, 0 where they are ``ignored``, and their weights.

    ``inside``: the target is a class, be it ignored or not.
    """

    classes: Array
    ignored: Flags
    inside: Flags
    weights: Estimate
    reduction: str

    @property
    def divisor(self) -> Estimate:
        """The sum of the weights taken."""
        return total(self.weights, tuple(range(self.weights.value.ndim)), keep=False)


def _taken(node: Node, predictions: Estimate, operands: list[Estimate]) -> _Taken:
    """Return the choices of the targets, the first of ``operands``.

    Raises:
        ValueError: shapes or dtypes that do not fit, an unknown reduction, or a target that is
            neither a class nor ``ignore_index``.
    """
    targets, *rest = operands
    same_dtype(node, [predictions, *rest])
    if not predictions.value.ndim:
        raise ValueError("predictions without an axis of classes")
    classes = predictions.value.shape[min(1, predictions.value.ndim - 1)]
    places = places_of(targets)
    if places.shape != _others(predictions.value.shape):
        raise ValueError(f"targets of shape {places.shape} for {predictions.value.shape}")
    ignored = places == integer(node, "ignore_index", -100)
    inside = (places >= 0) & (places < classes)
    if not (inside | ignored).all():
        raise ValueError(f"a target is neither below {classes} nor ignored")
    reduction = text(node, "reduction", "mean")
    if reduction not in _REDUCTIONS:
        raise ValueError(f"the reduction {reduction} is unknown")
    kept = np.where(inside, places, 0)
    if rest and rest[0].value.shape != (classes,):
        raise ValueError(f"weights of shape {rest[0].value.shape} for {classes} classes")
    ones = replace(ONE, value=np.ones(classes, np.longdouble), error=np.zeros(classes))
    own = rest[0] if rest else replace(ones, dtype=predictions.dtype)
    weights = moved(own, lambda each: np.where(ignored, 0, each[kept]))
    return _Taken(kept, ignored, inside, weights, reduction)


def _others(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (shape[0], *shape[2:]) if len(shape) > 1 else ()


@operator("nn.nll_loss")
def _nll_loss(node: Node, operands: list[Estimate]) -> Estimate:
    predictions, *rest = operands
    taken = _taken(node, predictions, rest)
    chosen = moved(predictions, lambda each: _chosen(each, taken.classes))
    # No weight, or a weight of 0 times what is not finite.
    chosen = unconstrain(chosen, taken.ignored & unknown(chosen))
    zeroed = replace(chosen, signed=False)
    outside = ~taken.inside
    zeroed = moved(zeroed, lambda each: np.where(outside, 0, each))
    if taken.reduction == "none":
        return negated(bounds.multiplied(zeroed, taken.weights, predictions.dtype))
    summed = bounds.sum_of_products(
        zeroed,
        taken.weights,
        lambda a, b: np.asarray((a * b).sum()),
        predictions.dtype,
        settled=taken.reduction == "sum",
    )
    if taken.reduction == "sum":
        return negated(summed)
    return negated(bounds.divided(summed, taken.divisor, predictions.dtype))


def _chosen(predictions: Array, classes: Array) -> Array:
    """The element of each target's class."""
    if predictions.ndim == 1:
        return predictions[classes]
    picked = np.take_along_axis(predictions, np.expand_dims(classes, 1), axis=1)
    return np.squeeze(picked, 1)


@operator("grad.nll_loss_backward")
def _nll_loss_backward(node: Node, operands: list[Estimate]) -> Estimate:
    gradient, predictions, *rest = operands
    taken = _taken(node, predictions, rest)
    same_dtype(node, [gradient, predictions])
    wanted = taken.classes.shape if taken.reduction == "none" else ()
    if gradient.value.shape != wanted:
        raise ValueError(f"a gradient of shape {gradient.value.shape}, not {wanted}")
    wide = moved(gradient, lambda each: np.broadcast_to(each, taken.classes.shape))
    if taken.reduction == "mean":
        each = _quotient(wide, taken)
    else:
        each = bounds.multiplied(wide, taken.weights, predictions.dtype)
        each = unconstrain(each, taken.ignored & unknown(wide))
    return _spread(negated(replace(each, signed=False)), predictions, taken)


def _quotient(gradient: Estimate, taken: _Taken) -> Estimate:
    """``gradient * weights / divisor``, whichever of the two operations comes first."""
    target, divisor = FORMATS[gradient.dtype], taken.divisor
    least = np.abs(divisor.value) - divisor.error
    usable = np.isfinite(divisor.value) & np.isfinite(divisor.error) & (least > 0)
    usable = usable & ~unknown(gradient, taken.weights)
    g, w = ordinary(gradient), ordinary(taken.weights)
    by = np.where(usable, divisor.value, 1)
    off = np.where(usable, divisor.error, 0) / np.where(usable, least, 1)
    value = g.value * w.value / by
    size = np.abs(value).astype(np.float64)
    moved_by = (g.reach * w.reach - np.abs(g.value * w.value)).astype(np.float64)
    moved_by = moved_by / np.where(usable, least, 1) + (size + moved_by) * off
    # An intermediate result may underflow, or overflow.
    steps = (w.reach + 1 / np.where(usable, least, 1)) * target.floor
    first = np.maximum(g.reach * w.reach, g.reach / np.where(usable, least, 1))
    over = ~(first * (1 + 4 * target.unit) <= target.largest)
    zero = (w.value == 0) & (w.error == 0) | (g.value == 0) & (g.error == 0)
    result = computed(
        gradient.dtype,
        value,
        moved_by.astype(np.float64) + steps.astype(np.float64),
        2.5,
        unconstrained=~usable | over,
    )
    return replace(result, error=np.where(zero & usable & ~over, 0.0, result.error))


def _spread(each: Estimate, predictions: Estimate, taken: _Taken) -> Estimate:
    """``each`` at its target's class, and zeros elsewhere."""
    shape = predictions.value.shape
    axis = min(1, len(shape) - 1)
    classes = np.arange(shape[axis]).reshape(-1, *(1,) * (len(shape) - axis - 1))
    inside = np.expand_dims(taken.inside, axis) if taken.inside.ndim else taken.inside
    at = np.expand_dims(taken.classes, axis) if taken.classes.ndim else taken.classes
    here = inside & (at == classes)

    def spread(values: Array) -> Array:
        wide = np.expand_dims(values, axis) if values.ndim else values
        return np.where(here, wide, np.zeros((), values.dtype))

    return replace(each, value=spread(each.value), error=spread(each.error))
