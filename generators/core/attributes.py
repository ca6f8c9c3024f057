"""Values of attributes of operators, as data."""

from relaxcheck.generators.core.case import Data
from relaxcheck.generators.core.dims import Dim


class ShapeValue(Data, frozen=True, tag="shape"):
    """An attribute that is a shape, with symbolic dimensions where wanted."""

    dims: tuple[Dim, ...]


Attribute = bool | int | float | str | None | tuple[int, ...] | ShapeValue
