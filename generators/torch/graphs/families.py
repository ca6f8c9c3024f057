"""The families of PyTorch programs of several nodes."""

from collections.abc import Sequence
from functools import cache

from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.torch.graphs.attention import attention
from relaxcheck.generators.torch.graphs.growth import GRAPH, LAYERS, graphs
from relaxcheck.generators.torch.graphs.recurrent import recurrent
from relaxcheck.generators.torch.graphs.scaled_product import scaled_product
from relaxcheck.generators.torch.graphs.templates import idioms
from relaxcheck.generators.torch.running import served


@cache
def families(pipelines: Sequence[str]) -> tuple[Family, ...]:
    """The families, compiled by those of ``pipelines`` that serve; by all where none does."""
    own = served(pipelines)
    return (
        graphs(GRAPH, own),
        graphs(LAYERS, own),
        recurrent(own),
        attention(own),
        scaled_product(own),
        idioms(own),
    )
