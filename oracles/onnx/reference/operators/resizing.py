"""Resizing, in every version.

Coordinates are computed as fractions. An implementation computes them in float32: where that may
round, a linear or cubic result may be off by what shares move, and a nearest one may be either
element where a coordinate is on the border between two.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import product
from math import ceil, floor

import numpy as np

from relaxcheck.generators.core.values import Array
from relaxcheck.oracles.onnx.reference.call import Call, axes_of, integers, operator
from relaxcheck.oracles.onnx.reference.kernels import Kernel, kernel_of
from relaxcheck.oracles.onnx.reference.values import is_float, moved
from relaxcheck.oracles.reference.bounds import computed, unconstrain
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, ordinary, unknown

_UNIT = FORMATS["float32"].unit

_HALF = Fraction(1, 2)

_NEARLY = 16
"""Roundings of a coordinate."""

_STEEPEST = 4
"""A share changes by at most this, times the coordinate: of cubic kernels of usual coefficients."""


@dataclass(frozen=True, slots=True)
class Axis:
    """The resizing of one axis: its number, sizes, scale, and the window of interest on it."""

    number: int
    size: int
    places: int
    scale: Fraction
    window: tuple[Fraction, Fraction] = (Fraction(0), Fraction(1))

    @property
    def is_fractional(self) -> bool:
        """True if the scaled size is no integer: the sizes do not give the scale."""
        return self.scale * self.size != self.places


@dataclass(frozen=True, slots=True)
class Line:
    """The coordinates of an axis's places, how far each may be off, and which are outside."""

    axis: Axis
    at: tuple[Fraction, ...]
    off: tuple[float, ...]
    outside: tuple[bool, ...]


def coordinate(axis: Axis, mode: str, at: int) -> Fraction:
    """The coordinate of the place ``at``, by the transformation ``mode``."""
    size, places, x = axis.size, axis.places, Fraction(at)
    match mode:
        case "half_pixel":
            return (x + _HALF) / axis.scale - _HALF
        case "half_pixel_symmetric":
            shift = Fraction(size, 2) * (1 - Fraction(places) / (axis.scale * size))
            return shift + (x + _HALF) / axis.scale - _HALF
        case "pytorch_half_pixel":
            return (x + _HALF) / axis.scale - _HALF if places > 1 else Fraction(0)
        case "align_corners":
            return x * (size - 1) / (places - 1) if places > 1 else Fraction(0)
        case "asymmetric":
            return x / axis.scale
        case "tf_half_pixel_for_nn":
            return (x + _HALF) / axis.scale
        case "tf_crop_and_resize":
            first, last = axis.window
            if places > 1:
                return first * (size - 1) + x * (last - first) * (size - 1) / (places - 1)
            return _HALF * (first + last) * (size - 1)
    raise ValueError(f"coordinates {mode}")


_BY_SIZES = ("align_corners", "tf_crop_and_resize")


def line_of(axis: Axis, mode: str) -> Line:
    """The coordinates along ``axis``."""
    at = tuple(coordinate(axis, mode, place) for place in range(axis.places))
    held = mode != "tf_crop_and_resize" and _is_held(axis, mode)
    off = tuple(0.0 if held else _NEARLY * _UNIT * (float(abs(c)) + axis.size / 8 + 1) for c in at)
    outside = tuple(mode == "tf_crop_and_resize" and not 0 <= c <= axis.size - 1 for c in at)
    return Line(axis, at, off, outside)


def _is_held(axis: Axis, mode: str) -> bool:
    """True if float32 holds all coordinates: the step is a power of two."""
    if mode == "align_corners":
        if axis.places == 1 or axis.size == 1:
            return True
        step = Fraction(axis.size - 1, axis.places - 1)
    else:
        step = axis.scale
    return all(part & (part - 1) == 0 for part in (step.numerator, step.denominator))


@operator("Resize")
def _resize(call: Call) -> Estimate:
    x = call[0]
    mode = call.attribute("coordinate_transformation_mode") or "asymmetric"
    axes = _axes(call, x)
    lines = [line_of(axis, mode) for axis in axes if axis.size != axis.places or mode not in _SAME]
    # Some take the size before it is rounded, others after.
    undecided = mode in _BY_SIZES and any(axis.is_fractional for axis in axes)
    method = call.attribute("mode")
    if method == "nearest":
        rounding = call.attribute("nearest_mode") or "floor"
        if call.since < 11 and any(axis.scale < 1 for axis in axes):
            raise ValueError("the nearest element of a smaller result, in opset 10")
        result = _nearest(x, lines, rounding)
    elif method in ("linear", "cubic"):
        kernel = kernel_of(
            method,
            call.attribute("cubic_coeff_a"),
            bool(call.attribute("antialias")),
            bool(call.attribute("exclude_outside")),
        )
        result = _blended(x, lines, kernel)
    else:
        raise ValueError(f"mode {method}")
    result = _extrapolated(call, result, lines)
    return unconstrain(result, np.full(result.value.shape, undecided))


operator("Upsample")(_resize)

_SAME = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric")
"""Coordinates that leave an axis as it is where its size does not change."""


def _axes(call: Call, x: Estimate) -> list[Axis]:
    rank, shape = x.value.ndim, x.value.shape
    stated = call.attribute("axes")
    places = axes_of(tuple(range(rank)) if stated is None else stated, rank)
    sizes, window = call.named("sizes"), _window(call, len(places))
    if sizes is not None and sizes.value.size:
        return _by_sizes(call, shape, places, integers(sizes), window)
    scales = call.named("scales")
    numbers = call.attribute("scales") if scales is None else tuple(scales.value.ravel())
    if (scales is not None and scales.error.any()) or not numbers:
        raise ValueError("scales that are not certain")
    axes = []
    for at, (number, scale) in enumerate(zip(places, numbers, strict=True)):
        factor = Fraction(float(scale))
        first, last = window[at]
        spread = last - first if _crops(call) else Fraction(1)
        wanted = factor * shape[number] * spread
        count = floor(wanted)
        short = round(wanted) - wanted
        # A single product that is not short of an integer does not round to one that is.
        decided = short < 0 and not _crops(call)
        if short and not decided and float(abs(short)) <= 4 * _UNIT * float(wanted):
            raise ValueError("a size that rounding decides")
        axes.append(Axis(number, shape[number], count, factor, window[at]))
    return axes


def _crops(call: Call) -> bool:
    return bool(call.attribute("coordinate_transformation_mode") == "tf_crop_and_resize")


def _window(call: Call, count: int) -> list[tuple[Fraction, Fraction]]:
    roi = call.named("roi")
    if not _crops(call) or roi is None or not roi.value.size:
        return [(Fraction(0), Fraction(1))] * count
    ends = [Fraction(float(each)) for each in roi.value.ravel()]
    return list(zip(ends[:count], ends[count:], strict=True))


def _by_sizes(
    call: Call,
    shape: tuple[int, ...],
    places: tuple[int, ...],
    sizes: tuple[int, ...],
    window: list[tuple[Fraction, Fraction]],
) -> list[Axis]:
    old = [shape[number] for number in places]
    if any(size == 0 and new > 0 for size, new in zip(old, sizes, strict=True)):
        raise ValueError("of no elements")
    scales = [Fraction(new, size or 1) for new, size in zip(sizes, old, strict=True)]
    policy = call.attribute("keep_aspect_ratio_policy") or "stretch"
    if policy != "stretch":
        scale = min(scales) if policy == "not_larger" else max(scales)
        scales = [scale] * len(old)
        sizes = tuple(floor(scale * size + _HALF) for size in old)
    return [
        Axis(number, size, new, scale, ends)
        for number, size, new, scale, ends in zip(places, old, sizes, scales, window, strict=True)
    ]


_ROUNDINGS: dict[str, Callable[[Fraction], int]] = {
    "floor": floor,
    "ceil": ceil,
    "round_prefer_floor": lambda at: ceil(at - _HALF),
    "round_prefer_ceil": lambda at: floor(at + _HALF),
}


def _nearest(x: Estimate, lines: list[Line], mode: str) -> Estimate:
    if mode not in _ROUNDINGS:
        raise ValueError(f"nearest_mode {mode}")
    choices = []
    for line in lines:
        pair = [
            np.array(
                [
                    min(max(_ROUNDINGS[mode](c + side * Fraction(off)), 0), line.axis.size - 1)
                    for c, off in zip(line.at, line.off, strict=True)
                ],
                np.int64,
            )
            for side in (0, -1, 1)
        ]
        distinct = [pair[0]] + [each for each in pair[1:] if (each != pair[0]).any()]
        choices.append(distinct)

    def picked(which: tuple[Array, ...]) -> Estimate:
        return reduce(
            lambda each, chosen: moved(
                each, lambda array: np.take(array, chosen[1], chosen[0].axis.number)
            ),
            zip(lines, which, strict=True),
            x,
        )

    combinations = list(product(*choices))
    result = picked(combinations[0])
    error, lost = result.error, unknown(result)
    for other in map(picked, combinations[1:]):
        apart = other.value != result.value
        lost = lost | (apart & unknown(other))
        gap = np.where(apart & ~lost, np.abs(other.value - result.value), 0).astype(np.float64)
        error = np.maximum(error, gap + np.where(np.isfinite(other.error), other.error, 0))
        if not is_float(x.dtype):
            lost = lost | apart
    if len(combinations) == 1:
        return result
    value = np.where(lost, 0, result.value)
    if not is_float(x.dtype):
        error = np.zeros(value.shape)
    return unconstrain(Estimate(value, np.where(lost, 0, error), x.dtype), lost)


def _blended(x: Estimate, lines: list[Line], kernel: Kernel) -> Estimate:
    """Weighted sums over all axes, each by its own shares."""
    if not is_float(x.dtype):
        # Whether a fraction is cut off or rounded is not defined.
        shape = list(x.value.shape)
        for line in lines:
            shape[line.axis.number] = line.axis.places
        return Estimate(np.zeros(shape, np.int64), np.full(shape, np.inf), x.dtype)
    form, kept = FORMATS[x.dtype], ordinary(x)
    value, size, high = kept.value, np.abs(kept.value).astype(np.float64), kept.reach
    lost, taps = unknown(x) * 1.0, 1.0
    for line in lines:
        shares, reached = kernel.shares(line.at, line.axis.size, line.axis.scale)
        off = np.array(line.off)[:, None] * _STEEPEST * reached
        rounds = (kernel.roundings * max(form.unit, _UNIT) if any(line.off) else 0.0) * reached
        own = kernel.roundings * form.unit * reached * (np.abs(shares) > 0)
        absolute = np.abs(shares).astype(np.float64)
        value = _applied(shares, value, line.axis.number)
        size = _applied(absolute, size, line.axis.number)
        high = _applied(absolute + off + rounds + own, high, line.axis.number)
        touched = (reached * (np.array(line.off)[:, None] > 0) + absolute) > 0
        lost = _applied(touched * 1.0, lost, line.axis.number)
        taps += kernel.taps
    return computed(
        x.dtype, value, np.maximum(high - size, 0), 1,
        slack=(taps + 2) * high, unconstrained=lost > 0,
    )  # fmt: skip


def _applied(matrix: Array, array: Array, axis: int) -> Array:
    result = np.tensordot(matrix, np.moveaxis(array, axis, 0), axes=(1, 0))
    return np.moveaxis(result, 0, axis)


def _extrapolated(call: Call, result: Estimate, lines: list[Line]) -> Estimate:
    """``result`` with the attribute's value where a coordinate is outside."""
    if not any(any(line.outside) for line in lines):
        return result
    outside = np.zeros(result.value.shape, np.bool_)
    for line in lines:
        shape = [1] * result.value.ndim
        shape[line.axis.number] = -1
        outside = outside | np.array(line.outside, np.bool_).reshape(shape)
    fill = call.attribute("extrapolation_value") or 0.0
    if fill and not is_float(result.dtype):
        raise ValueError("an extrapolation value of an integer")
    off = FORMATS[result.dtype].unit * abs(fill) if result.dtype in FORMATS else 0.0
    value = np.where(outside, np.asarray(fill, result.value.dtype), result.value)
    return Estimate(value, np.where(outside, off, result.error), result.dtype)
