"""Normalizations, with the further outputs of training.

Mean and variance may be taken in any of the usual ways (``oracles.reference.averages``). The first
stage is computed in the dtype of ``stash_type``, and rounded to that of the operand.
"""

from dataclasses import replace
from math import prod

import numpy as np

from relaxcheck.generators.core.values import Array
from relaxcheck.generators.onnx.proto import dtype_of
from relaxcheck.oracles.onnx.reference.call import Call, axis_of, composite, operator, relax
from relaxcheck.oracles.onnx.reference.norms import norm
from relaxcheck.oracles.onnx.reference.operators.casting import converted
from relaxcheck.oracles.onnx.reference.values import chosen, moved
from relaxcheck.oracles.reference.averages import average, running_average, spread
from relaxcheck.oracles.reference.bounds import computed, rounded, unconstrain
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, ordinary, unknown
from relaxcheck.oracles.reference.functions import UNITS


def _ones(like: Estimate, shape: tuple[int, ...], value: float) -> Estimate:
    return Estimate(np.full(shape, np.longdouble(value)), np.zeros(shape), like.dtype)


def _stashed(call: Call, x: Estimate) -> Estimate:
    """``x`` as it enters the first stage; a rounding on the way in may as well be left out."""
    code = call.attribute("stash_type")
    stash = dtype_of(code) if code else x.dtype
    narrow = converted(x, stash)
    with np.errstate(invalid="ignore"):
        off = np.abs(narrow.value - x.value).astype(np.float64)
    error = np.where(np.isfinite(off), narrow.error + off, narrow.error)
    return replace(narrow, value=np.where(np.isfinite(off), x.value, narrow.value), error=error)


def _back(x: Estimate, dtype: str) -> Estimate:
    """``x`` rounded to ``dtype``, once more or not at all."""
    return rounded(replace(x, dtype=dtype), FORMATS[dtype], settled=False)


@operator("LayerNormalization")
def _layer_normalization(call: Call) -> tuple[Estimate, ...]:
    """The data normalized, their mean, and one over their standard deviation."""
    x, scale, bias = call[0], call[1], call.optional(2)
    rank = x.value.ndim
    axis = axis_of(call.attribute("axis"), rank)
    axes = tuple(range(axis, rank))
    kept = _stashed(call, x)
    shape = x.value.shape[axis:]
    size = prod(shape)
    if not size:
        raise ValueError("of no elements")
    own = relax(
        "nn.layer_norm",
        kept,
        _ones(kept, shape, 1),
        _ones(kept, shape, 0),
        axes=axes,
        epsilon=call.attribute("epsilon"),
    )
    own = _back(own, x.dtype)
    result = relax("multiply", own, scale)
    result = result if bias is None else relax("add", result, bias)
    code = call.attribute("stash_type")
    stash = dtype_of(code) if code else x.dtype
    mean = running_average(kept, axes, True)
    variance = spread(kept, axes, True, one_pass=True)
    inverse = inverse_root(variance, call.attribute("epsilon"))
    further = (replace(each, dtype=stash, signed=False) for each in (mean, inverse))
    return _unsigned(result), *further


def _unsigned(x: Estimate) -> Estimate:
    return replace(x, signed=False)


def inverse_root(variance: Estimate, epsilon: float) -> Estimate:
    """``1 / sqrt(variance + epsilon)``."""
    lost = unknown(variance)
    value = np.where(lost, 1, variance.value) + epsilon
    unit = FORMATS[variance.dtype].unit
    off = np.where(lost, 0, variance.error) + 2 * unit * np.abs(value).astype(np.float64)
    lost = lost | (value - off <= 0)
    value, off = np.where(lost, 1, value), np.where(lost, 0, off)
    root = 1 / np.sqrt(value)
    high = (1 / np.sqrt(value - off) - root).astype(np.float64)
    return computed(variance.dtype, root, high, UNITS, unconstrained=lost)


@operator("RMSNormalization")
def _rms_normalization(call: Call) -> Estimate:
    x, scale = call[0], call[1]
    rank = x.value.ndim
    axis = axis_of(call.attribute("axis"), rank)
    axes, shape = tuple(range(axis, rank)), x.value.shape[axis:]
    kept = _stashed(call, x)
    own = relax(
        "nn.rms_norm", kept, _ones(kept, shape, 1), axes=axes, epsilon=call.attribute("epsilon")
    )
    return _unsigned(relax("multiply", _back(own, x.dtype), scale))


@operator("InstanceNormalization")
def _instance_normalization(call: Call) -> Estimate:
    x = call[0]
    rank = x.value.ndim
    return _unsigned(
        relax(
            "nn.instance_norm", x, call[1], call[2], channel_axis=1,
            axes=tuple(range(2, rank)), epsilon=call.attribute("epsilon"),
        )
    )  # fmt: skip


@operator("GroupNormalization")
def _group_normalization(call: Call) -> Estimate:
    """Before opset 21 scale and bias are one for each group."""
    x, scale, bias = call[0], call[1], call[2]
    groups, rank = call.attribute("num_groups"), x.value.ndim
    if call.since < 21:
        each = x.value.shape[1] // groups
        scale, bias = (moved(y, lambda array: np.repeat(array, each)) for y in (scale, bias))
    place = (-1, *[1] * (rank - 2))
    scale, bias = (moved(y, lambda array: array.reshape(place)) for y in (scale, bias))
    kept = _stashed(call, x) if call.since >= 21 else x
    channels = (x.value.shape[1],)
    own = relax(
        "nn.group_norm", kept, _ones(kept, channels, 1), _ones(kept, channels, 0),
        num_groups=groups, channel_axis=1, axes=tuple(range(2, rank)),
        epsilon=call.attribute("epsilon"),
    )  # fmt: skip
    result = relax("multiply", _back(own, x.dtype), scale)
    return _unsigned(relax("add", result, bias))


@operator("BatchNormalization")
def _batch_normalization(call: Call) -> tuple[Estimate, ...]:
    """With training, the running mean and variance after it too.

    Versions before 14 say that they train by having more outputs, and not what these are.
    """
    operands = [call[at] for at in range(5)]
    dtype = max((each.dtype for each in operands), key=lambda name: FORMATS[name].unit)
    x = operands[0]
    if call.since < 14:
        if len([each for each in call.node.outputs if each]) > 1:
            raise ValueError("training in versions before 14")
        if call.attribute("spatial") == 0:
            raise ValueError("statistics of each element")
    training = call.flag("training_mode")
    if x.value.ndim < 2:
        operands[0] = moved(x, lambda each: each.reshape(*each.shape, *[1] * (2 - each.ndim)))
    results = []
    for item in range(3 if training else 1):
        # Relax's momentum is the share of the new mean, ONNX's that of the old one.
        result = relax(
            "nn.batch_norm", *(replace(each, dtype=dtype) for each in operands), axis=1,
            epsilon=call.attribute("epsilon"), training=training,
            momentum=1 - call.attribute("momentum"), item=item,
        )  # fmt: skip
        own = operands[0 if not item else item + 2].dtype
        if own != dtype:
            result = replace(rounded(result, FORMATS[own], settled=False), dtype=own)
        results.append(result)
    results[0] = moved(results[0], lambda each: each.reshape(x.value.shape))
    return tuple(map(_unsigned, results))


@composite("LpNormalization")
def _lp_normalization(call: Call) -> Estimate:
    """Zeros stay zeros since opset 22; before that, 0 / 0 is not defined."""
    x, axis = call[0], axis_of(call.attribute("axis"), call[0].value.ndim)
    power = call.attribute("p")
    length = norm(x, power, lambda each: np.asarray(each.sum(axis, keepdims=True)))
    result = relax("divide", x, length)
    zero = (x.value == 0) & (x.error == 0)
    nothing = np.broadcast_to(zero.all(axis, keepdims=True), x.value.shape)
    if call.since >= 22:
        return chosen(nothing, _ones(x, x.value.shape, 0), result)
    return unconstrain(result, nothing)


@operator("LRN")
def _lrn(call: Call) -> Estimate:
    """``x / (bias + alpha / size * s) ** beta``, s the sum of squares over nearby channels."""
    x, size = call[0], call.attribute("size")
    alpha, beta, bias = (call.attribute(name) for name in ("alpha", "beta", "bias"))
    below, above = (size - 1) // 2, size // 2 if size % 2 == 0 else (size - 1) // 2
    kept, form = ordinary(x), FORMATS[x.dtype]
    channels = x.value.shape[1]

    def near(array: Array) -> Array:
        parts = [
            array[:, max(0, at - below) : min(channels, at + above + 1)].sum(1, keepdims=True)
            for at in range(channels)
        ]
        return np.concatenate(parts, 1) if parts else array

    squares = near(kept.value**2)
    high = near((np.abs(kept.value) + kept.error) ** 2)
    relative = (size + 6) * form.unit
    factor = abs(alpha) / size
    under = bias + alpha / size * squares
    off = factor * (high - squares) + relative * (abs(bias) + factor * high) + form.floor
    lost = (near(unknown(x) * 1.0) > 0) | (under - off <= 0) | ~(high <= form.largest)
    base, off = np.where(lost, 1, under), np.where(lost, 0, off)
    power = base ** (-beta)
    sides = [np.abs((base + side * off) ** (-beta) - power) for side in (-1, 1)]
    moved_by = np.maximum(*sides) * np.abs(kept.value) + kept.error * (power + np.maximum(*sides))
    return computed(
        x.dtype, kept.value * power, moved_by.astype(np.float64), 2 * UNITS, unconstrained=lost
    )


@operator("MeanVarianceNormalization")
def _mean_variance_normalization(call: Call) -> Estimate:
    """``(x - mean) / sqrt(variance)``; ONNX's definition adds 1e-9 to the root."""
    x = call[0]
    axes = tuple(call.attribute("axes") or (0, 2, 3))
    mean = average(x, axes, True)
    variance = spread(x, axes, True, one_pass=True)
    lost = unknown(variance) | (variance.value - variance.error <= 0)
    value, off = (np.where(lost, fill, each) for fill, each in
                  ((1, variance.value), (0, variance.error)))  # fmt: skip
    root = np.sqrt(value)
    wide = np.maximum(np.sqrt(value + off) - root, root - np.sqrt(value - off)) + 2e-9
    under = computed(x.dtype, root, wide.astype(np.float64), 4, unconstrained=lost)
    apart = relax("subtract", x, mean)
    return _unsigned(relax("divide", apart, under))
