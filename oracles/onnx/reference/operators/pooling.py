"""Poolings, by windows and of all spatial axes."""

import numpy as np

from relaxcheck.generators.core.values import Array
from relaxcheck.oracles.onnx.reference.call import Call, operator
from relaxcheck.oracles.onnx.reference.norms import extreme_over, norm
from relaxcheck.oracles.onnx.reference.values import is_float
from relaxcheck.oracles.onnx.reference.windows import Window, pool_window
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.averages import ONE, average, shared
from relaxcheck.oracles.reference.bounds import unconstrain
from relaxcheck.oracles.reference.estimate import Estimate


@operator("MaxPool")
def _max_pool(call: Call) -> tuple[Estimate, ...]:
    """Padding is below every element. Of equal elements, any index is right."""
    x = call[0]
    window = pool_window(call, x.value.shape[2:])
    least: float = -np.inf if is_float(x.dtype) else -(2**62)
    open_ = np.isnan(x.value) | np.isinf(x.error) if is_float(x.dtype) else np.isinf(x.error)
    shown, error = np.where(open_, 0, x.value), np.where(open_, 0, x.error)

    def top(array: Array) -> Array:
        return np.asarray(np.maximum.reduce([each for _, each in window.slide(array, least)]))

    value = top(shown)
    lost = _any(window, open_) | ~_any(window, np.ones_like(open_))
    if not is_float(x.dtype):
        result = Estimate(np.where(lost, 0, value), np.zeros(value.shape), x.dtype)
    else:
        high, low = top(shown + error), top(shown - error)
        off = np.maximum(high - value, value - low).astype(np.float64)
        result = Estimate(value, np.where(np.isfinite(value), off, 0.0), x.dtype)
    result = unconstrain(result, lost)
    if len(call.node.outputs) == 1:
        return (result,)
    return result, _places_of_largest(call, x, window, value, lost)


def _any(window: Window, flags: Array) -> Array:
    met = [each for _, each in window.slide(flags, 0)]
    return np.asarray(np.logical_or.reduce(met))


def _places_of_largest(
    call: Call, x: Estimate, window: Window, top: Array, lost: Array
) -> Estimate:
    """The number of each largest element in the whole tensor, in row- or column-major order."""
    spatial = x.value.shape[2:]
    count = int(np.prod(spatial))
    order = "F" if call.flag("storage_order") else "C"
    number = np.arange(count).reshape(spatial, order=order)  # type: ignore[call-overload]
    leading = np.arange(int(np.prod(x.value.shape[:2]))).reshape(*x.value.shape[:2], 1)
    numbers = (leading * count + number.ravel()).reshape(x.value.shape)
    least: float = -np.inf if is_float(x.dtype) else -(2**62)
    place = np.zeros(top.shape, np.int64)
    rivals = np.zeros(top.shape, np.int64)
    pairs = (window.slide(x.value, least), window.slide(numbers, -1), window.slide(x.error, 0.0))
    for (_, value), (_, at), (_, off) in zip(*pairs, strict=True):
        near = (value >= top - off) & (at >= 0)
        rivals += near
        place = np.where(near & (value == top), at, place)
    unsure = lost | (rivals != 1) | _any(window, x.error > 0)
    return unconstrain(Estimate(place, np.zeros(place.shape), "int64"), unsure)


@operator("AveragePool")
def _average_pool(call: Call) -> Estimate:
    """Padding counts with ``count_include_pad``; what a last window has beyond it never does."""
    x = call[0]
    sizes = x.value.shape[2:]
    window = pool_window(call, sizes)
    summed = bounds.sum_of_products(x, ONE, lambda a, b: _added(window, a * b), x.dtype)
    inside = _added(window, np.ones(sizes, np.int64))
    count = window.padded(sizes) if call.flag("count_include_pad") else inside
    return unconstrain(shared(summed, np.maximum(count, 1)), count == 0)


def _added(window: Window, array: Array) -> Array:
    return np.asarray(np.add.reduce([each for _, each in window.slide(array, 0)]))


@operator("LpPool")
def _lp_pool(call: Call) -> Estimate:
    x = call[0]
    window = pool_window(call, x.value.shape[2:])
    return norm(x, call.attribute("p"), lambda each: _added(window, each))


def _spatial(x: Estimate) -> tuple[int, ...]:
    return tuple(range(2, x.value.ndim))


@operator("GlobalAveragePool")
def _global_average_pool(call: Call) -> Estimate:
    return average(call[0], _spatial(call[0]), True)


@operator("GlobalMaxPool")
def _global_max_pool(call: Call) -> Estimate:
    return extreme_over(call[0], _spatial(call[0]), True, largest=True)


@operator("GlobalLpPool")
def _global_lp_pool(call: Call) -> Estimate:
    x = call[0]
    axes = _spatial(x)
    return norm(x, call.attribute("p"), lambda each: np.asarray(each.sum(axes, keepdims=True)))


@operator("MaxUnpool")
def _max_unpool(call: Call) -> Estimate:
    """Each element goes to its place in the tensor that was pooled. Of equal places none is known.

    An output that is larger than that tensor has zeros behind, along each axis.
    """
    x, places, wanted = call[0], call[1], call.optional(2)
    if wanted is not None:
        whole = tuple(int(size) for size in wanted.value)
        if whole[:2] != x.value.shape[:2]:
            raise ValueError(f"an output of shape {whole}")
    shape = (*x.value.shape[:2], *_unpooled(call, x))
    if wanted is None:
        whole = shape
    elif any(size < least for size, least in zip(whole, shape, strict=True)):
        raise ValueError(f"an output of shape {whole}, less than {shape}")
    count = int(np.prod(shape))
    at = places.value.ravel()
    if places.error.any() or (at.size and (at.min() < 0 or at.max() >= count)):
        raise ValueError("an index out of range")
    if np.unique(at).size != at.size:
        raise ValueError("an index occurs twice")
    value, error = np.zeros(count, x.value.dtype), np.zeros(count)
    value[at], error[at] = x.value.ravel(), x.error.ravel()
    behind = [(0, size - own) for size, own in zip(whole, shape, strict=True)]
    value, error = (np.pad(each.reshape(shape), behind) for each in (value, error))
    return Estimate(value, error, x.dtype)


def _unpooled(call: Call, x: Estimate) -> tuple[int, ...]:
    taps = call.attribute("kernel_shape")
    rank = len(taps)
    strides = call.attribute("strides") or (1,) * rank
    pads = call.attribute("pads") or (0,) * (2 * rank)
    return tuple(
        (size - 1) * stride + tap - pads[at] - pads[at + rank]
        for at, (size, stride, tap) in enumerate(zip(x.value.shape[2:], strides, taps, strict=True))
    )
