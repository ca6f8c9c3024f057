"""Tensor layouts: permuted and packed ones, to and from the canonical order of axes.

A layout is written as TVM writes it: an upper-case letter is a *primal* axis; a number and a
lower-case letter (``4c``) is a *sub-axis*, the inner part of the primal axis of the same letter
split by that factor, so that logical ``c = C * 4 + c_inner``.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from relaxcheck.oracles.answer import Array

_TOKEN = re.compile(r"([A-Z])|(\d+)([a-z])")


@dataclass(frozen=True, slots=True)
class Layout:
    """The axes of a layout in order: letters (sub-axes in lower case) and split factors."""

    letters: tuple[str, ...]
    factors: dict[str, int]

    def sources(self, canonical: str) -> tuple[tuple[int, ...], ...]:
        """For each letter of ``canonical``, the positions of its primal axis and sub-axis."""
        return tuple(
            tuple(
                self.letters.index(letter)
                for letter in (primal, primal.lower())
                if letter in self.letters
            )
            for primal in canonical
        )


@lru_cache(maxsize=1024)
def parse(layout: str, canonical: str) -> Layout:
    """The axes of ``layout``, whose primal axes must be those of ``canonical``.

    Raises:
        ValueError: malformed text; a letter that is unknown, repeated or missing; a zero factor.
    """
    letters: list[str] = []
    factors: dict[str, int] = {}
    position = 0
    while position < len(layout):
        token = _TOKEN.match(layout, position)
        if token is None:
            raise ValueError(f"layout {layout!r} is malformed at {layout[position:]!r}")
        letter = token[1] or token[3]
        if letter.upper() not in canonical:
            raise ValueError(f"layout {layout!r}: {letter!r} is not an axis of {canonical}")
        if letter in letters:
            raise ValueError(f"layout {layout!r}: axis {letter!r} is repeated")
        if token[2] is not None:
            factors[letter] = int(token[2])
            if factors[letter] == 0:
                raise ValueError(f"layout {layout!r}: the factor of {letter!r} is zero")
        letters.append(letter)
        position = token.end()
    for primal in canonical:
        if primal not in letters:
            raise ValueError(f"layout {layout!r} has no axis {primal!r}")
    return Layout(tuple(letters), factors)


def unpacking(
    layout: str, canonical: str, shape: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The steps from ``layout`` to the canonical one: an order of axes, then a shape.

    ``shape`` is that of the array in ``layout``.

    Raises:
        ValueError: a bad layout; ``shape`` has another rank, or another size on a sub-axis.
    """
    axes = parse(layout, canonical)
    if len(shape) != len(axes.letters):
        raise ValueError(f"rank {len(shape)} does not match layout {layout!r}")
    for letter, size in zip(axes.letters, shape, strict=True):
        if axes.factors.get(letter, size) != size:
            raise ValueError(f"axis {letter!r} of layout {layout!r} has size {size}")
    sources = axes.sources(canonical)
    merged = tuple(prod(shape[position] for position in group) for group in sources)
    return tuple(position for group in sources for position in group), merged


def packing(
    layout: str, canonical: str, shape: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The steps from the canonical layout to ``layout``: a shape, then an order of axes.

    ``shape`` is that of the canonical array.

    Raises:
        ValueError: a bad layout, another rank, or an axis that its split factor does not divide.
    """
    axes = parse(layout, canonical)
    if len(shape) != len(canonical):
        raise ValueError(f"rank {len(shape)} does not match layout {canonical!r}")
    split: list[int] = []
    for primal, size in zip(canonical, shape, strict=True):
        factor = axes.factors.get(primal.lower())
        if factor is None:
            split.append(size)
            continue
        if size % factor:
            raise ValueError(f"layout {layout!r}: {factor} does not divide {primal} = {size}")
        split += [size // factor, factor]
    order = [position for group in axes.sources(canonical) for position in group]
    return tuple(split), tuple(order.index(position) for position in range(len(order)))


def to_canonical(array: Array, layout: str, canonical: str) -> Array:
    """``array`` in ``layout`` as an array in ``canonical``. Raises ``ValueError`` as above."""
    permutation, shape = unpacking(layout, canonical, array.shape)
    return array.transpose(permutation).reshape(shape)


def from_canonical(array: Array, layout: str, canonical: str) -> Array:
    """``array`` in ``canonical`` as an array in ``layout``. Raises ``ValueError`` as above."""
    shape, permutation = packing(layout, canonical, array.shape)
    return array.reshape(shape).transpose(permutation)
