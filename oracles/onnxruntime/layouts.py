"""Layouts as Transpose and Reshape nodes, read from their text without any other oracle's help."""

from collections.abc import Callable

from relaxcheck.oracles.onnxruntime.graph import Graph, Wire


def unpack(graph: Graph, wire: Wire, layout: str, canonical: str) -> Wire:
    """``wire`` in ``layout`` as a value in ``canonical``.

    Raises:
        ValueError: malformed text, or an axis that is not in ``canonical``.
    """
    letters = [letter for letter, _ in _axes(layout)]
    place = _place(canonical)
    # Each inner part goes right behind its primal axis, where a reshape merges the two.
    order = sorted(range(len(letters)), key=lambda at: place(letters[at]))
    merged = dict.fromkeys(canonical, 1)
    for letter, size in zip(letters, wire.shape, strict=True):
        merged[letter.upper()] *= size
    turned = graph.call("Transpose", wire.name, perm=order)
    shape = tuple(merged.values())
    return Wire(graph.reshape(turned, shape), shape, wire.dtype)


def pack(graph: Graph, wire: Wire, layout: str, canonical: str) -> Wire:
    """``wire`` in ``canonical`` as a value in ``layout``. Raises ``ValueError`` as above."""
    factors = dict(_axes(layout))
    whole = dict(zip(canonical, wire.shape, strict=True))
    split = sorted(factors, key=_place(canonical))
    sizes = {
        letter: whole[letter] // factors.get(letter.lower(), 1)
        if letter.isupper()
        else factors[letter]
        for letter in split
    }
    apart = graph.reshape(wire.name, [sizes[letter] for letter in split])
    turned = graph.call("Transpose", apart, perm=[split.index(letter) for letter in factors])
    return Wire(turned, tuple(sizes[letter] for letter in factors), wire.dtype)


def _axes(layout: str) -> list[tuple[str, int]]:
    """The letters of ``layout`` in order, each with the number before it (1 without)."""
    axes, number = [], ""
    for character in layout:
        if character.isdigit():
            number += character
        elif character.isupper() == bool(number):
            raise ValueError(f"layout {layout!r}: a number goes before a lower-case letter")
        else:
            axes.append((character, int(number or 1)))
            number = ""
    return axes


def _place(canonical: str) -> Callable[[str], tuple[int, bool]]:
    """The order of a canonical layout whose axes are split: ``NCcHW``."""
    return lambda letter: (canonical.index(letter.upper()), letter.islower())
