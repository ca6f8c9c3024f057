"""Shapes of fresh inputs, the simplest first."""

from collections.abc import Sequence

from relaxcheck.generators.core.dims import Dim, symbols

Shape = tuple[Dim, ...]

SYMBOLIC: tuple[Shape, ...] = (
    ("m",), ("m", 4), ("m", "n"), (3, "m"), ("b", 4, "m"), (2, "m", "n"), ("m", 1, "n"),
    ("b", 2, "m", "n"), (1, 4, "m", 5), (2, 4, "m", "m"),
)  # fmt: skip

STATIC: tuple[Shape, ...] = (
    (3,), (1,), (2, 3), (3, 1), (0, 2), (17,), (2, 3, 4), (1, 2, 5), (1, 2, 3, 4), (2, 4, 5, 5),
)  # fmt: skip

ROOMY: Shape = ("b", 4, "m")
"""A shape that most steps fit."""


def shapes(ranks: Sequence[int], *, symbolic: bool) -> tuple[Shape, ...]:
    """The shapes of one of ``ranks``; a scalar has no symbol."""
    known = SYMBOLIC if symbolic else STATIC
    return tuple(shape for shape in known if len(shape) in ranks) or ((),)


def is_static(shape: Sequence[Dim]) -> bool:
    """Return True if no dimension has a symbol."""
    return not any(map(symbols, shape))
