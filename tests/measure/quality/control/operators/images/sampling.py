"""``image.grid_sample``: one place after the other, along one axis at a time."""

from collections.abc import Sequence

import numpy as np

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import (
    FLOATS,
    Array,
    Type,
    flag,
    one_dtype,
    operator,
    refuse,
    text,
)
from tests.measure.quality.control.summation import WIDER, Freedom

_METHODS = {4: ("bilinear", "nearest", "bicubic"), 5: ("bilinear", "nearest")}
_LAYOUTS = {4: "NCHW", 5: "NCDHW"}


def _infer(node: Node, operands: Sequence[Type]) -> Type:
    data, grid = operands
    dtype = one_dtype(node, operands, FLOATS)
    if data.rank not in _LAYOUTS or text(node, "layout", "NCHW") != _LAYOUTS[data.rank]:
        raise refuse(node, f"layout {text(node, 'layout', 'NCHW')!r} of rank {data.rank}")
    if text(node, "method", "bilinear") not in _METHODS[data.rank]:
        raise refuse(node, f"method {text(node, 'method', 'bilinear')!r} of rank {data.rank}")
    if text(node, "padding_mode", "zeros") not in ("zeros", "border", "reflection"):
        raise refuse(node, f"padding_mode {text(node, 'padding_mode', 'zeros')!r}")
    if grid.rank != data.rank or grid.shape[:2] != (data.shape[0], data.rank - 2):
        raise refuse(node, f"shape {grid.shape} of a grid for images of {data.shape}")
    if min(data.shape[2:]) < 1:
        raise refuse(node, f"shape {data.shape} of images without elements")
    return Type((*data.shape[:2], *grid.shape[2:]), dtype)


@operator("image.grid_sample", _infer)
def _grid_sample(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    data, grid = operands
    own = data.dtype.type
    kind = WIDER[data.dtype.name] if freedom.choice(("own", "wide")) == "wide" else own
    order = freedom.choice(("sum first", "size first"))
    result = np.zeros((*data.shape[:2], *grid.shape[2:]), data.dtype)
    for at in np.ndindex(grid.shape[0], *grid.shape[2:]):
        image = data[at[0]].astype(kind)
        # Each axis is contracted in turn, the last one first.
        for axis in range(data.ndim - 3, -1, -1):
            place = kind(grid[(at[0], data.ndim - 3 - axis, *at[1:])])
            image = _along(node, image, place, order)
        result[(at[0], slice(None), *at[1:])] = image.astype(own)
    return result


def _along(node: Node, image: Array, place: Array, order: str) -> Array:
    """``image`` without its last axis, at the coordinate that ``place`` is on it."""
    kind, size = image.dtype.type, image.shape[-1]
    aligned, method = flag(node, "align_corners", False), text(node, "method", "bilinear")
    one, two = kind(1), kind(2)
    if order == "sum first":
        at = (
            (place + one) * kind(size - 1) / two
            if aligned
            else ((place + one) * kind(size) - one) / two
        )
    else:
        half = kind(size - 1 if aligned else size) / two
        at = place * half + (half if aligned else half - kind(0.5))
    if method != "bicubic":
        at = _inside(node, at, size)
    if method == "nearest":
        return _element(image, int(np.rint(at)))
    low = kind(np.floor(at))
    share, first = at - low, int(low)
    if method == "bilinear":
        return _element(image, first) * (one - share) + _element(image, first + 1) * share
    total = np.zeros(image.shape[:-1], kind)
    for step in range(-1, 3):
        number = int(_inside(node, kind(first + step), size))
        total = total + _element(image, number) * _weight(abs(share - kind(step)))
    return total


def _element(image: Array, number: int) -> Array:
    inside = 0 <= number < image.shape[-1]
    result: Array = image[..., number] if inside else np.zeros(image.shape[:-1], image.dtype)
    return result


def _inside(node: Node, at: Array, size: int) -> Array:
    """The coordinate brought back to the elements, where the padding does so."""
    kind, padding = type(at), text(node, "padding_mode", "zeros")
    if padding == "zeros":
        return at
    if padding == "reflection":
        aligned = flag(node, "align_corners", False)
        low, high = (kind(0), kind(size - 1)) if aligned else (kind(-0.5), kind(size - 0.5))
        if low == high:
            return kind(0)
        span = high - low
        turns = np.floor(abs(at - low) / span)
        rest = abs(at - low) - turns * span
        at = rest + low if turns % 2 == 0 else span - rest + low
    return min(max(at, kind(0)), kind(size - 1))


def _weight(distance: Array) -> Array:
    """The share of an element at a distance of up to 2, by powers of the distance."""
    kind = type(distance)
    square = distance * distance
    cube = square * distance
    if distance <= 1:
        return kind(1.25) * cube - kind(2.25) * square + kind(1)
    return kind(-0.75) * cube + kind(3.75) * square - kind(6) * distance + kind(3)
