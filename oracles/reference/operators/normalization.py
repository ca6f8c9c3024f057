"""The reference's normalizations: layer, group, instance, batch and root-mean-square.

Mean and variance may be taken in two passes, in one, or be kept up to date element by element. A
value may be taken less the mean and then scaled, or be scaled and shifted (``x * a + b``), so that
roundings are relative to both terms.
"""

from dataclasses import replace

import numpy as np

from relaxcheck.generators.core.program import ITEM, Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference.attribute_values import axes_of, flag, integer, number
from relaxcheck.oracles.reference.averages import average, running_average, spread
from relaxcheck.oracles.reference.bounds import computed, unconstrain
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, ordinary, unknown
from relaxcheck.oracles.reference.evaluation import operator, same_dtype

_ROUNDINGS = 8


def _normalized(
    data: Estimate,
    mean: Estimate | None,
    variance: Estimate,
    epsilon: float,
    weight: Estimate,
    bias: Estimate | None,
) -> Estimate:
    """``(data - mean) / sqrt(variance + epsilon) * weight + bias``, all broadcast to ``data``."""
    target = FORMATS[data.dtype]
    unit = target.unit
    zero = Estimate(np.zeros((), np.longdouble), np.zeros(()), data.dtype)
    parts = (data, mean or zero, variance, weight, bias or zero)
    unconstrained = unknown(*parts)
    x, m, v, w, b = (ordinary(each) for each in parts)
    under = v.value + epsilon
    off = v.error + 2 * unit * (np.abs(under) + v.error + epsilon)
    unconstrained = np.broadcast_to(unconstrained | (under - off <= 0), data.value.shape)
    least = np.where(under - off > 0, under - off, 1)
    inverse, highest = 1 / np.sqrt(np.where(under > 0, under, 1)), 1 / np.sqrt(least)
    apart = x.value - m.value
    size = np.abs(apart).astype(np.float64)
    reach = (size + x.error + m.error) * highest * w.reach
    # The lower end is nearer than the upper one: 1 / sqrt bends upwards.
    moved = reach - size * inverse * np.abs(w.value) + b.error
    # Differences, quotients and scales may be below the normal numbers before they are multiplied.
    moved = moved + target.floor * (w.reach * (1 + highest) + size)
    wide = x.reach + m.reach
    through = wide * highest * w.reach + b.reach
    largest = np.maximum(np.maximum(through, wide * highest), highest * w.reach)
    unconstrained = unconstrained | ~(2 * largest <= target.largest)
    return computed(
        data.dtype,
        np.broadcast_to(apart * inverse * w.value + b.value, unconstrained.shape),
        np.broadcast_to(moved, unconstrained.shape).astype(np.float64),
        1,
        slack=(_ROUNDINGS * through).astype(np.float64),
        unconstrained=unconstrained,
    )


def _along(operand: Estimate, axes: tuple[int, ...], rank: int) -> Estimate:
    """``operand`` over ``axes`` as a tensor of ``rank`` axes."""
    shape = [1] * rank
    for axis, size in zip(axes, operand.value.shape, strict=True):
        shape[axis] = size
    return _shaped(operand, tuple(shape))


def _shaped(operand: Estimate, shape: tuple[int, ...]) -> Estimate:
    return replace(operand, value=operand.value.reshape(shape), error=operand.error.reshape(shape))


def _plain(node: Node) -> float:
    """The epsilon. Raises ``ValueError`` where ``center`` or ``scale`` is switched off."""
    if not (flag(node, "center", True) and flag(node, "scale", True)):
        raise ValueError(f"{node.operator} without center or scale")
    return number(node, "epsilon", 1e-5)


@operator("nn.layer_norm")
def _layer_norm(node: Node, operands: list[Estimate]) -> Estimate:
    data, weight, bias = operands
    same_dtype(node, operands)
    epsilon, rank = _plain(node), data.value.ndim
    axes = axes_of(node, "axes", rank)
    mean = running_average(data, axes, True)
    variance = spread(data, axes, True, one_pass=True)
    return _normalized(
        data, mean, variance, epsilon, _along(weight, axes, rank), _along(bias, axes, rank)
    )


@operator("nn.rms_norm")
def _rms_norm(node: Node, operands: list[Estimate]) -> Estimate:
    data, weight = operands
    same_dtype(node, operands)
    rank = data.value.ndim
    axes = axes_of(node, "axes", rank) if "axes" in node.attributes else (rank - 1,)
    x = ordinary(data)
    unit = FORMATS[data.dtype].unit
    error = (2 * np.abs(x.value) + x.error) * x.error + unit * x.reach**2
    squares = Estimate(x.value * x.value, error.astype(np.float64), data.dtype)
    power = average(unconstrain(squares, unknown(data)), axes, True)
    epsilon = number(node, "epsilon", 1e-5)
    return _normalized(data, None, power, epsilon, _along(weight, axes, rank), None)


def _channels_second(node: Node, rank: int) -> None:
    axes = axes_of(node, "axes", rank)
    if integer(node, "channel_axis") % rank != 1 or axes != tuple(range(2, rank)):
        raise ValueError(f"{node.operator} with channels elsewhere than second")


@operator("nn.group_norm")
def _group_norm(node: Node, operands: list[Estimate]) -> Estimate:
    groups = integer(node, "num_groups")
    same_dtype(node, operands)
    return _by_group(node, operands, groups)


@operator("nn.instance_norm")
def _instance_norm(node: Node, operands: list[Estimate]) -> Estimate:
    same_dtype(node, operands)
    return _by_group(node, operands, operands[0].value.shape[1])


def _by_group(node: Node, operands: list[Estimate], groups: int) -> Estimate:
    data, weight, bias = operands
    shape = data.value.shape
    _channels_second(node, len(shape))
    if groups < 1 or shape[1] % groups:
        raise ValueError(f"num_groups {groups} does not divide {shape[1]} channels")
    apart = _shaped(data, (shape[0], groups, shape[1] // groups, *shape[2:]))
    axes = tuple(range(2, len(shape) + 1))
    scale, shift = (
        _shaped(each, (1, groups, shape[1] // groups, *[1] * (len(shape) - 2)))
        for each in (weight, bias)
    )
    normalized = _normalized(
        apart,
        running_average(apart, axes, True),
        spread(apart, axes, True, one_pass=True),
        _plain(node),
        scale,
        shift,
    )
    return _shaped(normalized, shape)


@operator("nn.batch_norm")
def _batch_norm(node: Node, operands: list[Estimate]) -> Estimate:
    """Item 0: the data normalized; 1 and 2: the running mean and variance after it."""
    data, weight, bias, mean, variance = operands
    same_dtype(node, operands)
    rank = data.value.ndim
    axis = integer(node, "axis") % rank
    item, training = integer(node, ITEM, 0), flag(node, "training", True)
    others = tuple(at for at in range(rank) if at != axis)
    epsilon = _plain(node)
    if training:
        own_mean = running_average(data, others, True)
        own_variance = spread(data, others, True, one_pass=True)
    else:
        own_mean, own_variance = (_along(each, (axis,), rank) for each in (mean, variance))
    if item == 0:
        scale, shift = (_along(each, (axis,), rank) for each in (weight, bias))
        return _normalized(data, own_mean, own_variance, epsilon, scale, shift)
    old, new = ((mean, own_mean), (variance, own_variance))[item - 1]
    return _updated(old, _shaped(new, old.value.shape), number(node, "momentum", 0.1), training)


def _updated(old: Estimate, new: Estimate, momentum: float, training: bool) -> Estimate:
    if not training:
        return old
    unconstrained = unknown(old, new)
    a, b = ordinary(old), ordinary(new)
    value: Array = (1 - momentum) * a.value + momentum * b.value
    moved = (1 - momentum) * a.error + momentum * b.error
    slack = 4 * ((1 - momentum) * a.reach + momentum * b.reach)
    return computed(old.dtype, value, moved, 1, slack=slack, unconstrained=unconstrained)
