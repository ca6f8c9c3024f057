"""Layouts: the order of a tensor's axes, with axes split ("packed") where wanted.

``"NCHW4c"``: upper-case letters are axes; a number and a lower-case letter is the inner part of the
axis of that letter, so that the logical index is ``C * 4 + c``.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations

from relaxcheck.generators.core.dims import Dim

_PART = re.compile(r"([A-Z])|(\d+)([a-z])")

FACTORS = (2, 4, 8)
"""The numbers of channels in a group of a packed layout."""


@dataclass(frozen=True, slots=True)
class Extent:
    """``count`` elements, or ``count`` times the value of ``symbol``."""

    count: int
    symbol: str | None = None

    def dim(self, factor: int) -> Dim:
        """The dimension of the outer part when the inner part has ``factor`` elements.

        Raises:
            ValueError: ``factor`` does not divide ``count``.
        """
        outer, rest = divmod(self.count, factor)
        if rest:
            raise ValueError(f"{factor} does not divide {self.count}")
        if self.symbol is None:
            return outer
        return self.symbol if outer == 1 else f"{self.symbol}*{outer}"


def parts(layout: str) -> tuple[tuple[str, int], ...]:
    """(letter, factor) of each dimension of ``layout``; factor 0 for an outer (primal) axis."""
    return tuple(
        (outer, 0) if outer else (inner.upper(), int(factor))
        for outer, factor, inner in _PART.findall(layout)
    )


def packing(layout: str, letter: str) -> int:
    """The number of elements of axis ``letter`` in ``layout``'s inner dimensions: 1 or more."""
    product = 1
    for name, factor in parts(layout):
        if name == letter and factor:
            product *= factor
    return product


def shape(layout: str, extents: Mapping[str, Extent]) -> tuple[Dim, ...]:
    """The dimensions, in the order of ``layout``, of a tensor with these logical extents."""
    return tuple(
        factor or extents[letter].dim(packing(layout, letter)) for letter, factor in parts(layout)
    )


def logical(layout: str, concrete: tuple[int, ...]) -> dict[str, int]:
    """The logical extent of each axis of a tensor of shape ``concrete`` in ``layout``.

    Raises:
        ValueError: ``concrete`` has another rank, or other inner dimensions.
    """
    extents: dict[str, int] = {}
    for (letter, factor), size in zip(parts(layout), concrete, strict=True):
        if factor and factor != size:
            raise ValueError(f"layout {layout}: an inner dimension is {size}")
        extents[letter] = extents.get(letter, 1) * size
    return extents


def data_layouts(spatial: str) -> tuple[str, ...]:
    """Every order of N, C and ``spatial``, then the packed ones, channels-last outer included."""
    packed = (f"NC{spatial}{factor}c" for factor in FACTORS)
    return (*_orders("NC" + spatial), *packed, f"N{spatial}C4c")


def kernel_layouts(spatial: str) -> tuple[str, ...]:
    """Every order of I, O and ``spatial``, then those packed in I, in O and in both."""
    base = "IO" + spatial
    packed = [f"{base}{factor}{letter}" for factor in FACTORS for letter in "io"]
    both = [f"{base}{factor}i{factor}o" for factor in FACTORS]
    return (*_orders(base), *packed, *both, f"{base}2i4o", f"{base}4o4i", f"OI{spatial}4i4o")


def familiar_data_layouts(spatial: str) -> tuple[str, ...]:
    """The data layouts in use: channels first, last, and packed in fours."""
    return f"NC{spatial}", f"N{spatial}C", f"NC{spatial}4c"


def familiar_kernel_layouts(spatial: str, base: str) -> tuple[str, ...]:
    """The kernel layouts in use; ``base`` is the order of the channels in the default, "OI"."""
    return f"{base}{spatial}", f"{spatial}IO", f"{spatial}OI", f"{base}{spatial}4i4o"


def familiar_alternatives(layout: str) -> tuple[str, ...]:
    """The layouts in use of the same axes as ``layout``, the most used first; none if it is one."""
    if not all(factor == 0 for _, factor in parts(layout)) or not layout.isupper():
        return ()
    spatial = "".join(letter for letter in "DHW" if letter in layout)
    data = familiar_data_layouts(spatial)
    kernels = tuple(
        dict.fromkeys(
            name for base in ("OI", "IO") for name in familiar_kernel_layouts(spatial, base)
        )
    )
    alike = [name for name in (*data, *kernels) if sorted(name) == sorted(layout)]
    return () if layout in alike else tuple(alike)


def kind(layout: str | None, spatial: str) -> str | None:
    """The class of ``layout``: itself where its spatial axes stand together, in order.

    So every layout that is in use is a class of its own. The other orders, up to 114 of them, are
    two classes: the spatial axes in order, but apart; and out of order.
    """
    if layout is None or spatial in layout:
        return layout
    in_order = [letter for letter in layout if letter in spatial] == list(spatial)
    return "spatial axes apart" if in_order else "spatial axes out of order"


def _orders(letters: str) -> tuple[str, ...]:
    return tuple("".join(order) for order in permutations(letters))
