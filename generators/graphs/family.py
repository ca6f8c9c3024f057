"""Programs over symbolic dimensions: random ones of 1 to 8 steps, and templates.

Hypothesis draws the program. In a campaign, steering chooses the point, and a seed decides the rest
of the example. A random program draws each step from all steps; its last step is the operator of
the axis ``focus``. The requirements of the steps decide which bindings are legal. The case runs a
few of them, with 0 and 1 among them where these are legal. The axis ``relation`` rewrites the
program (``relaxcheck.generators.graphs.relations``).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from hypothesis import strategies as st

from relaxcheck.generators.calls import expectation
from relaxcheck.generators.core.axes import RUN, Axis, Point, without_run
from relaxcheck.generators.core.draft import Draft
from relaxcheck.generators.core.faults import Fault
from relaxcheck.generators.core.points import Given, integer, text
from relaxcheck.generators.core.preconditions import with_run_axes
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.core.sampling import example
from relaxcheck.generators.graphs import mismatch
from relaxcheck.generators.graphs.choices import Choices
from relaxcheck.generators.graphs.programs import (
    NAMES,
    SIMPLEST,
    chosen,
    random_program,
    template,
)
from relaxcheck.generators.graphs.relations import NONE, RELATIONS, related
from relaxcheck.generators.graphs.templates import TEMPLATES

NAME = "dynamic"
FOCUS = SIMPLEST
RANDOM = "random"

DTYPES = ("float32", "float64", "float16")

PIPELINES = ("fixes-build", "fixes-pipeline", "fixes-bounded", "fixes-folded")
"""The pipelines that contain the passes of the fixes. Without fixes these are TVM's own two, the
second one with memory planned for the largest sizes, and the first one after FoldConstant."""


@dataclass(frozen=True, slots=True)
class Dynamic:
    """The family of programs over symbolic dimensions."""

    axes: tuple[Axis, ...]

    @property
    def name(self) -> str:
        """``dynamic``."""
        return NAME

    def build(self, point: Point, seed: int) -> Case:
        """The case at ``point`` whose program and input values ``seed`` decides.

        Another relation, pipeline or regime at the same seed leaves the program the same.
        """
        return msgspec.structs.replace(example(self.cases_at(point), seed), seed=seed)

    def cases_at(self, point: Point) -> st.SearchStrategy[Case]:
        """The cases at ``point``, of input seed 0."""
        return _cases_at(point)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """None: calls of this family may be invalid, programs are not (see ``invalid``)."""
        return ()

    @property
    def invalid(self) -> tuple[st.SearchStrategy[Case], ...]:
        """Valid programs, called with an argument whose shape contradicts the signature."""
        return (mismatch.cases(self),)


def drafted(point: Point, seed: int) -> Draft:
    """The draft of the program at ``point``, with the shape of every value."""
    return example(_drafts_at(point), seed)


@st.composite
def _drafts_at(draw: st.DrawFn, point: Point) -> Draft:
    form, dtype = text(point, "form"), text(point, "dtype")
    if form != RANDOM:
        return template(Choices(draw), dtype, form)
    steps, focus = integer(point, "steps"), text(point, "focus")
    return random_program(draw, dtype, steps, focus)


@st.composite
def _cases_at(draw: st.DrawFn, point: Point) -> Case:
    draft, choices = draw(_drafts_at(point)), Choices(draw)
    bindings = chosen(draft, choices)
    program, rows = related(text(point, "relation"), draft.program(), bindings, choices)
    return Case(
        family=NAME,
        program=program,
        bindings=rows,
        expect=expectation(program),
        at=without_run(point),
        **{name: point[name] for name in RUN},  # type: ignore[arg-type]
    )


def family(pipelines: Sequence[str]) -> Dynamic:
    """The family, compiled by ``pipelines``."""
    random = Given(("form",), lambda form, value: form == RANDOM or value == FOCUS)
    one_step = Given(("form",), lambda form, value: form == RANDOM or value == 1)
    axes = (
        Axis("form", (RANDOM, *TEMPLATES), RANDOM, default_weight=3 * len(TEMPLATES)),
        Axis("steps", tuple(range(1, 9)), 1, one_step, least=(1,)),
        Axis("focus", NAMES, FOCUS, random),
        Axis("dtype", DTYPES, DTYPES[0], default_weight=4),
        Axis("relation", tuple(RELATIONS), NONE, default_weight=len(RELATIONS)),
    )
    return Dynamic(with_run_axes(axes, pipelines))
