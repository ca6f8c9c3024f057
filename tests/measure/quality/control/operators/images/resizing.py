"""``image.resize2d`` and ``image.resize3d``: one axis after the other, in any order."""

from collections.abc import Sequence

import numpy as np

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import (
    FLOATS,
    Array,
    Type,
    UnknownShape,
    number,
    one_dtype,
    operator,
    refuse,
    text,
    whole,
    wholes,
)
from tests.measure.quality.control.operators.movement import along
from tests.measure.quality.control.rounding import constant
from tests.measure.quality.control.summation import Freedom

_COORDINATES = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel")
_ROUNDINGS = ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")
_LAYOUTS = {"image.resize2d": ("NCHW", "NHWC"), "image.resize3d": ("NCDHW", "NDHWC")}


def _axes(node: Node, rank: int) -> list[int]:
    layouts = _LAYOUTS[node.operator]
    layout = text(node, "layout", layouts[0])
    if layout not in layouts or rank != len(layout):
        raise refuse(node, f"layout {layout!r} of rank {rank}")
    return [layout.index(letter) for letter in "DHW" if letter in layout]


def _way(node: Node) -> tuple[str, str, str]:
    """Method, coordinates and rounding."""
    method = text(node, "method", "linear")
    mode = text(node, "coordinate_transformation_mode", "half_pixel")
    usual = "round" if node.operator == "image.resize2d" else ""
    rounding = text(node, "rounding_method", usual)
    rounding = rounding or ("floor" if mode == "asymmetric" else "round")
    if method not in ("linear", "nearest_neighbor", "cubic") or mode not in _COORDINATES:
        raise refuse(node, f"method {method!r} with {mode!r}")
    if method == "nearest_neighbor" and rounding not in (*_ROUNDINGS, "round"):
        raise refuse(node, f"rounding_method {rounding!r}")
    return method, mode, rounding


def _sizes(node: Node, operands: Sequence[Type], count: int) -> tuple[int, ...]:
    if len(operands) == 1:
        listed = wholes(node, "size")
    elif operands[1].values is None:
        raise UnknownShape(node.name)
    else:
        listed = operands[1].values
    if len(listed) not in (1, count):
        raise refuse(node, f"size {list(listed)} for {count} axes")
    return tuple(listed) * (count // len(listed))


def _infer(node: Node, operands: Sequence[Type]) -> Type:
    x = operands[0]
    axes = _axes(node, x.rank)
    _way(node)
    sizes = _sizes(node, operands, len(axes))
    if min(*sizes, *(x.shape[axis] for axis in axes)) < 1:
        raise refuse(node, f"size {list(sizes)} of data of {x.shape}")
    shape = list(x.shape)
    for axis, places in zip(axes, sizes, strict=True):
        shape[axis] = places
    return Type(tuple(shape), one_dtype(node, operands[:1], FLOATS))


@operator("image.resize2d", _infer)
def _resize2d(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    return _resize(node, operands, freedom)


@operator("image.resize3d", _infer)
def _resize3d(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    return _resize(node, operands, freedom)


def _resize(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    x = operands[0]
    axes = _axes(node, x.ndim)
    types = [Type(x.shape, x.dtype.name)]
    if len(operands) > 1:
        listed = tuple(operands[1].tolist())
        types.append(Type((len(listed),), "int64", listed))
    sizes, (method, mode, rounding) = _sizes(node, types, len(axes)), _way(node)
    if rounding == "round":
        rounding = freedom.choice(("round_prefer_floor", "round_prefer_ceil"))
    # 16-bit images are interpolated in float32; that of the weights would be lost otherwise.
    wide = x.astype(np.float32) if x.dtype.name in ("float16", "bfloat16") else x
    rounded = freedom.choice(("exact", "float32")) == "float32"
    for at in freedom.permutation(len(axes)):
        axis, places, size = axes[at], sizes[at], x.shape[axes[at]]
        line = _line(size, places, mode, rounded)
        if method == "nearest_neighbor":
            wide = along(wide, axis, _nearest(line, rounding, size))
        elif method == "linear":
            wide = _between(wide, axis, np.clip(line, 0, size - 1), freedom)
        else:
            alpha = number(node, "cubic_alpha", -0.75)
            inside = bool(whole(node, "cubic_exclude", 0))
            wide = _convolved(wide, axis, line, alpha, inside, freedom)
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


def _convolved(
    x: Array, axis: int, line: Array, alpha: float, inside: bool, freedom: Freedom
) -> Array:
    """Sums of four elements, weighted by Keys' convolution of ``alpha``, in some order."""
    size, low = x.shape[axis], np.floor(line)
    share = (line - low).astype(x.dtype)
    a, one = constant(alpha, x), constant(1, x)
    weights = [
        ((a * share - 2 * a) * share + a) * share,
        ((a + 2) * share - (a + 3)) * share * share + one,
        ((a + 2) * (one - share) - (a + 3)) * (one - share) * (one - share) + one,
        a * share * share * (one - share),
    ]
    numbers = [low.astype(np.int64) + step for step in (-1, 0, 1, 2)]
    if inside:
        weights = [
            np.where((at >= 0) & (at < size), weight, constant(0, x))
            for at, weight in zip(numbers, weights, strict=True)
        ]
        total = weights[0] + weights[1] + weights[2] + weights[3]
        weights = [weight / total for weight in weights]
    result: Array = np.zeros((), x.dtype)
    for tap in freedom.permutation(4):
        weight = weights[tap].astype(x.dtype).reshape(-1, *[1] * (x.ndim - axis - 1))
        result = result + along(x, axis, np.clip(numbers[tap], 0, size - 1)) * weight
    return result
