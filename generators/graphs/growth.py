"""Programs that grow step by step, each step drawn among the operators that fit.

A step is an operator's record at a point drawn for a value at hand, or an idiom of several
operators. One that does not fit, or leaves too few bindings legal, is taken back.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from relaxcheck.generators.core.case import Value as Choice
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Unfit, Value, shape_value
from relaxcheck.generators.core.operand import DTYPE, SYMBOLIC
from relaxcheck.generators.core.operand import shape as family_shape
from relaxcheck.generators.core.points import text
from relaxcheck.generators.graphs.choices import Choices
from relaxcheck.generators.graphs.starts import ROOMY, shapes
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.operators.record import Operator

Step = Callable[["Growth", Draft], None]
"""Appends calls to a draft, or raises ``Unfit``."""

_LEAST = 3
"""Bindings that are legal after every step of a program with symbols."""

_TRIES = 3

_RECENT = 4
"""Values that a step may take: the last ones that it fits."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a program: ``nodes`` at most, calls of ``operators`` only (None: of any)."""

    nodes: int = 10_000
    operators: frozenset[str] | None = None
    symbolic: bool = True

    def allows(self, operator: str) -> bool:
        """Return True if a node may call ``operator``."""
        return self.operators is None or operator in self.operators


@dataclass(slots=True)
class Growth:
    """A program under construction, the choices it is drawn by, and its limits."""

    choices: Choices
    limits: Limits
    draft: Draft

    def take(self, name: str, step: Step) -> bool:
        """Append ``step`` to the draft if it fits; otherwise leave the draft unchanged."""
        fork = self.draft.fork()
        before = len(fork.nodes)
        try:
            step(self, fork)
        except Unfit:
            return False
        made = fork.nodes[before:]
        if (
            not made
            or len(fork.nodes) > self.limits.nodes
            or not all(self.limits.allows(node.operator) for node in made)
            or not self._is_legal(fork)
        ):
            return False
        self.draft = fork
        return True

    def _is_legal(self, draft: Draft) -> bool:
        names, rows = draft.legal_rows()
        if not names:
            return True
        enough = len(rows) >= _LEAST and bool(rows.all(axis=1).any())
        return enough and self.limits.symbolic

    def supplied(self, draft: Draft, shape: tuple[Dim, ...], dtype: str) -> Value | None:
        """An existing value of this shape and dtype, or None for a new input."""
        fitting = [
            value for value in draft.settled if value.shape == shape and value.dtype == dtype
        ]
        at = self.choices.below(2 * len(fitting[-_RECENT:]) or 1)
        return fitting[-at] if 0 < at <= len(fitting[-_RECENT:]) else None

    def fresh(self, draft: Draft, ranks: Sequence[int], dtypes: Sequence[str]) -> Value:
        """A new input of one of ``ranks`` and ``dtypes``: like the last value where it fits."""
        dtype = draft.dtype if draft.dtype in dtypes else self.choices.choice(dtypes)
        if draft.values and draft.last.rank in ranks and draft.last.dtype != dtype:
            return draft.start(draft.last.shape, dtype)
        known = shapes(ranks, symbolic=self.limits.symbolic)
        return draft.start(self.choices.choice(known), dtype)


def begun(choices: Choices, dtype: str, limits: Limits) -> Growth:
    """A program without nodes."""
    growth = Growth(choices, limits, Draft(dtype))
    growth.draft.supply = growth.supplied
    return growth


def record_step(record: Operator) -> Step:
    """The step that appends the operator of ``record`` to a value at hand."""

    def step(growth: Growth, draft: Draft) -> None:
        _apply(growth, draft, record, _operand(growth, draft, record))

    return step


def _apply(growth: Growth, draft: Draft, record: Operator, value: Value) -> None:
    point = dict(record.facts(value))
    for axis in record.drawn_axes:
        if axis.name in point:
            continue
        values = axis.choices(point)
        if not values:
            raise Unfit(f"{record.name}: no value of {axis.name} fits")
        weighted = [each for each in values for _ in range(axis.weight(each))]
        point[axis.name] = growth.choices.choice(weighted)
    record.apply(draft, value, point)
    _settle(growth, draft, value, record)


def _operand(growth: Growth, draft: Draft, record: Operator) -> Value:
    """The value at hand: mostly the last one that fits; a fresh input where none does."""
    ranks, dtypes = record.hand.ranks, record.hand.dtypes
    fitting = [
        value for value in reversed(draft.settled) if value.rank in ranks and value.dtype in dtypes
    ][:_RECENT]
    if not fitting:
        return growth.fresh(draft, ranks, dtypes)
    # The last one has three times the chance of each other one.
    return fitting[max(0, growth.choices.below(len(fitting) + 2) - 2)]


def on_fresh_input(name: str, step: Step) -> Step:
    """``step``, the one called ``name``, on a new input."""
    record = OPERATORS.get(name)

    def fresh(growth: Growth, draft: Draft) -> None:
        if record is None:
            draft.start(ROOMY if growth.limits.symbolic else (2, 4, 5))
            step(growth, draft)
        else:
            value = growth.fresh(draft, record.hand.ranks, record.hand.dtypes)
            _apply(growth, draft, record, value)

    return fresh


def family_step(record: Operator) -> Step:
    """The step that applies ``record`` at a point of its own family, where it always fits."""

    def step(growth: Growth, draft: Draft) -> None:
        point: dict[str, Choice] = {}
        for axis in record.family_axes:
            values = axis.choices(point)
            if not growth.limits.symbolic and axis.name.startswith(SYMBOLIC):
                values = tuple(value for value in values if value in ("none", False))
            if axis.name == DTYPE and draft.dtype in values:
                values = (draft.dtype,)
            point[axis.name] = growth.choices.choice(values)
        value = (
            draft.start(family_shape(point), text(point, DTYPE))
            if record.own is None
            else record.own.start(draft, point)
        )
        record.apply(draft, value, point)
        _settle(growth, draft, value, record)

    return step


def _settle(growth: Growth, draft: Draft, value: Value, record: Operator) -> None:
    """Cast the result to the program's dtype, and to its shape where TVM does not infer it.

    No other step takes a value of unknown shape, because TVM rejects some calls on such a value.
    """
    allows, choices = growth.limits.allows, growth.choices
    result = draft.last
    if result in draft.unsettled and allows("match_cast"):
        adds = _adding(result.dtype)
        if choices.rarely(3) and allows(adds):
            other = draft.input(result.shape, result.dtype)
            result = draft.call(adds, [result, other], result.shape, result.dtype)
            draft.unsettled = (*draft.unsettled, result)
        match_cast(draft, result)
        result = draft.last
    if result.dtype != draft.dtype and allows("astype") and not choices.rarely(4):
        result = draft.call("astype", [result], result.shape, draft.dtype, dtype=draft.dtype)
    joins = record.like is not None and value.shape == result.shape and value.dtype == result.dtype
    if joins and allows(_adding(value.dtype)):
        draft.call(_adding(value.dtype), [value, result], value.shape, value.dtype)


def _adding(dtype: str) -> str:
    """The operator that joins two values of ``dtype``: no sum is defined of truth values."""
    return "logical_or" if dtype == "bool" else "add"


def match_cast(draft: Draft, value: Value) -> Value:
    """Bind ``value`` to its actual shape by ``match_cast``."""
    shape = shape_value(value.shape)
    return draft.call("match_cast", [value], value.shape, shape=shape, dtype=value.dtype)


@st.composite
def one_step(
    draw: st.DrawFn, growth: Growth, names: Sequence[str], steps: Mapping[str, Step]
) -> bool:
    """Append one of ``names`` if one of a few tries fits; Hypothesis can shrink the step away."""
    choices = Choices(draw)
    for _ in range(_TRIES):
        name = choices.choice(names)
        if growth.take(name, steps[name]):
            return True
    return False


def must(growth: Growth, name: str, steps: Mapping[str, Step]) -> None:
    """Append the step ``name``: to a value at hand, to a fresh input, or as a program of its own.

    Raises:
        Unfit: no program within the limits has the step.
    """
    step = steps[name]
    for each in (step, on_fresh_input(name, step)):
        for _ in range(_TRIES):
            if growth.take(name, each):
                return
    # The steps so far rule it out: start a program of its own.
    draft = growth.draft
    growth.draft = Draft(draft.dtype, step=draft.step, supply=draft.supply)
    record = OPERATORS.get(name)
    alone = on_fresh_input(name, step) if record is None else family_step(record)
    for _ in range(10 * _TRIES):
        if growth.take(name, alone):
            return
    raise Unfit(f"no program of {name} within the limits")
