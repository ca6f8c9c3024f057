"""The reference's ``image.resize3d``: nearest neighbour and linear interpolation, axis by axis.

A place's coordinate is taken to be rounded in float32, as in ``image.resize2d``, unless float32
holds it whichever way it is computed.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.limitations import Call, When
from relaxcheck.oracles.reference.attribute_values import several, text
from relaxcheck.oracles.reference.bounds import computed, unconstrain
from relaxcheck.oracles.reference.estimate import Estimate, Flags, ordinary, unknown
from relaxcheck.oracles.reference.evaluation import limit, operator

_NAME = "image.resize3d"
_FLOAT32 = 2.0**-24

_COORDINATES = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel")

_ROUNDINGS: dict[str, Callable[[Fraction], tuple[int, ...]]] = {
    "floor": lambda at: (floor(at),),
    "ceil": lambda at: (ceil(at),),
    "round_prefer_floor": lambda at: (ceil(at - Fraction(1, 2)),),
    "round_prefer_ceil": lambda at: (floor(at + Fraction(1, 2)),),
    # Nobody says which of two that are equally near.
    "round": lambda at: (ceil(at - Fraction(1, 2)), floor(at + Fraction(1, 2))),
}
"""The elements that may be nearest to a coordinate."""

_LAYOUTS = ("NCDHW", "NDHWC")


def _way(attributes: Call | Node) -> tuple[str, str]:
    named = attributes.attributes
    method = str(named.get("method") or "linear")
    return method, str(named.get("coordinate_transformation_mode") or "half_pixel")


def _rounding(attributes: Call | Node) -> str:
    # TOPI takes none for floor with these coordinates, and for "round" with the others.
    usual = "floor" if _way(attributes)[1] == "asymmetric" else "round"
    return str(attributes.attributes.get("rounding_method") or usual)


def _is_left_open(call: Call) -> bool:
    method, mode = _way(call)
    return method not in ("linear", "nearest_neighbor") or mode not in _COORDINATES


limit(
    _NAME,
    When("cubic, tf_half_pixel_for_nn, or a region of interest", _is_left_open),
    "frameworks define the method with these coordinates differently",
)


@operator(_NAME)
def _resize3d(node: Node, operands: list[Estimate]) -> Estimate:
    (data,), layout = operands, text(node, "layout", "NCDHW")
    if layout not in _LAYOUTS or data.value.ndim != 5:
        raise ValueError(f"{_NAME}: layout {layout} of rank {data.value.ndim}")
    method, mode = _way(node)
    axes, size = [layout.index(letter) for letter in "DHW"], several(node, "size", 1, 3)
    if min(*size, *(data.value.shape[axis] for axis in axes)) < 1:
        raise ValueError(f"{_NAME} of {data.value.shape} to {size}")
    if method == "nearest_neighbor":
        return _nearest(data, axes, size, mode, _rounding(node))
    return _linear(data, axes, size, mode)


def _is_power_of_two(ratio: Fraction) -> bool:
    return all(part & (part - 1) == 0 for part in (ratio.numerator, ratio.denominator))


def _coordinate(place: int, size: int, places: int, mode: str) -> Fraction:
    """The coordinate of ``place`` among ``size`` elements (ONNX Resize)."""
    if mode == "align_corners":
        return Fraction(place * (size - 1), max(places - 1, 1))
    if mode == "asymmetric":
        return Fraction(place * size, places)
    if mode == "pytorch_half_pixel" and places == 1:
        return Fraction(0)
    return (Fraction(place) + Fraction(1, 2)) * Fraction(size, places) - Fraction(1, 2)


def _is_held(size: int, places: int, mode: str) -> bool:
    """True if float32 holds each coordinate, whichever way it is computed."""
    if mode == "align_corners":
        return 1 in (size, places) or _is_power_of_two(Fraction(size - 1, places - 1))
    return _is_power_of_two(Fraction(size, places))


def _off(at: Fraction) -> float:
    """The error of a coordinate that float32 does not hold."""
    return 8 * _FLOAT32 * (abs(float(at)) + 2)


def _nearest(
    data: Estimate, axes: list[int], size: tuple[int, ...], mode: str, rounding: str
) -> Estimate:
    result, free = data, np.zeros(data.value.shape, np.bool_)
    for axis, places in zip(axes, size, strict=True):
        number, other = _numbers(data.value.shape[axis], places, mode, _ROUNDINGS[rounding])
        first, second = _taken(result, number, axis), _taken(result, other, axis)
        differ = _differ(first, second)
        lost = np.take(free, number, axis) | np.take(free, other, axis)
        result, free = first, lost | differ
    return unconstrain(result, free)


def _numbers(
    size: int, places: int, mode: str, rounded: Callable[[Fraction], tuple[int, ...]]
) -> tuple[Array, Array]:
    """The least and the last element that may be nearest to each place."""
    held, ends = _is_held(size, places, mode), []
    for place in range(places):
        at = _coordinate(place, size, places, mode)
        off = Fraction(0 if held else _off(at))
        numbers = [number for side in (at - off, at + off) for number in rounded(side)]
        ends.append([min(max(number, 0), size - 1) for number in (min(numbers), max(numbers))])
    first, last = np.array(ends, np.int64).reshape(-1, 2).T
    return first, last


def _taken(estimate: Estimate, numbers: Array, axis: int) -> Estimate:
    value, error = (np.take(each, numbers, axis) for each in (estimate.value, estimate.error))
    return replace(estimate, value=value, error=error)


def _differ(first: Estimate, second: Estimate) -> Flags:
    same = (first.value == second.value) & (first.error == second.error)
    differ: Flags = ~(same | (np.isnan(first.value) & np.isnan(second.value)))
    return differ


def _linear(data: Estimate, axes: list[int], size: tuple[int, ...], mode: str) -> Estimate:
    x, wild = ordinary(data), unknown(data).astype(np.float64)
    value, moved, reach, wide = x.value, x.error, x.reach, x.reach
    for axis, places in zip(axes, size, strict=True):
        weights, near, off = _shares(data.value.shape[axis], places, mode)
        shares = weights.astype(np.float64)
        value, moved = _spread(value, weights, axis), _spread(moved, shares, axis)
        reach = _spread(reach, shares, axis)
        wide = _spread(wide, shares + off, axis)
        wild = _spread(wild, near, axis)
    # A share, its complement, two products and a sum along each axis.
    slack = 4 * len(axes) * wide
    return computed(
        data.dtype, value, moved + (wide - reach), 2, slack=slack, unconstrained=wild > 0
    )


def _spread(array: Array, shares: Array, axis: int) -> Array:
    """``array`` with places along ``axis``: sums with the ``shares``, (places, elements)."""
    result: Array = np.moveaxis(np.tensordot(shares, array, (1, axis)), 0, axis)
    return result


def _shares(size: int, places: int, mode: str) -> tuple[Array, Array, Array]:
    """Arrays (places, elements): shares, 1 where an element may be met, how far off each is."""
    shape = (places, size)
    weights, near, off = np.zeros(shape, np.longdouble), np.zeros(shape), np.zeros(shape)
    held = _is_held(size, places, mode)
    for place in range(places):
        at = _coordinate(place, size, places, mode)
        at = min(max(at, Fraction(0)), Fraction(size - 1))
        low = floor(at)
        share = np.longdouble((at - low).numerator) / np.longdouble((at - low).denominator)
        weights[place, low] += 1 - share
        weights[place, min(low + 1, size - 1)] += share
        for element in (low, low + 1) if held else range(low - 1, low + 3):
            near[place, min(max(element, 0), size - 1)] = 1
            if not held:
                off[place, min(max(element, 0), size - 1)] = _off(at)
    return weights, near, off
