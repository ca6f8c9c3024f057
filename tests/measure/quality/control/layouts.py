"""Layouts read letter by letter; where an element lies is found by index arithmetic alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


class LayoutError(ValueError):
    """Text that is no layout, or a shape that does not fit one."""


@dataclass(frozen=True, slots=True)
class LayoutAxis:
    """One dimension of a laid-out tensor: of the axis ``letter``, ``inner`` elements or the rest.

    ``inner`` is 0 for the outer dimension of its axis.
    """

    letter: str
    inner: int = 0


def parse(layout: str, letters: str) -> tuple[LayoutAxis, ...]:
    """The dimensions of ``layout``, whose axes have to be exactly ``letters``, each split once.

    Raises:
        LayoutError: another character, an axis missing or met twice, a split without its axis.
    """
    parts: list[LayoutAxis] = []
    digits = ""
    for character in layout:
        if character.isdigit():
            digits += character
        elif character.upper() not in letters or character.islower() != bool(digits):
            raise LayoutError(f"layout {layout!r} has an unexpected {character!r}")
        else:
            parts.append(LayoutAxis(character.upper(), int(digits or 0)))
            digits = ""
    outer = sorted(part.letter for part in parts if not part.inner)
    inner = [part.letter for part in parts if part.inner]
    if digits or outer != sorted(letters) or len(set(inner)) != len(inner):
        raise LayoutError(f"layout {layout!r} does not have each axis of {letters} once")
    return tuple(parts)


def factor(parts: Sequence[LayoutAxis], letter: str) -> int:
    """The number of elements of the axis ``letter`` in its inner dimension."""
    return prod(part.inner for part in parts if part.letter == letter and part.inner)


def extents(layout: str, letters: str, shape: Sequence[int]) -> tuple[int, ...]:
    """The extent of each axis of ``letters`` in a tensor of ``shape`` in ``layout``.

    Raises:
        LayoutError: another rank, or an inner dimension of another size.
    """
    parts = parse(layout, letters)
    if len(parts) != len(shape):
        raise LayoutError(f"layout {layout!r} is of rank {len(parts)}, the shape is {list(shape)}")
    sizes = dict.fromkeys(letters, 1)
    for part, size in zip(parts, shape, strict=True):
        if part.inner and part.inner != size:
            raise LayoutError(f"layout {layout!r} does not fit the shape {list(shape)}")
        sizes[part.letter] *= size
    return tuple(sizes[letter] for letter in letters)


def laid_out(layout: str, letters: str, sizes: Sequence[int]) -> tuple[int, ...]:
    """The shape in ``layout`` of a tensor whose axes ``letters`` have ``sizes`` elements.

    Raises:
        LayoutError: an axis is not a multiple of its inner dimension.
    """
    parts = parse(layout, letters)
    extent = dict(zip(letters, sizes, strict=True))
    for letter, size in extent.items():
        if size % factor(parts, letter):
            raise LayoutError(f"layout {layout!r} does not divide {size} channels of axis {letter}")
    return tuple(part.inner or extent[part.letter] // factor(parts, part.letter) for part in parts)


def _positions(
    parts: Sequence[LayoutAxis], letters: str, sizes: Mapping[str, int]
) -> tuple[Array, ...]:
    """For each dimension of the layout, where the elements in the order of ``letters`` lie."""
    mesh = np.ogrid[tuple(slice(sizes[letter]) for letter in letters)]
    along = dict(zip(letters, mesh, strict=True))
    return tuple(
        along[part.letter] % part.inner
        if part.inner
        else along[part.letter] // factor(parts, part.letter)
        for part in parts
    )


def read(array: Array, layout: str, letters: str) -> Array:
    """``array``, which is in ``layout``, with its axes in the order of ``letters``."""
    sizes = dict(zip(letters, extents(layout, letters, array.shape), strict=True))
    result: Array = array[_positions(parse(layout, letters), letters, sizes)]
    return result


def write(array: Array, layout: str, letters: str) -> Array:
    """``array``, whose axes are ``letters``, in ``layout``."""
    sizes = dict(zip(letters, array.shape, strict=True))
    result = np.empty(laid_out(layout, letters, array.shape), array.dtype)
    result[_positions(parse(layout, letters), letters, sizes)] = array
    return result
