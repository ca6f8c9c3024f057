"""``image.resize2d``: nearest neighbour and linear interpolation."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import (
    Array,
    Type,
    UnknownShape,
    operator,
    refuse,
    text,
    wholes,
)
from tests.measure.quality.control.operators.movement import along
from tests.measure.quality.control.rounding import constant
from tests.measure.quality.control.summation import Freedom

_METHODS = ("nearest_neighbor", "linear", "cubic")
_MODES = ("half_pixel", "align_corners", "asymmetric")
_NEAREST = ("nearest_neighbor", "asymmetric")
_LINEAR = (("linear", "half_pixel"), ("linear", "align_corners"))


def _way(node: Node) -> tuple[str, str]:
    way = text(node, "method", "linear"), text(node, "coordinate_transformation_mode", "half_pixel")
    rounding = text(node, "rounding_method", "round")
    for name, value, known in zip(
        ("method", "coordinate_transformation_mode"), way, (_METHODS, _MODES), strict=True
    ):
        if value not in known:
            raise refuse(node, f"{name} {value!r} is none of {', '.join(known)}")
    layout = text(node, "layout", "NCHW")
    if sorted(character for character in layout if character.isupper()) != sorted("NCHW"):
        raise refuse(node, f"layout {layout!r} does not have each axis of NCHW once")
    if way not in (_NEAREST, *_LINEAR) or layout != "NCHW":
        raise NotImplementedError(f"{node.operator} by {way}")
    if way == _NEAREST and rounding != "floor":
        raise NotImplementedError(f"{node.operator} with rounding_method {rounding}")
    return way


def _sizes(node: Node, operands: Sequence[Type]) -> tuple[int, int]:
    if len(operands) > 1:
        if operands[1].values is None:
            raise UnknownShape(node.name)
        listed = operands[1].values
    else:
        listed = wholes(node, "size")
    if len(listed) not in (1, 2):
        raise refuse(node, f"size {list(listed)} for two axes")
    return listed[0], listed[-1]


def _infer(node: Node, operands: Sequence[Type]) -> Type:
    x, out = operands[0], _sizes(node, operands)
    _way(node)
    if x.rank != 4:
        raise refuse(node, f"the data has rank {x.rank}, not 4")
    if min(*x.shape[2:], *out) < 1:
        raise refuse(node, f"size {list(out)} of an image of size {list(x.shape[2:])}")
    return Type((*x.shape[:2], *out), x.dtype)


@operator("image.resize2d", _infer)
def _resize2d(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    x = operands[0]
    values = tuple(operands[1].tolist()) if len(operands) > 1 else None
    types = [Type(x.shape, x.dtype.name)]
    if values is not None:
        types.append(Type((len(values),), "int64", values))
    out, (method, mode) = _sizes(node, types), _way(node)
    coordinates = freedom.choice(("exact", "float32"))
    if method == "nearest_neighbor":
        for axis, places in enumerate(out, 2):
            x = along(x, axis, _nearest(x.shape[axis], places, coordinates))
        return x
    # 16-bit images are interpolated in float32; that of the weights would be lost otherwise.
    wide = x.astype(np.float32) if x.dtype.name in ("float16", "bfloat16") else x
    axes = (2, 3) if freedom.choice(("rows", "columns")) == "rows" else (3, 2)
    for axis in axes:
        wide = _interpolated(wide, axis, out[axis - 2], mode, coordinates, freedom)
    return wide.astype(x.dtype)


def _nearest(size: int, places: int, coordinates: str) -> Array:
    at = np.arange(places)
    if coordinates == "exact":
        return at * size // places
    scale = np.float32(size) / np.float32(places)
    return np.clip(np.floor(at.astype(np.float32) * scale).astype(np.int64), 0, size - 1)


def _interpolated(
    x: Array, axis: int, places: int, mode: str, coordinates: str, freedom: Freedom
) -> Array:
    """``x`` with ``places`` elements along ``axis``, each between two of its own."""
    size = x.shape[axis]
    position = _positions(size, places, mode)
    if coordinates == "float32":
        position = position.astype(np.float32).astype(np.longdouble)
    low = np.floor(position).astype(np.int64)
    share = (position - low).astype(x.dtype).reshape(-1, *[1] * (x.ndim - axis - 1))
    below, above = along(x, axis, low), along(x, axis, np.minimum(low + 1, size - 1))
    if freedom.choice(("step", "shares")) == "step":
        return below + (above - below) * share
    return below * (constant(1, x) - share) + above * share


def _positions(size: int, places: int, mode: str) -> Array:
    """The coordinate of each of ``places`` among ``size`` elements."""
    positions = []
    for at in range(places):
        if mode == "align_corners":
            exact = Fraction(at * (size - 1), max(places - 1, 1))
        else:
            exact = (at + Fraction(1, 2)) * Fraction(size, places) - Fraction(1, 2)
        exact = min(max(exact, Fraction(0)), Fraction(size - 1))
        positions.append(np.longdouble(exact.numerator) / np.longdouble(exact.denominator))
    return np.array(positions, np.longdouble)
