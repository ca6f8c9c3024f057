"""All families of ONNX models: of one node, of random graphs, and of the idioms of exporters."""

from collections.abc import Sequence
from functools import cache

from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.onnx import family
from relaxcheck.generators.onnx.graphs.growth import Graphs
from relaxcheck.generators.onnx.graphs.templates import Idioms
from relaxcheck.generators.onnx.running import served


@cache
def families(pipelines: Sequence[str]) -> tuple[Family, ...]:
    """The families, compiled by those of ``pipelines`` that serve; by all where none does."""
    own = served(pipelines)
    return (*family.families(pipelines), Graphs(own), Idioms(own))
