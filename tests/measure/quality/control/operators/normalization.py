"""Normalizations: layer, root-mean-square, group, instance and batch."""

from collections.abc import Sequence

import numpy as np

from relaxcheck.generators.core.program import ITEM, Node
from tests.measure.quality.control.operator import (
    FLOATS,
    Array,
    Type,
    axes_of,
    axis_of,
    flag,
    number,
    one_dtype,
    operator,
    refuse,
    whole,
)
from tests.measure.quality.control.operators.reductions import leading, mean
from tests.measure.quality.control.rounding import computed_in, constant
from tests.measure.quality.control.summation import Freedom

_EPSILON = 1e-5
_MOMENTUM = 0.1
_HALF = 0.5


def moments(values: Array, freedom: Freedom) -> tuple[Array, Array]:
    """Mean and variance of ``values`` over their first axis, in their dtype.

    The variance is taken in two passes, in one (the mean of squares less the squared mean), or kept
    up to date element by element (Welford).
    """
    way = freedom.choice(("two passes", "one pass", "running"))
    if way == "running" and len(values):
        return _running_moments(values)
    middle = mean(values, freedom)
    if way == "one pass":
        return middle, mean(values * values, freedom) - middle * middle
    apart = values - middle
    return middle, mean(apart * apart, freedom)


def _running_moments(values: Array) -> tuple[Array, Array]:
    middle, squares = values[0], np.zeros_like(values[0])
    for count, each in enumerate(values[1:], 2):
        away = each - middle
        middle = middle + away / constant(count, values)
        squares = squares + away * (each - middle)
    return middle, squares / constant(len(values), values)


def _scaled(
    x: Array,
    middle: Array | None,
    spread: Array,
    epsilon: float,
    weight: Array,
    bias: Array | None,
    freedom: Freedom,
) -> Array:
    """``(x - middle) / sqrt(spread + epsilon) * weight + bias``, in one of the usual orders."""
    root = np.sqrt(spread + constant(epsilon, x))
    way = freedom.choice(("quotient", "inverse", "scale", "scale and shift"))
    inverse = constant(1, x) / root
    if way == "scale and shift" and middle is not None and bias is not None:
        scale = inverse * weight
        return x * scale + (bias - middle * scale)
    apart = x if middle is None else x - middle
    if way == "quotient":
        scaled = apart / root * weight
    elif way == "inverse":
        scaled = apart * inverse * weight
    else:
        scaled = apart * (inverse * weight)
    return scaled if bias is None else scaled + bias


def _plain(node: Node) -> float:
    """The epsilon; without the shift or the scale nothing is drawn."""
    if not (flag(node, "center", True) and flag(node, "scale", True)):
        raise NotImplementedError(f"{node.operator} without center or scale")
    return number(node, "epsilon", _EPSILON)


def _infer_over_axes(node: Node, operands: Sequence[Type]) -> Type:
    data, *others = operands
    dtype = one_dtype(node, operands, FLOATS)
    if "axes" not in node.attributes and node.operator != "nn.rms_norm":
        raise refuse(node, "axes are missing")
    shape = tuple(data.shape[axis] for axis in _axes(node, data.rank))
    for name, each in zip(("weight", "bias"), others, strict=False):
        if each.shape != shape:
            raise refuse(node, f"the {name} has the shape {list(each.shape)}, not {list(shape)}")
    return Type(data.shape, dtype)


def _axes(node: Node, rank: int) -> tuple[int, ...]:
    return axes_of(node, rank, "axes") if "axes" in node.attributes else (rank - 1,)


def _over(array: Array, axes: Sequence[int], rank: int) -> Array:
    """``array`` over ``axes`` of a tensor of ``rank``, with size 1 along the others."""
    order = np.argsort(axes)
    shape = [1] * rank
    for axis, size in zip(axes, array.shape, strict=True):
        shape[axis] = size
    return array.transpose(order).reshape(shape)


@operator("nn.layer_norm", _infer_over_axes)
def _layer_norm(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    axes, epsilon = _axes(node, operands[0].ndim), _plain(node)

    def compute(x: Array, weight: Array, bias: Array) -> Array:
        if not x.size:
            return x
        kept = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
        middle, spread = (each.reshape(kept) for each in moments(leading(x, axes), freedom))
        scale, shift = (_over(each, axes, x.ndim) for each in (weight, bias))
        return _scaled(x, middle, spread, epsilon, scale, shift, freedom)

    return computed_in(operands[0].dtype, freedom, *operands, compute=compute)


@operator("nn.rms_norm", _infer_over_axes)
def _rms_norm(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    axes = _axes(node, operands[0].ndim)
    epsilon = number(node, "epsilon", _EPSILON)

    def compute(x: Array, weight: Array) -> Array:
        if not x.size:
            return x
        kept = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
        power = mean(leading(x * x, axes), freedom).reshape(kept)
        return _scaled(x, None, power, epsilon, _over(weight, axes, x.ndim), None, freedom)

    return computed_in(operands[0].dtype, freedom, *operands, compute=compute)


def _infer_by_channel(node: Node, operands: Sequence[Type]) -> Type:
    data, *others = operands
    dtype = one_dtype(node, operands, FLOATS)
    channels = data.shape[axis_of(node, data.rank, "channel_axis")]
    for name, each in zip(("weight", "bias"), others, strict=True):
        if each.shape != (channels,):
            raise refuse(node, f"the {name} has the shape {list(each.shape)}, not [{channels}]")
    axes_of(node, data.rank, "axes")
    if node.operator == "nn.group_norm":
        groups = whole(node, "num_groups")
        if groups < 1 or channels % groups:
            raise refuse(node, f"num_groups {groups} does not divide {channels} channels")
    return Type(data.shape, dtype)


def _by_group(node: Node, operands: Sequence[Array], groups: int, freedom: Freedom) -> Array:
    """Each group of channels of each member of the batch on its own."""
    rank = operands[0].ndim
    channel, epsilon = axis_of(node, rank, "channel_axis"), _plain(node)
    averaged = {channel, *axes_of(node, rank, "axes")}
    alone = [axis for axis in range(rank) if axis not in averaged]

    def compute(x: Array, weight: Array, bias: Array) -> Array:
        if not x.size:
            return x
        result = np.empty_like(x)
        width = x.shape[channel] // groups
        kept = [x.shape[axis] if axis in alone else 1 for axis in range(rank)]
        for first in range(0, x.shape[channel], width):
            part = (*[slice(None)] * channel, slice(first, first + width))
            own = x[part]
            values = leading(own, [axis for axis in range(rank) if axis not in alone])
            middle, spread = (each.reshape(kept) for each in moments(values, freedom))
            scale, shift = (
                _over(each[first : first + width], (channel,), rank) for each in (weight, bias)
            )
            result[part] = _scaled(own, middle, spread, epsilon, scale, shift, freedom)
        return result

    return computed_in(operands[0].dtype, freedom, *operands, compute=compute)


@operator("nn.group_norm", _infer_by_channel)
def _group_norm(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    return _by_group(node, operands, whole(node, "num_groups"), freedom)


@operator("nn.instance_norm", _infer_by_channel)
def _instance_norm(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    channels = operands[0].shape[axis_of(node, operands[0].ndim, "channel_axis")]
    return _by_group(node, operands, max(channels, 1), freedom)


def _infer_batch(node: Node, operands: Sequence[Type]) -> Type:
    data, *others = operands
    dtype = one_dtype(node, operands, FLOATS)
    channels = data.shape[axis_of(node, data.rank)]
    names = ("gamma", "beta", "moving_mean", "moving_var")
    for name, each in zip(names, others, strict=True):
        if each.shape != (channels,):
            raise refuse(node, f"{name} has the shape {list(each.shape)}, not [{channels}]")
    return Type(data.shape if whole(node, ITEM, 0) == 0 else (channels,), dtype)


@operator("nn.batch_norm", _infer_batch)
def _batch_norm(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    """Item 0: the data normalized; 1 and 2: the moving mean and variance afterwards."""
    rank, epsilon = operands[0].ndim, _plain(node)
    axis, item = axis_of(node, rank), whole(node, ITEM, 0)
    training, share = flag(node, "training", True), number(node, "momentum", _MOMENTUM)
    others = [at for at in range(rank) if at != axis]

    def compute(x: Array, weight: Array, bias: Array, middle: Array, spread: Array) -> Array:
        if item and not training:
            return (middle, spread)[item - 1]
        if not x.size and not item:
            return x
        own = moments(leading(x, others), freedom) if training else (middle, spread)
        if item:
            return _moved((middle, spread)[item - 1], own[item - 1], share, freedom)
        placed = (_over(each, (axis,), rank) for each in (*own, weight, bias))
        own_middle, own_spread, scale, shift = placed
        return _scaled(x, own_middle, own_spread, epsilon, scale, shift, freedom)

    return computed_in(operands[0].dtype, freedom, *operands, compute=compute)


def _moved(old: Array, new: Array, share: float, freedom: Freedom) -> Array:
    if freedom.choice(("shares", "step")) == "shares":
        return constant(1 - share, old) * old + constant(share, old) * new
    # A step goes from the nearer end: it would lose the further one's digits.
    if share <= _HALF:
        return old + constant(share, old) * (new - old)
    return new - constant(1 - share, old) * (new - old)
