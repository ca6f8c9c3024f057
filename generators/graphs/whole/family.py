"""The family of whole graphs: 1 to 40 nodes, a fragment that a pass looks for, and structure."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from hypothesis import strategies as st

from relaxcheck.generators.calls import expectation
from relaxcheck.generators.core.axes import RUN, Axis, Point, Structured, without_run
from relaxcheck.generators.core.contexts import CONTEXT_AXIS, drawn_context
from relaxcheck.generators.core.draft import Draft
from relaxcheck.generators.core.faults import Fault
from relaxcheck.generators.core.points import Given, integer, text
from relaxcheck.generators.core.preconditions import with_run_axes
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.core.sampling import example
from relaxcheck.generators.graphs.choices import Choices
from relaxcheck.generators.graphs.family import DTYPES
from relaxcheck.generators.graphs.fragments import FRAGMENTS
from relaxcheck.generators.graphs.programs import chosen
from relaxcheck.generators.graphs.relations import NONE, RELATIONS, related
from relaxcheck.generators.graphs.whole.growing import NO_FRAGMENT, grown
from relaxcheck.generators.graphs.whole.structure import PLAIN, STRUCTURES, structured

NAME = "graphs"

NODES = (1, 2, 4, 8, 16, 24, 40)
"""The numbers of nodes that a graph is grown to."""

PIPELINES = (
    *("fixes-build", "fixes-pipeline", "fixes-bounded", "fixes-folded"),
    *("default-pipeline", "build", "fold-constants", "legalize-first"),
)
"""The pipelines that keep every operator's dtype and layout; those with the fixes' passes first."""


@dataclass(frozen=True, slots=True)
class Graphs(Structured):
    """The family of whole graphs."""

    axes: tuple[Axis, ...]

    @property
    def name(self) -> str:
        """``graphs``."""
        return NAME

    def build(self, point: Point, seed: int) -> Case:
        """The case at ``point`` whose program and input values ``seed`` decides.

        Another pipeline or regime at the same seed leaves the program the same.
        """
        return msgspec.structs.replace(example(self.cases_at(point), seed), seed=seed)

    def cases_at(self, point: Point) -> st.SearchStrategy[Case]:
        """The cases at ``point``, of input seed 0."""
        return _cases_at(point)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """None: calls of the operators' own families may be invalid."""
        return ()

    @property
    def invalid(self) -> tuple[st.SearchStrategy[Case], ...]:
        """None, as for ``faults``."""
        return ()


def drafted(point: Point, seed: int) -> Draft:
    """The draft of the program at ``point``, with the shape of every value."""
    return example(_drafts_at(point), seed)


@st.composite
def _drafts_at(draw: st.DrawFn, point: Point) -> Draft:
    nodes, fragment = integer(point, "nodes"), text(point, "fragment")
    return grown(draw, text(point, "dtype"), nodes, fragment, text(point, "form"))


@st.composite
def _cases_at(draw: st.DrawFn, point: Point) -> Case:
    draft, choices = draw(_drafts_at(point)), Choices(draw)
    bindings = chosen(draft, choices)
    whole = structured(text(point, "structure"), draft, draft.program(), choices)
    program, rows = related(text(point, "relation"), whole, bindings, choices)
    return Case(
        family=NAME,
        program=program,
        bindings=rows,
        expect=expectation(program),
        at=without_run(point),
        context=drawn_context(point),
        **{name: point[name] for name in RUN},  # type: ignore[arg-type]
    )


def family(pipelines: Sequence[str]) -> Graphs:
    """The family, compiled by ``pipelines``."""
    near = Given(("fragment",), lambda name, value: name != NO_FRAGMENT or value == "whole")
    axes = (
        Axis("nodes", NODES, 1, least=(1,)),
        Axis("fragment", (NO_FRAGMENT, *FRAGMENTS), NO_FRAGMENT, default_weight=8),
        Axis("form", ("whole", "near"), "whole", near),
        Axis("structure", tuple(STRUCTURES), PLAIN, default_weight=3),
        Axis("dtype", DTYPES, DTYPES[0], default_weight=4),
        Axis("relation", tuple(RELATIONS), NONE, default_weight=len(RELATIONS)),
        CONTEXT_AXIS,
    )
    return Graphs(with_run_axes(axes, pipelines))
