"""The reference's ``image.resize2d`` and ``image.resize3d``, axis by axis.

A place's coordinate is taken to be rounded in float32, as PyTorch, ONNX Runtime and TVM have it,
unless float32 holds it whichever way it is computed: a linear or cubic result may be off by what
that moves, a nearest one by what the elements that may be nearest differ. Where float32 holds the
coordinates nothing moves, and of float64 all digits count.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.limitations import Call, When
from relaxcheck.oracles.reference import cubic as convolution
from relaxcheck.oracles.reference.attribute_values import integer, number, several, text
from relaxcheck.oracles.reference.bounds import computed, unconstrain
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, Flags, ordinary, unknown
from relaxcheck.oracles.reference.evaluation import limit, operator

_LAYOUTS = {"image.resize2d": ("NCHW", "NHWC"), "image.resize3d": ("NCDHW", "NDHWC")}
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


@dataclass(frozen=True, slots=True)
class _Cubic:
    """The cubic convolution of ``alpha``, over the elements ``inside`` alone or clamped ones."""

    alpha: Fraction
    inside: bool

    def weight(self, distance: Fraction) -> Fraction:
        """The weight of an element at a ``distance`` from 0 to 2."""
        weight: Fraction = (convolution.near if distance <= 1 else convolution.far)(
            distance, self.alpha
        )
        return weight


def _way(attributes: Call | Node) -> tuple[str, str]:
    named = attributes.attributes
    method = str(named.get("method") or "linear")
    return method, str(named.get("coordinate_transformation_mode") or "half_pixel")


def _rounding(node: Node) -> str:
    said = node.attributes.get("rounding_method")
    if said is None and node.operator == "image.resize2d":
        return "round"
    # TOPI takes none for floor with these coordinates, and for "round" with the others.
    return str(said or ("floor" if _way(node)[1] == "asymmetric" else "round"))


def _is_left_open(call: Call) -> bool:
    method, mode = _way(call)
    return method not in ("linear", "nearest_neighbor", "cubic") or mode not in _COORDINATES


for _name in _LAYOUTS:
    limit(
        _name,
        When("tf_half_pixel_for_nn, or a region of interest", _is_left_open),
        "frameworks define the method with these coordinates differently",
    )


@operator("image.resize2d")
def _resize2d(node: Node, operands: list[Estimate]) -> Estimate:
    return _resize(node, operands)


@operator("image.resize3d")
def _resize3d(node: Node, operands: list[Estimate]) -> Estimate:
    return _resize(node, operands)


def _resize(node: Node, operands: list[Estimate]) -> Estimate:
    layouts, data = _LAYOUTS[node.operator], operands[0]
    layout, rank = text(node, "layout", layouts[0]), len(layouts[0])
    if layout not in layouts or data.value.ndim != rank:
        raise ValueError(f"{node.operator}: layout {layout} of rank {data.value.ndim}")
    method, mode = _way(node)
    axes = [layout.index(letter) for letter in "DHW" if letter in layout]
    if len(operands) > 1:
        size = tuple(operands[1].value.tolist())
    else:
        size = several(node, "size", 1, len(axes))
    if min(*size, *(data.value.shape[axis] for axis in axes)) < 1:
        raise ValueError(f"{node.operator} of {data.value.shape} to {size}")
    if method == "nearest_neighbor":
        return _nearest(data, axes, size, mode, _rounding(node))
    cubic = None
    if method == "cubic":
        alpha = Fraction(number(node, "cubic_alpha", -0.75))
        cubic = _Cubic(alpha, integer(node, "cubic_exclude", 0) == 1)
    return _weighted(data, axes, size, mode, cubic)


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
        lost = np.take(free, number, axis) | np.take(free, other, axis)
        result, differ = _either(first, second)
        free = lost | differ
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


def _either(first: Estimate, second: Estimate) -> tuple[Estimate, Flags]:
    """One of the two, so far off as to hold the other; and where no error is so large."""
    signs = np.signbit(first.value) == np.signbit(second.value)
    same = signs & (first.value == second.value) & (first.error == second.error)
    same |= np.isnan(first.value) & np.isnan(second.value)
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(first.value - second.value).astype(np.float64) + second.error
    apart = np.nextafter(np.maximum(apart, first.error), np.inf)
    # Of zeros of two signs either is right; whether an infinity is cannot be said by an error.
    bounded = np.isfinite(apart) & (first.value != second.value)
    error = np.where(same | ~bounded, first.error, apart)
    return replace(first, error=error), ~(same | bounded)


def _weighted(
    data: Estimate, axes: list[int], size: tuple[int, ...], mode: str, cubic: _Cubic | None
) -> Estimate:
    x, wild = ordinary(data), unknown(data).astype(np.float64)
    value, moved, reach, wide, taken = x.value, x.error, x.reach, x.reach, x.reach
    # By axis, the sums of products with a weight along it that is all rounding.
    rounded = [x.reach] * (len(axes) if cubic else 0)
    for at, (axis, places) in enumerate(zip(axes, size, strict=True)):
        weights, near, off = _shares(data.value.shape[axis], places, mode, cubic)
        shares = np.abs(weights).astype(np.float64)
        value, moved = _spread(value, weights, axis), _spread(moved, shares, axis)
        reach = _spread(reach, shares, axis)
        wide = _spread(wide, shares + off, axis)
        taken = _spread(taken, near, axis)
        wild = _spread(wild, near, axis)
        rounded = [
            _spread(each, near if of == at else shares + off, axis)
            for of, each in enumerate(rounded)
        ]
    lost = wild > 0
    # A share, its complement, two products and a sum along each axis.
    slack = 4 * len(axes) * wide
    if cubic is not None:
        # As its coordinate, a weight is at least of float32.
        own = convolution.ROUNDINGS * min(1.0, _FLOAT32 / FORMATS[data.dtype].unit)
        slack = slack + own * (4 if cubic.inside else 1) * sum(rounded)
        # Sums along an axis come first, and are larger where weights are negative.
        lost = lost | ~(taken <= FORMATS[data.dtype].largest)
    return computed(data.dtype, value, moved + (wide - reach), 2, slack=slack, unconstrained=lost)


def _spread(array: Array, shares: Array, axis: int) -> Array:
    """``array`` with places along ``axis``: sums with the ``shares``, (places, elements)."""
    result: Array = np.moveaxis(np.tensordot(shares, array, (1, axis)), 0, axis)
    return result


def _shares(size: int, places: int, mode: str, cubic: _Cubic | None) -> tuple[Array, Array, Array]:
    """Arrays (places, elements): shares, how often an element may be met, how far off each is."""
    shape = (places, size)
    weights, near, off = np.zeros(shape, np.longdouble), np.zeros(shape), np.zeros(shape)
    held = _is_held(size, places, mode)
    for place in range(places):
        at = _coordinate(place, size, places, mode)
        if cubic is None:
            at = min(max(at, Fraction(0)), Fraction(size - 1))
        shares = _linear(at) if cubic is None else _convolved(at, size, cubic)
        for element, share in shares.items():
            within = min(max(element, 0), size - 1)
            weights[place, within] += _long(share)
        for element in shares if held else range(min(shares) - 1, max(shares) + 2):
            within = min(max(element, 0), size - 1)
            near[place, within] += 1
            if not held:
                off[place, within] += _off(at) * (1 if cubic is None else _steepest(cubic))
    return weights, near, off


def _linear(at: Fraction) -> dict[int, Fraction]:
    """The share of the elements before and after the coordinate ``at``."""
    low = floor(at)
    return {low: 1 - (at - low), low + 1: at - low}


def _convolved(at: Fraction, size: int, cubic: _Cubic) -> dict[int, Fraction]:
    """The share of each of the four elements around the coordinate ``at``."""
    low = floor(at)
    shares = {each: cubic.weight(abs(at - each)) for each in range(low - 1, low + 3)}
    if not cubic.inside:
        return shares
    shares = {each: share if 0 <= each < size else Fraction(0) for each, share in shares.items()}
    total = sum(shares.values())
    return {each: share / total for each, share in shares.items()}


def _steepest(cubic: _Cubic) -> float:
    # Divided by the sum of those inside, a half at least, which moves as well.
    return convolution.STEEPEST * (4 if cubic.inside else 1)


def _long(share: Fraction) -> np.longdouble:
    return np.longdouble(share.numerator) / np.longdouble(share.denominator)
