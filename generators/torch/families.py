"""All families of PyTorch programs: of PyTorch's own samples, and of random graphs."""

from collections.abc import Sequence
from functools import cache

from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.torch import family
from relaxcheck.generators.torch.graphs.families import families as graphs
from relaxcheck.generators.torch.running import PREFIX
from relaxcheck.generators.torch.samples.record import out


@cache
def families(pipelines: Sequence[str]) -> tuple[Family, ...]:
    """The families, compiled by those of ``pipelines`` that serve; by all where none does."""
    return (*family.families(pipelines), *graphs(pipelines))


def left_out() -> dict[str, str]:
    """The families of PyTorch's entries that no program is drawn of, and why, by name."""
    return {f"{PREFIX}-{each.name}": each.reason for each in out()}
