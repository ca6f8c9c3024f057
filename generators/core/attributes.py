"""Values of attributes of operators, as data."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from relaxcheck.generators.core.case import Data
from relaxcheck.generators.core.dims import Dim, evaluate, symbols


class ShapeValue(Data, frozen=True, tag="shape"):
    """An attribute that is a shape, with symbolic dimensions where wanted."""

    dims: tuple[Dim, ...]


Attribute = bool | int | float | str | None | tuple[int, ...] | ShapeValue


@dataclass(frozen=True, slots=True)
class IndexMap:
    """A map of indices: ``"i, j: i, j//4, j%4"`` moves element (i, j) to (i, j // 4, j % 4).

    ``names`` are the indices, ``results`` expressions of them: an element's indices in the result.
    """

    names: tuple[str, ...]
    results: tuple[str, ...]

    def places(self, indices: Mapping[str, Any]) -> tuple[Any, ...]:
        """The indices in the result, for numbers or for arrays of them."""
        return tuple(evaluate(result, indices) for result in self.results)

    @property
    def source(self) -> str:
        """The map as a function of Python's."""
        comma = "," if len(self.results) == 1 else ""
        return f"lambda {', '.join(self.names)}: ({', '.join(self.results)}{comma})"


def index_map_of(text: str) -> IndexMap:
    """The index map that ``text`` describes.

    Raises:
        ValueError: it is none: indices and expressions of them, with a colon between.
    """
    left, colon, right = text.partition(":")
    names = tuple(name.strip() for name in left.split(","))
    results = tuple(result.strip() for result in right.split(","))
    known = colon and len(set(names)) == len(names) and all(map(str.isidentifier, names))
    if not known or not all(symbols(result) <= {*names} for result in results):
        raise ValueError(f"index map {text!r}: give indices, a colon, and expressions of them")
    return IndexMap(names, results)
