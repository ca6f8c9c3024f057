"""All families of PyTorch programs: those of PyTorch's own samples, and graphs."""

from collections.abc import Sequence
from functools import cache

from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.torch import family
from relaxcheck.generators.torch.graphs import families as graphs


@cache
def families(pipelines: Sequence[str]) -> tuple[Family, ...]:
    """The families, compiled by those of ``pipelines`` that serve; by all where none does."""
    return (*family.families(pipelines), *graphs.families(pipelines))
