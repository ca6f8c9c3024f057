"""Sizes of batches of boxes, and the symbols for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.operand import DTYPE
from relaxcheck.generators.core.points import bindings, first_then, integer, toggle
from relaxcheck.generators.operators.record import FLOATS


@dataclass(frozen=True, slots=True)
class Sizes:
    """The axes of some sizes: for each its values, its symbol and what that is bound to later."""

    values: Mapping[str, tuple[int, ...]]
    symbols: Mapping[str, str]
    later: Mapping[str, tuple[int, ...]]

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The dtype, each size, and whether its symbol stands for it."""
        return (
            Axis(DTYPE, FLOATS, "float32", default_weight=4),
            *(Axis(name, sizes, sizes[0], least=(1,)) for name, sizes in self.values.items()),
            *(toggle(f"symbolic.{name}") for name in self.values),
        )

    @property
    def names(self) -> frozenset[str]:
        """The names of the axes."""
        return frozenset(axis.name for axis in self.axes)

    @property
    def static(self) -> Point:
        """The part of a point where no size is symbolic."""
        return {f"symbolic.{name}": False for name in self.values}

    def dim(self, point: Point, name: str) -> Dim:
        """The size ``name``, or its symbol."""
        return self.symbols[name] if point[f"symbolic.{name}"] else integer(point, name)

    def bindings(self, point: Point) -> tuple[dict[str, int], ...]:
        """The point's own sizes, then others."""
        columns: dict[str, Sequence[int]] = {
            symbol: first_then(integer(point, name), self.later[name])
            if name == "batch"
            else (integer(point, name), *self.later[name])
            for name, symbol in self.symbols.items()
            if point[f"symbolic.{name}"]
        }
        return bindings(columns)


_BATCHES = (2, 1, 3, 7, 0)

ROWS = Sizes(
    {"batch": _BATCHES, "boxes": (6, 1, 2, 0, 17)},
    {"batch": "B", "boxes": "N"},
    {"batch": _BATCHES, "boxes": (1, 9, 0, 20)},
)
"""Sizes of rows that hold a box each."""

CLASSES = Sizes(
    {"batch": _BATCHES, "classes": (2, 1, 3), "boxes": (6, 1, 2, 0, 17)},
    {"batch": "B", "classes": "C", "boxes": "N"},
    {"batch": _BATCHES, "classes": (1, 3, 2, 5), "boxes": (1, 9, 0, 20)},
)
"""Sizes of boxes and of a score for each of them and each class."""
