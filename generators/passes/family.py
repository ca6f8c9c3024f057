"""Families of passes: one for each pass alone, and one for orders of passes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
from hypothesis import strategies as st

from relaxcheck.generators.core.axes import Axis, Point, Structured, meant_for
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.faults import Fault
from relaxcheck.generators.core.points import integer, text
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.core.sampling import example
from relaxcheck.generators.graphs.choices import Choices
from relaxcheck.generators.passes import PASSES, PUBLISHED
from relaxcheck.generators.passes.calls import prepared
from relaxcheck.generators.passes.programs import axes, case_at, drafts_at, with_passes
from relaxcheck.generators.passes.record import Pass

PREFIX = "pass-"
"""Begins the name of the family of a pass alone."""

ORDERS = "passes"
"""The name of the family of orders of passes."""

PIPELINES = ("build", "default-pipeline")
"""The pipelines after the passes: those without passes of their own before ``relax.build``."""

AFTER_LOWERING = "build"
"""The pipeline after a pass that lowers, which leaves nothing to fuse."""

Chosen = list[tuple[Pass, Mapping[str, Value]]]
"""Passes in order, each with its options."""

_OPTION = "option."
_LONGEST = 6
_OWN_ORDER = "order"


def is_of_passes(family: str) -> bool:
    """True of the name of a family that applies passes."""
    return family == ORDERS or family.startswith(PREFIX)


@dataclass(frozen=True, slots=True)
class OnePass(Structured):
    """The family of one pass: programs that it is applied to, and its options."""

    record: Pass
    axes: tuple[Axis, ...]

    @property
    def name(self) -> str:
        """``pass-`` and the name of the pass."""
        return PREFIX + self.record.name

    def build(self, point: Point, seed: int) -> Case:
        """The case at ``point`` whose program and input values ``seed`` decides."""
        return msgspec.structs.replace(example(self.cases_at(point), seed), seed=seed)

    def cases_at(self, point: Point) -> st.SearchStrategy[Case]:
        """The cases at ``point``, of input seed 0."""
        return _alone(self.name, self.record, point)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """None: every program is valid."""
        return ()

    @property
    def invalid(self) -> tuple[st.SearchStrategy[Case], ...]:
        """None: every program is valid."""
        return ()


@dataclass(frozen=True, slots=True)
class Orders(Structured):
    """The family of orders of passes, and of the pipelines that TVM publishes."""

    axes: tuple[Axis, ...]

    @property
    def name(self) -> str:
        """``passes``."""
        return ORDERS

    def build(self, point: Point, seed: int) -> Case:
        """The case at ``point`` whose program, passes and input values ``seed`` decides."""
        return msgspec.structs.replace(example(self.cases_at(point), seed), seed=seed)

    def cases_at(self, point: Point) -> st.SearchStrategy[Case]:
        """The cases at ``point``, of input seed 0."""
        return _ordered(point)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """None: every program is valid."""
        return ()

    @property
    def invalid(self) -> tuple[st.SearchStrategy[Case], ...]:
        """None: every program is valid."""
        return ()


@st.composite
def _alone(draw: st.DrawFn, name: str, record: Pass, point: Point) -> Case:
    draft, choices = draw(drafts_at(point)), Choices(draw)
    case = case_at(name, point, draft, choices, one_binding=record.one_binding)
    options: dict[str, Value] = {
        option.name: point[_OPTION + option.name] for option in record.options
    }
    return with_passes(case, prepared([(record, options)]))


@st.composite
def _ordered(draw: st.DrawFn, point: Point) -> Case:
    draft, choices = draw(drafts_at(point)), Choices(draw)
    if (form := text(point, _OWN_ORDER)) != ORDERS:
        chosen: Chosen = [(PUBLISHED[form], {})]
    else:
        chosen = _drawn(integer(point, "length"), text(point, "dtype"), choices)
    one = any(record.one_binding for record, _ in chosen)
    case = case_at(ORDERS, point, draft, choices, one_binding=one)
    if any(record.lowers for record, _ in chosen):
        case = msgspec.structs.replace(case, pipeline=AFTER_LOWERING)
    return with_passes(case, prepared(chosen))


def _drawn(length: int, dtype: str, choices: Choices) -> Chosen:
    """``length`` passes in a valid order: those that lower come last, in TVM's order."""
    taken = [each for each in PASSES.values() if not each.dtypes or dtype in each.dtypes]
    free = [each for each in taken if not each.lowers]
    lowering = [each for each in taken if each.lowers]
    last = choices.below(min(length, 3))
    passes = [choices.choice(free) for _ in range(length - last)]
    places = sorted({choices.below(len(lowering)) for _ in range(last)})
    return [
        (record, {option.name: choices.choice(option.values) for option in record.options})
        for record in (*passes, *(lowering[at] for at in places))
    ]


def families(pipelines: Sequence[str]) -> tuple[OnePass | Orders, ...]:
    """The families of passes, whose cases ``pipelines`` compile afterwards."""
    served = meant_for(PIPELINES, pipelines) or tuple(pipelines)[:1]
    orders = (
        Axis(
            _OWN_ORDER,
            (ORDERS, *PUBLISHED),
            ORDERS,
            default_weight=3 * len(PUBLISHED),
        ),
        Axis("length", tuple(range(2, _LONGEST + 1)), 2),
    )
    return (
        *(OnePass(record, _axes(record, served)) for record in PASSES.values()),
        Orders(axes(orders, served)),
    )


def _axes(record: Pass, pipelines: Sequence[str]) -> tuple[Axis, ...]:
    own = [
        Axis(_OPTION + option.name, option.values, option.values[0]) for option in record.options
    ]
    after = (AFTER_LOWERING,) if record.lowers else pipelines
    return axes(
        own,
        after,
        record.name,
        record.dtypes,
        functions=record.structure if record.functions else "",
        constants=record.constants,
    )
