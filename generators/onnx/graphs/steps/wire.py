"""The values that steps of random graphs take and make."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.onnx.graphs.drafting import Drafting

HIGHEST_RANK = 5


@dataclass(frozen=True, slots=True)
class Wire:
    """A value of the graph: of its dtype, or of truth values."""

    name: str
    shape: tuple[Dim, ...]

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def fixed(self) -> tuple[int, ...]:
        """The dimensions that are numbers."""
        return tuple(at for at, dim in enumerate(self.shape) if isinstance(dim, int))


Step = Callable[[Drafting, Wire, Random], Wire | None]
"""Add nodes that take a value: their result, None where the value does not suit."""
