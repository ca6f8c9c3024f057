"""The families of PyTorch programs of several nodes."""

from collections.abc import Sequence
from functools import cache

from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.torch.graphs.growth import Graphs
from relaxcheck.generators.torch.running import served


@cache
def families(pipelines: Sequence[str]) -> tuple[Family, ...]:
    """The families, compiled by those of ``pipelines`` that serve; by all where none does."""
    own = served(pipelines)
    return (Graphs(own),)
