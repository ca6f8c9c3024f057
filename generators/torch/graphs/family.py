"""A family of PyTorch programs that a draft makes: its own axes, and those of every family."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from random import Random

from hypothesis import strategies as st

from relaxcheck.generators.core.axes import Axis, Point, Structured
from relaxcheck.generators.core.case import AnyCase
from relaxcheck.generators.core.program import USUAL_REGIMES
from relaxcheck.generators.torch.case import TorchCase
from relaxcheck.generators.torch.graphs.drafting import DIMS, STATIC, Drafting, bindings_of
from relaxcheck.generators.torch.program import BUFFER, CONSTANT, PARAMETER
from relaxcheck.generators.torch.running import case_at, running_axes

DTYPE, SIZES, HELD = "dtype", "dims", "held"

DTYPES = ("float32", "float16", "float64")

HOLDING = Axis(HELD, (PARAMETER, BUFFER, CONSTANT), PARAMETER, default_weight=2)
"""The axis of how a module holds the constants of its program."""

Make = Callable[[Drafting, Point, Random], None]
"""Add everything to a draft, at a point; the seed of the case decides the random choices."""


@dataclass(frozen=True)
class Drafted(Structured):
    """The family ``name``, with axes of its ``own``, compiled by ``pipelines``."""

    name: str
    own: tuple[Axis, ...]
    make: Make
    pipelines: tuple[str, ...]
    dims: tuple[str, ...] = DIMS
    dtypes: tuple[str, ...] = DTYPES

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The sizes that are symbols, the dtype, the family's own axes, and how it is run."""
        return (
            Axis(SIZES, self.dims, STATIC, default_weight=2),
            Axis(DTYPE, self.dtypes, self.dtypes[0], default_weight=4),
            *self.own,
            *running_axes(self.pipelines, USUAL_REGIMES),
        )

    def build(self, point: Point, seed: int) -> TorchCase:
        """The case at ``point`` whose random choices and input values ``seed`` decides."""
        draft = Drafting(str(point[DTYPE]), str(point.get(HELD, PARAMETER)), str(point[SIZES]))
        self.make(draft, point, Random(seed))
        return case_at(self.name, point, seed, draft.program(), bindings_of(draft))

    @property
    def invalid(self) -> tuple[st.SearchStrategy[AnyCase], ...]:
        """None: PyTorch refuses an invalid program when it is exported, before TVM sees it."""
        return ()
