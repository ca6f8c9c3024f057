"""The reference's ``image.resize2d``: nearest neighbour and linear interpolation.

A place's coordinate is taken to be rounded in float32, as PyTorch, ONNX Runtime and TVM have it: a
linear result may be off by what that moves, and a nearest one may be either neighbour where the
coordinate is a whole number and the scale is not a power of two. Where it is one, float32 holds
each coordinate: nothing moves, and of float64 all digits count.
"""

from fractions import Fraction

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.limitations import Call, When, not_default
from relaxcheck.oracles.reference.attribute_values import integers, text
from relaxcheck.oracles.reference.bounds import computed, unconstrain
from relaxcheck.oracles.reference.estimate import Estimate, Flags, ordinary, unknown
from relaxcheck.oracles.reference.evaluation import limit, operator

_FLOAT32 = 2.0**-24

MODES = {
    ("nearest_neighbor", "asymmetric"),
    ("linear", "half_pixel"),
    ("linear", "align_corners"),
}
"""Methods and coordinate modes that all frameworks define alike."""


def _is_left_open(call: Call) -> bool:
    method = call.attributes.get("method", "linear")
    mode = call.attributes.get("coordinate_transformation_mode", "half_pixel")
    return (method, mode) not in MODES


def _rounds_otherwise(call: Call) -> bool:
    if call.attributes.get("method", "linear") == "linear":
        return False
    return call.attributes.get("rounding_method", "round") != "floor"


limit("image.resize2d", not_default("layout", "NCHW"), "layout is not NCHW")
limit(
    "image.resize2d",
    When("a method and coordinates that frameworks define differently", _is_left_open),
    "frameworks define the method with these coordinates differently",
)
limit(
    "image.resize2d",
    When("nearest neighbour other than by floor", _rounds_otherwise),
    "nearest neighbour other than by floor",
)


@operator("image.resize2d")
def _resize2d(node: Node, operands: list[Estimate]) -> Estimate:
    method = text(node, "method", "linear")
    mode = text(node, "coordinate_transformation_mode", "half_pixel")
    out = tuple(operands[1].value.tolist()) if len(operands) > 1 else integers(node, "size")
    size = operands[0].value.shape[2:]
    if len(size) != 2 or min(size) < 1 or min(out) < 1:
        raise ValueError(f"image.resize2d of {size} to {out}")
    if method == "linear":
        return _linear(operands[0], out * (3 - len(out)), mode == "align_corners")
    return _nearest(operands[0], out * (3 - len(out)))


def _nearest(data: Estimate, out: tuple[int, ...]) -> Estimate:
    whole: list[Array] = []
    unsure: list[Flags] = []
    for size, places in zip(data.value.shape[2:], out, strict=True):
        at = np.arange(places)
        whole.append(at * size // places)
        step = Fraction(size, places)
        rounded = step.denominator & (step.denominator - 1) != 0
        unsure.append((at * size % places == 0) & (at > 0) & rounded)

    def picked(array: Array, back: tuple[int, ...]) -> Array:
        rows, columns = (k - b * u for k, b, u in zip(whole, back, unsure, strict=True))
        elements: Array = array[:, :, rows][:, :, :, columns]
        return elements

    x = ordinary(data)
    value, error = picked(x.value, (0, 0)), picked(x.error, (0, 0))
    unconstrained = picked(unknown(data), (0, 0))
    for back in ((0, 1), (1, 0), (1, 1)):
        apart = np.abs(picked(x.value, back) - value).astype(np.float64)
        error = np.maximum(error, apart + picked(x.error, back))
        unconstrained = unconstrained | picked(unknown(data), back)
    return unconstrain(Estimate(value, error, data.dtype), unconstrained)


def _linear(data: Estimate, out: tuple[int, ...], corners: bool) -> Estimate:
    x, wild = ordinary(data), unknown(data).astype(np.float64)
    weights: list[Array] = []
    below: list[Array] = []
    shaky: list[Array] = []
    for size, places in zip(x.value.shape[2:], out, strict=True):
        coordinates = [_coordinate(at, size, places, corners) for at in range(places)]
        weights.append(_weights(coordinates, size))
        below.append(np.array([int(c) for c in coordinates]))
        unit = 0.0 if _is_held(size, places, corners) else 8 * _FLOAT32
        shaky.append(np.array([unit * (float(c) + 2) for c in coordinates]))
    rows, columns = weights

    def spread(array: Array) -> Array:
        values: Array = rows @ array @ columns.T
        return values

    value, moved = spread(x.value), spread(x.error.astype(np.longdouble)).astype(np.float64)
    # The largest magnitude near by, in case a coordinate falls into the next cell.
    near, touched = np.zeros(value.shape), np.zeros(value.shape)
    for down in range(-1, 3):
        for right in range(-1, 3):
            at_rows = np.clip(below[0] + down, 0, x.value.shape[2] - 1)
            at_columns = np.clip(below[1] + right, 0, x.value.shape[3] - 1)
            near = np.maximum(near, x.reach[:, :, at_rows][:, :, :, at_columns])
            touched = np.maximum(touched, wild[:, :, at_rows][:, :, :, at_columns])
    moved = moved + 2 * near * (shaky[0][:, None] + shaky[1])
    return computed(data.dtype, value, moved, 2, slack=8 * near, unconstrained=touched > 0)


def _is_held(size: int, places: int, corners: bool) -> bool:
    """True if float32 holds all coordinates, whether multiplied by the scale or divided by 1 / it.

    That is so where the scale is a power of two, as sizes are far below 2^20, or where the only
    place is the corner.
    """
    if corners and 1 in (size, places):
        return True
    scale = Fraction(size - corners, places - corners)
    return all(part & (part - 1) == 0 for part in (scale.numerator, scale.denominator))


def _coordinate(at: int, size: int, places: int, corners: bool) -> Fraction:
    """The coordinate of place ``at`` of ``places`` among ``size`` elements, clamped to them."""
    if corners:
        return Fraction(at * (size - 1), places - 1) if places > 1 else Fraction(0)
    middle = (Fraction(at) + Fraction(1, 2)) * Fraction(size, places) - Fraction(1, 2)
    return min(max(middle, Fraction(0)), Fraction(size - 1))


def _weights(coordinates: list[Fraction], size: int) -> Array:
    """The share that each element has in each place, (places, size)."""
    weights = np.zeros((len(coordinates), size), np.longdouble)
    for place, coordinate in enumerate(coordinates):
        low = int(coordinate)
        part = coordinate - low
        share = np.longdouble(part.numerator) / np.longdouble(part.denominator)
        weights[place, low] += 1 - share
        weights[place, min(low + 1, size - 1)] += share
    return weights
