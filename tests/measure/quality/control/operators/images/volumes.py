"""``image.resize3d``: one axis after the other, in any order."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import (
    FLOATS,
    Array,
    Type,
    one_dtype,
    operator,
    refuse,
    text,
    wholes,
)
from tests.measure.quality.control.operators.movement import along
from tests.measure.quality.control.rounding import constant
from tests.measure.quality.control.summation import Freedom

_WAYS = (
    *(("linear", "half_pixel"), ("linear", "align_corners")),
    ("nearest_neighbor", "asymmetric"),
)
_LAYOUTS = ("NCDHW", "NDHWC")


def _axes(node: Node, rank: int) -> list[int]:
    layout = text(node, "layout", "NCDHW")
    if layout not in _LAYOUTS or rank != 5:
        raise refuse(node, f"layout {layout!r} of rank {rank}")
    return [layout.index(letter) for letter in "DHW"]


def _way(node: Node) -> tuple[str, str]:
    way = text(node, "method", "linear"), text(node, "coordinate_transformation_mode", "half_pixel")
    if way not in _WAYS:
        raise refuse(node, f"method {way[0]!r} with {way[1]!r}")
    if way[0] != "linear" and text(node, "rounding_method", "floor") != "floor":
        raise refuse(node, f"rounding_method {text(node, 'rounding_method', 'floor')!r}")
    return way


def _infer(node: Node, operands: Sequence[Type]) -> Type:
    (x,), size = operands, wholes(node, "size")
    axes = _axes(node, x.rank)
    _way(node)
    if len(size) not in (1, 3):
        raise refuse(node, f"size {list(size)} for three axes")
    sizes = size * (3 // len(size))
    if min(*sizes, *(x.shape[axis] for axis in axes)) < 1:
        raise refuse(node, f"size {list(size)} of a volume of {x.shape}")
    shape = list(x.shape)
    for axis, places in zip(axes, sizes, strict=True):
        shape[axis] = places
    return Type(tuple(shape), one_dtype(node, operands, FLOATS))


@operator("image.resize3d", _infer)
def _resize3d(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    (x,), size = operands, wholes(node, "size")
    axes, sizes = _axes(node, x.ndim), size * (3 // len(size))
    method, mode = _way(node)
    wide = x.astype(np.float32) if x.dtype.name in ("float16", "bfloat16") else x
    rounded = freedom.choice(("exact", "float32")) == "float32"
    for at in freedom.permutation(3):
        axis, places = axes[at], sizes[at]
        if method == "nearest_neighbor":
            wide = along(wide, axis, _before(x.shape[axis], places, rounded))
        else:
            line = _line(x.shape[axis], places, mode == "align_corners")
            if rounded:
                line = line.astype(np.float32).astype(np.longdouble)
            wide = _between(wide, axis, line, freedom)
    return wide.astype(x.dtype)


def _before(size: int, places: int, rounded: bool) -> Array:
    """The element at or before each place."""
    at = np.arange(places)
    if not rounded:
        return at * size // places
    scale = np.float32(size) / np.float32(places)
    return np.clip(np.floor(at.astype(np.float32) * scale).astype(np.int64), 0, size - 1)


def _line(size: int, places: int, aligned: bool) -> Array:
    """The coordinates of the places among the elements."""
    line = []
    for at in range(places):
        if aligned:
            exact = Fraction(at * (size - 1), max(places - 1, 1))
        else:
            exact = Fraction(size * (2 * at + 1) - places, 2 * places)
        exact = min(max(exact, Fraction(0)), Fraction(size - 1))
        line.append(np.longdouble(exact.numerator) / np.longdouble(exact.denominator))
    return np.array(line, np.longdouble)


def _between(x: Array, axis: int, line: Array, freedom: Freedom) -> Array:
    low = np.floor(line).astype(np.int64)
    share = (line - low).astype(x.dtype).reshape(-1, *[1] * (x.ndim - axis - 1))
    first = along(x, axis, low)
    second = along(x, axis, np.minimum(low + 1, x.shape[axis] - 1))
    if freedom.choice(("step", "shares")) == "step":
        return first + (second - first) * share
    return first * (constant(1, x) - share) + second * share
