"""The reference's ``image.resize3d``: nearest neighbour and linear interpolation, axis by axis.

A place's coordinate is taken to be rounded in float32, as in ``image.resize2d``, unless float32
holds it whichever way it is computed.
"""

from dataclasses import replace
from fractions import Fraction
from math import floor

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

_ALIKE = {
    ("nearest_neighbor", "asymmetric"),
    ("linear", "half_pixel"),
    ("linear", "align_corners"),
}

_LAYOUTS = ("NCDHW", "NDHWC")


def _way(attributes: Call | Node) -> tuple[str, str]:
    named = attributes.attributes
    method = str(named.get("method") or "linear")
    return method, str(named.get("coordinate_transformation_mode") or "half_pixel")


def _is_left_open(call: Call) -> bool:
    return _way(call) not in _ALIKE


def _rounds_otherwise(call: Call) -> bool:
    # TOPI takes none for floor.
    return _way(call)[0] != "linear" and call.attributes.get("rounding_method") not in (
        *(None, "", "floor"),
    )


limit(
    _NAME,
    When("a method and coordinates that frameworks define differently", _is_left_open),
    "frameworks define the method with these coordinates differently",
)
limit(
    _NAME,
    When("nearest neighbour other than by floor", _rounds_otherwise),
    "nearest neighbour other than by floor",
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
        return _nearest(data, axes, size)
    return _linear(data, axes, size, mode == "align_corners")


def _is_power_of_two(ratio: Fraction) -> bool:
    return all(part & (part - 1) == 0 for part in (ratio.numerator, ratio.denominator))


def _nearest(data: Estimate, axes: list[int], size: tuple[int, ...]) -> Estimate:
    result, free = data, np.zeros(data.value.shape, np.bool_)
    for axis, places in zip(axes, size, strict=True):
        count = data.value.shape[axis]
        at = np.arange(places)
        number = at * count // places
        # A whole coordinate may come out a little smaller, unless float32 holds the scale.
        either = (at * count % places == 0) & (at > 0)
        either &= not _is_power_of_two(Fraction(1, Fraction(count, places).denominator))
        before = np.maximum(number - either, 0)
        first, second = _taken(result, number, axis), _taken(result, before, axis)
        differ = _differ(first, second)
        lost = np.take(free, number, axis) | np.take(free, before, axis)
        result, free = first, lost | differ
    return unconstrain(result, free)


def _taken(estimate: Estimate, numbers: Array, axis: int) -> Estimate:
    value, error = (np.take(each, numbers, axis) for each in (estimate.value, estimate.error))
    return replace(estimate, value=value, error=error)


def _differ(first: Estimate, second: Estimate) -> Flags:
    same = (first.value == second.value) & (first.error == second.error)
    differ: Flags = ~(same | (np.isnan(first.value) & np.isnan(second.value)))
    return differ


def _linear(data: Estimate, axes: list[int], size: tuple[int, ...], aligned: bool) -> Estimate:
    x, wild = ordinary(data), unknown(data).astype(np.float64)
    value, moved, reach, wide = x.value, x.error, x.reach, x.reach
    for axis, places in zip(axes, size, strict=True):
        weights, near, off = _shares(data.value.shape[axis], places, aligned)
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


def _shares(size: int, places: int, aligned: bool) -> tuple[Array, Array, Array]:
    """Arrays (places, elements): shares, 1 where an element may be met, how far off each is."""
    shape = (places, size)
    weights, near, off = np.zeros(shape, np.longdouble), np.zeros(shape), np.zeros(shape)
    held = _is_power_of_two(Fraction(size - aligned, max(places - aligned, 1)) or Fraction(1))
    held |= aligned and 1 in shape
    for place in range(places):
        if aligned:
            at = Fraction(place * (size - 1), max(places - 1, 1))
        else:
            at = (Fraction(place) + Fraction(1, 2)) * Fraction(size, places) - Fraction(1, 2)
        at = min(max(at, Fraction(0)), Fraction(size - 1))
        low = floor(at)
        share = np.longdouble((at - low).numerator) / np.longdouble((at - low).denominator)
        weights[place, low] += 1 - share
        weights[place, min(low + 1, size - 1)] += share
        for element in (low, low + 1) if held else range(low - 1, low + 3):
            near[place, min(max(element, 0), size - 1)] = 1
            if not held:
                off[place, min(max(element, 0), size - 1)] = 8 * _FLOAT32 * (float(at) + 2)
    return weights, near, off
