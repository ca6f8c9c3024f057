"""All families of PyTorch programs: those of PyTorch's own samples."""

from collections.abc import Sequence
from functools import cache

from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.torch import family


@cache
def families(pipelines: Sequence[str]) -> tuple[Family, ...]:
    """The families, compiled by those of ``pipelines`` that serve; by all where none does."""
    return family.families(pipelines)
