"""``image.resize3d``: one axis after the other, in any order."""

from collections.abc import Sequence

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

_COORDINATES = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel")
_ROUNDINGS = ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")
_LAYOUTS = ("NCDHW", "NDHWC")


def _axes(node: Node, rank: int) -> list[int]:
    layout = text(node, "layout", "NCDHW")
    if layout not in _LAYOUTS or rank != 5:
        raise refuse(node, f"layout {layout!r} of rank {rank}")
    return [layout.index(letter) for letter in "DHW"]


def _way(node: Node) -> tuple[str, str, str]:
    """Method, coordinates and rounding."""
    method = text(node, "method", "linear")
    mode = text(node, "coordinate_transformation_mode", "half_pixel")
    rounding = text(node, "rounding_method", "") or "floor"
    if method not in ("linear", "nearest_neighbor") or mode not in _COORDINATES:
        raise refuse(node, f"method {method!r} with {mode!r}")
    if method != "linear" and rounding not in _ROUNDINGS:
        raise refuse(node, f"rounding_method {rounding!r}")
    return method, mode, rounding


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
    method, mode, rounding = _way(node)
    wide = x.astype(np.float32) if x.dtype.name in ("float16", "bfloat16") else x
    rounded = freedom.choice(("exact", "float32")) == "float32"
    for at in freedom.permutation(3):
        axis, places = axes[at], sizes[at]
        if method == "nearest_neighbor":
            line = _line(x.shape[axis], places, mode, rounded)
            wide = along(wide, axis, _nearest(line, rounding, x.shape[axis]))
        else:
            line = np.clip(_line(x.shape[axis], places, mode, rounded), 0, x.shape[axis] - 1)
            wide = _between(wide, axis, line, freedom)
    return wide.astype(x.dtype)


def _nearest(line: Array, rounding: str, size: int) -> Array:
    """The elements next to the coordinates of ``line``."""
    half = np.longdouble(0.5)
    number = {
        "floor": np.floor(line),
        "ceil": np.ceil(line),
        "round_prefer_floor": np.ceil(line - half),
        "round_prefer_ceil": np.floor(line + half),
    }[rounding]
    return np.clip(number.astype(np.int64), 0, size - 1)


def _line(size: int, places: int, mode: str, rounded: bool) -> Array:
    """The coordinates of the places among the elements, where ``rounded`` by a float32 scale."""
    at, kind = np.arange(places), np.float32 if rounded else np.longdouble
    aligned = mode == "align_corners"
    scale = kind(size - aligned) / kind(max(places - aligned, 1))
    if mode == "pytorch_half_pixel" and places == 1:
        return np.zeros(1, np.longdouble)
    if mode in ("align_corners", "asymmetric"):
        line = (
            at.astype(kind) * scale if rounded else _over(at * (size - aligned), places - aligned)
        )
    elif rounded:
        line = (at.astype(kind) + kind(0.5)) * scale - kind(0.5)
    else:
        line = _over((2 * at + 1) * size - places, 2 * places)
    return line.astype(np.longdouble)


def _over(numerators: Array, denominator: int) -> Array:
    """Quotients, whole ones exact."""
    quotients: Array = numerators.astype(np.longdouble) / np.longdouble(max(denominator, 1))
    return quotients


def _between(x: Array, axis: int, line: Array, freedom: Freedom) -> Array:
    low = np.floor(line).astype(np.int64)
    share = (line - low).astype(x.dtype).reshape(-1, *[1] * (x.ndim - axis - 1))
    first = along(x, axis, low)
    second = along(x, axis, np.minimum(low + 1, x.shape[axis] - 1))
    if freedom.choice(("step", "shares")) == "step":
        return first + (second - first) * share
    return first * (constant(1, x) - share) + second * share
