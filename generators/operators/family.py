"""Single-operator families: one for each record, with all of its axes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from hypothesis import strategies as st

from relaxcheck.generators.core import faults
from relaxcheck.generators.core.axes import RUN, Axis, Point, without_run
from relaxcheck.generators.core.dims import evaluate
from relaxcheck.generators.core.draft import Draft
from relaxcheck.generators.core.operand import DTYPE, own_sizes, shape
from relaxcheck.generators.core.points import text
from relaxcheck.generators.core.preconditions import takes, with_run_axes
from relaxcheck.generators.core.program import Case, Program
from relaxcheck.generators.operators.record import Operator

_MOST_ELEMENTS = 10**9
"""Axes bound the sizes of a family; a draft's own limit is for graphs."""

_MOST_BINDINGS = 4

_MOST_INPUT = 200_000
"""Elements of all inputs at a boundary: multiples of five sizes are too many."""

_MIXED_PRECISION = "mixed-precision"

_OTHER_SIZES = (3, 5, 2, 4)
"""Sizes of symbols that only a further operand has."""


def family_of(operator: str) -> str:
    """The name of the family of ``operator``: without its namespace."""
    return operator.rpartition(".")[2]


@dataclass(frozen=True)
class OperatorFamily:
    """The cases of one operator: its record's axes, compiled by ``pipelines``."""

    record: Operator
    pipelines: tuple[str, ...]

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The record's axes, then how a program is compiled and fed."""
        return with_run_axes(
            self.record.family_axes, self._useful, whole_range=self.record.elementary
        )

    @property
    def is_compilable(self) -> bool:
        """True where a pipeline takes a dtype of the operator."""
        (dtypes,) = (axis.values for axis in self.record.family_axes if axis.name == DTYPE)
        return any(takes(name, dtype) for name in self._useful for dtype in dtypes)

    @property
    def _useful(self) -> tuple[str, ...]:
        """The pipelines that change the operator: ToMixedPrecision passes most over."""
        others = tuple(name for name in self.pipelines if name != _MIXED_PRECISION)
        return self.pipelines if self.record.narrowed or not others else others

    @property
    def name(self) -> str:
        """The operator's name without its namespace: ``conv2d_transpose``."""
        return family_of(self.record.name)

    @property
    def operator(self) -> str:
        """The operator's Relax name."""
        return self.record.name

    def build(self, point: Point, seed: int) -> Case:
        """The case at ``point``; its first binding gives every symbol the point's own size."""
        program, bindings = drafted(self.record, point)
        return Case(
            family=self.name,
            program=program,
            bindings=bindings,
            seed=seed,
            at=without_run(point),
            **{name: point[name] for name in RUN},  # type: ignore[arg-type]
        )

    @property
    def faults(self) -> tuple[faults.Fault, ...]:
        """The record's ways to break a valid case."""
        return self.record.faults

    @property
    def invalid(self) -> tuple[st.SearchStrategy[Case], ...]:
        """For each fault, valid cases with it put in."""
        return faults.strategies(self)


def drafted(record: Operator, point: Point) -> tuple[Program, tuple[dict[str, int], ...]]:
    """The program at ``point`` of the family of ``record``, and the bindings to run it at.

    Raises:
        Unfit: the record is wrong: its axes allow a point at which it cannot be applied.
    """
    draft = draft_of(record, point)
    return draft.program(), bindings_of(record, point, draft)


def draft_of(record: Operator, point: Point) -> Draft:
    """The draft of the program at ``point``. Raises as ``drafted``."""
    own = record.own
    # A dtype of results may follow that of operands: "int8->int32".
    dtype = text(point, DTYPE).partition("->")[0]
    draft = Draft(dtype, most=_MOST_ELEMENTS, as_written=own is not None)
    value = draft.start(shape(point)) if own is None else own.start(draft, point)
    record.apply(draft, value, point)
    return draft


def bindings_of(record: Operator, point: Point, draft: Draft) -> tuple[dict[str, int], ...]:
    """The bindings to run the program of ``draft`` at."""
    if record.own is not None:
        return tuple(dict(row) for row in record.own.bindings(point))
    return tuple(_bindings(draft, draft.program().symbols, own_sizes(point)))


def _bindings(
    draft: Draft, names: Sequence[str], sizes: Mapping[str, int]
) -> Iterator[dict[str, int]]:
    """The point's own sizes, then boundaries that the program allows: at most four bindings."""
    others = dict(zip((name for name in names if name not in sizes), _OTHER_SIZES, strict=False))
    own = {name: {**sizes, **others}[name] for name in names}
    seen: list[dict[str, int]] = []
    for row in (own, *_boundaries(own)):
        if row not in seen and (row is own or _is_run(draft, row)):
            seen.append(row)
            yield row
        if len(seen) == _MOST_BINDINGS:
            return


def _is_run(draft: Draft, row: Mapping[str, int]) -> bool:
    """True if ``row`` meets all that is required, and inputs are small."""
    sizes = (prod(evaluate(dim, row) for dim in each.shape) for each in draft.inputs)
    return sum(sizes) < _MOST_INPUT and all(each.holds(row) for each in draft.required)


def _boundaries(own: Mapping[str, int]) -> Iterator[dict[str, int]]:
    yield dict.fromkeys(own, 1)
    yield dict.fromkeys(own, 0)
    # Symbols that were alike no longer are.
    yield {name: size + number + 1 for number, (name, size) in enumerate(own.items())}
    for factor in (2, 3, 5):
        yield {name: factor * size for name, size in own.items()}
    yield dict.fromkeys(own, 17)
    yield {name: size * (number != 0) for number, (name, size) in enumerate(own.items())}
