"""Attribution: the settings of a failing case whose defaults make the failure go.

Each setting is put back by itself, and tried on several draws of the inputs: with one draw, a wrong
value may be right by coincidence. If the reference says that the program is invalid then, other
ways are tried (a layout together with the shape that has it), or none.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from dataclasses import replace as replaced
from functools import partial

from msgspec import UNSET
from msgspec.structs import replace

from relaxcheck.generators.calls import required, telling
from relaxcheck.generators.core.axes import Family, non_default, point_of, with_defaults
from relaxcheck.generators.core.case import Invalid, compiled_like
from relaxcheck.generators.core.fills.kinds import Below, Fill, Literal, Random
from relaxcheck.generators.core.program import ORDINARY_REGIMES, Case, Node, ShapeValue
from relaxcheck.harness.kind import Trials
from relaxcheck.harness.outcomes.attribution import (
    Aspect,
    Attribution,
    Condition,
    Difference,
    named,
)
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs.attribution.alternatives import Way as Alternative
from relaxcheck.harness.programs.attribution.alternatives import alternatives, other_axes
from relaxcheck.harness.programs.attribution.differences import differences
from relaxcheck.harness.programs.attribution.magnitudes import milder, of_limits, written_out
from relaxcheck.harness.programs.attribution.siblings import siblings
from relaxcheck.harness.programs.reduction import graph_steps, setting_steps, value_steps
from relaxcheck.harness.programs.reduction.simplicity import Defaults
from relaxcheck.harness.programs.reduction.steps import Knowledge, candidate, remade, with_node
from relaxcheck.harness.triage.finding import CUT_SHORT
from relaxcheck.harness.triage.fingerprint import looks_alike, same_signature, signature_of
from relaxcheck.harness.triage.reduction.search import RUNNING

DRAWS = 3
"""The draws of the inputs that the failure, and each setting put back, are tried with."""

_MORE_DRAWS = 12
"""The draws that a setting put back is tried with where not every draw fails: it may be chance."""

_WIDER = "moderate"
"""A regime of ordinary inputs, some of which are larger or smaller than those of the others."""

_SIZES = (2, 1, 3)
"""Sizes to try for a 0; of 2, less is true by coincidence than of 1."""

_LOWERING = frozenset({Verdict.OPAQUE_CRASH, Verdict.UNSUPPORTED, Verdict.SILENT_BAIL})
"""Verdicts of a compiler that does not finish, whatever the inputs."""

_OF_VALUES = frozenset(
    {(Aspect.SETTING, "regime")}
    | {(Aspect.VALUES, kind) for kind in ("lowest", "highest", "largest", "least")}
)
"""Conditions on the values of the inputs."""

_SILENT = frozenset({Verdict.HARNESS_ERROR, Verdict.ORACLE_SPLIT, Verdict.NO_ORACLE})
"""Verdicts that say neither that the failure is gone nor that it is there."""


def attribute(
    case: Case, outcome: Outcome, family: Family | None, defaults: Defaults
) -> Trials[Attribution]:
    """The attribution of the failure ``outcome`` of ``case``; every trial has to be validated.

    The axes of ``family`` are tried if ``case`` lies on them. Nothing is put back in an invalid
    program: its fault is known.
    """
    signature = signature_of(case, outcome)
    draws = [_Draw(0, False, _failing(case, outcome))]
    drawn = 1
    for draw in _draws(case, outcome):
        redrawn = draw.of(case)
        result = yield redrawn
        alike = same_signature(redrawn, result, signature)
        drawn += alike or result.verdict not in CUT_SHORT
        if alike:
            draws.append(replaced(draw, at=_failing(redrawn, result)))
    conditions: list[Condition] = []
    more = [_Draw(seed, True) for seed in range(DRAWS, _MORE_DRAWS)] if len(draws) < drawn else []
    if outcome.verdict is Verdict.WRONG_VALUE and case.regime in ORDINARY_REGIMES:
        # A setting may only move the failure to other magnitudes.
        more += [_Draw(seed, True, regime=_WIDER) for seed in range(DRAWS)]
    if not isinstance(case.expect, Invalid):
        for ways in _changes(case, outcome, family, defaults).values():
            condition = yield from _put_back(case, outcome, ways, draws, more)
            if condition is None:
                continue
            known = None
            if condition.holds and condition.named == {(Aspect.SETTING, "regime")}:
                known = yield from milder(case, outcome)
            conditions += [condition] if known is None else known
        if case.regime == setting_steps.PLAIN["regime"] and written_out(case):
            # No regime is put back that these values do not come from.
            conditions += (yield from milder(case, outcome)) or ()
        if not any(known.named & _OF_VALUES for known in conditions):
            # Inputs that are written out have a regime to put back no more.
            limits = yield from of_limits(case, outcome)
            conditions += [] if limits is None else [limits]
        if outcome.verdict in _LOWERING and outcome.stage not in RUNNING:
            others = alternatives(case, outcome, family)
            conditions = yield from _otherwise(case, outcome, others, draws, [], conditions)
        elif outcome.verdict is Verdict.WRONG_VALUE:
            along = other_axes(case)
            conditions = yield from _otherwise(case, outcome, along, draws, more, conditions)
    attribution = Attribution(drawn, len(draws), tuple(conditions))
    # Each run that a limit cuts short takes all of the limit.
    if outcome.verdict in CUT_SHORT:
        return attribution
    others_alike = yield from siblings(case, outcome, attribution.blamed, family)
    return replace(attribution, siblings=others_alike)


def _failing(case: Case, outcome: Outcome) -> int:
    """The number of the first binding that ``case`` fails at; 0 where it fails before it runs."""
    failed = [check.binding for check in outcome.checks if check.ratio is None or check.ratio > 1]
    return next((at for at, binding in enumerate(case.bindings) if binding in failed), 0)


@dataclass(frozen=True, slots=True)
class _Draw:
    """Other inputs: of another seed, and drawn (``random``) if values were written out.

    With them it fails at the binding number ``at``. ``regime`` is another one than the case's, if
    it is not empty.
    """

    seed: int
    random: bool
    at: int = 0
    regime: str = ""

    def of(self, case: Case) -> Case:
        """``case`` with these inputs."""
        inputs = tuple(
            replace(tensor, fill=Random())
            if self.random and isinstance(tensor.fill, Literal)
            else tensor
            for tensor in case.program.inputs
        )
        program = replace(case.program, inputs=inputs)
        regime = self.regime or case.regime
        return replace(case, program=program, seed=case.seed + self.seed, regime=regime)


def _draws(case: Case, outcome: Outcome) -> list[_Draw]:
    """Other inputs than the case's; one draw is enough if it fails before it has inputs."""
    written = any(isinstance(tensor.fill, Literal) for tensor in case.program.inputs)
    count = DRAWS if outcome.stage in RUNNING else 2
    return [_Draw(seed, written) for seed in range(1, count)]


@dataclass(frozen=True, slots=True)
class _Way:
    """``case`` with a setting put back to its default, and the axis of the setting, if any.

    A ``symbol`` gets the size that it fails with, which depends on the draw.
    """

    case: Case
    differences: tuple[Difference, ...]
    axis: str = ""
    symbol: str = ""

    def of(self, case: Case, draw: _Draw) -> Case | None:
        """It with the inputs of ``draw``, which ``case`` fails with; None if that is no case."""
        made = _fixed(case, self.symbol, draw.at) if self.symbol else self.case
        return None if made is None else draw.of(made)


def _fixed(case: Case, symbol: str, at: int) -> Case | None:
    """``case`` with the size of ``symbol`` at its binding number ``at``, and the inputs there.

    The number of a binding decides its inputs: the only binding that is left keeps its number.
    """
    alone = replace(case, bindings=(case.bindings[at],), at=UNSET)
    static = next(setting_steps.fixed(alone, symbol), None)
    return None if static is None else replace(static, bindings=static.bindings * (at + 1))


def _put_back(
    case: Case, outcome: Outcome, ways: list[_Way], draws: list[_Draw], more: list[_Draw]
) -> Trials[Condition | None]:
    """The result of the first of ``ways`` that is a valid program; None if none is.

    It is tried with ``draws``, and then with ``more`` until it fails in the same way.
    """
    signature = signature_of(case, outcome)
    axis = next((way.axis for way in ways if way.axis), "")
    for way in ways:
        verdicts: list[Verdict] = []
        alike = undecided = 0
        # Of another regime the inputs say nothing about that of the case.
        own = way.case.regime == case.regime
        for draw in (*draws, *(each for each in more if own or not each.regime)):
            extra = len(verdicts) >= len(draws)
            tried = None if extra and (alike or undecided) else way.of(case, draw)
            if tried is None:
                break
            result = yield tried
            if result.verdict in _SILENT:
                break
            verdicts.append(result.verdict)
            same = same_signature(tried, result, signature)
            # A value that is off is another failure than NaN.
            same = same and looks_alike(tried, result, signature)
            alike += same
            undecided += not same and result.verdict in CUT_SHORT
        if len(verdicts) >= len(draws):
            return Condition(way.differences, tuple(verdicts), alike, axis, undecided)
    return None


def _otherwise(
    case: Case,
    outcome: Outcome,
    others: Iterable[list[Alternative]],
    draws: list[_Draw],
    more: list[_Draw],
    conditions: list[Condition],
) -> Trials[list[Condition]]:
    """``conditions``, and those of other values that it passes with where no default says.

    A symbol without which it raises another error may pass with another size.
    """
    result = list(conditions)
    for ways in others:
        if not ways:
            continue
        kind = named(ways[0].differences)
        before = [condition for condition in result if condition.named == kind]
        if any(condition.passes or not condition.holds for condition in before):
            continue
        for way in ways:
            tried = [_Way(way.case, way.differences)]
            condition = yield from _put_back(case, outcome, tried, draws, more)
            if condition is not None and condition.holds and condition.passes:
                result = [each for each in result if each.named != kind] + [condition]
                break
    return result


def _changes(
    case: Case, outcome: Outcome, family: Family | None, defaults: Defaults
) -> dict[frozenset[tuple[Aspect, str]], list[_Way]]:
    """The ways to put settings back, by the setting."""
    known = Knowledge(defaults, ran=outcome.stage in RUNNING)
    ways: dict[frozenset[tuple[Aspect, str]], list[_Way]] = {}
    changes = [_Way(each, differences(case, each), "", name) for name, each in _static(case)]
    changes += [
        _Way(changed, differences(case, changed), axis)
        for axis, changed in (*_structural(case, known), *_on_axes(case, family))
    ]
    for way in changes:
        if way.differences:
            ways.setdefault(named(way.differences), []).append(way)
    return ways


def _static(case: Case) -> Iterator[tuple[str, Case]]:
    """Each symbol of ``case``, and the case with a size in its place."""
    for symbol in case.program.symbols:
        if (fixed := _fixed(case, symbol, 0)) is not None:
            yield symbol, fixed


def _structural(case: Case, known: Knowledge) -> Iterator[tuple[str, Case]]:
    for node in case.program.nodes:
        default = known.defaults.get(node.operator, {})
        needed = required(node.operator)
        for name, value in telling(node).items():
            if name in default and default[name] == value:
                continue
            # A shape follows from the operands: another one makes another program.
            if name in needed and (isinstance(value, ShapeValue) or name not in default):
                continue
            # First: the same shape in another layout is another program, though it may be valid.
            yield from (("", laid) for laid in value_steps.own_layout(case, known, node, name))
            others = {key: kept for key, kept in node.attributes.items() if key != name}
            left_out = () if name in needed else (others,)
            for attributes in (*left_out, {**others, name: default.get(name)}):
                changed = with_node(case, replace(node, attributes=attributes))
                yield from _unless_nonsense(partial(remade, case, nodes=changed))
        if node.arguments[1:]:
            yield from _unless_nonsense(partial(_without_last, case, node))
    steps = (value_steps.dtypes, value_steps.constants, setting_steps.respelled)
    for step in steps:
        yield from (("", variant) for variant in step(case, known))
    for filled in _filled_dims(case):
        yield from _unless_nonsense(filled)
    for symbol in case.program.symbols:
        yield from (("", variant) for variant in setting_steps.fixed(case, symbol))
    drawn = any(not isinstance(tensor.fill, Literal) for tensor in case.program.inputs)
    for field, plain in setting_steps.PLAIN.items():
        # The regime of inputs that are all written out changes nothing.
        if field != "also" and (drawn or field != "regime") and getattr(case, field) != plain:
            yield "", replace(case, **{field: plain})
    yield from (("", variant) for variant in graph_steps.bypassed(case))


def _without_last(case: Case, node: Node) -> Case:
    """``case`` without the last argument of ``node``, which may be an optional one.

    Raises:
        ValueError: the result is no case.
    """
    nodes = with_node(case, replace(node, arguments=node.arguments[:-1]))
    used = {name for each in nodes for name in each.arguments} | set(case.program.outputs)
    inputs = [tensor for tensor in case.program.inputs if tensor.name in used]
    return remade(case, inputs=inputs, nodes=nodes)


def _filled_dims(case: Case) -> Iterator[Callable[[], Case]]:
    """``case`` with elements in the inputs that have none: in all of them, and in each alone."""
    empty = [tensor.name for tensor in case.program.inputs if 0 in tensor.shape]
    for names in ([empty] if empty[1:] else []) + [[name] for name in empty]:
        for size in _SIZES:
            yield partial(_with_elements, case, names, size, everywhere=names == empty)


def _with_elements(case: Case, names: Sequence[str], size: int, *, everywhere: bool) -> Case:
    """``case`` with ``size`` for each 0 in the shapes of its inputs ``names``.

    ``everywhere``: in attributes that are shapes, too. Raises ValueError if that is no case.
    """
    inputs = [
        replace(
            tensor,
            shape=tuple(size if dim == 0 else dim for dim in tensor.shape),
            fill=_of_more(tensor.fill),
        )
        if tensor.name in names
        else tensor
        for tensor in case.program.inputs
    ]
    changed = remade(case, inputs=inputs)
    return setting_steps.with_dims(changed, {0: size}) if everywhere else changed


def _of_more(fill: Fill) -> Fill:
    """As ``fill``, for an input that had no elements, whatever its indices are of."""
    if isinstance(fill, Literal):
        return Random()
    return replace(fill, limit=1) if isinstance(fill, Below) else fill


def _unless_nonsense(make: Callable[[], Case]) -> Iterator[tuple[str, Case]]:
    return (("", variant) for variant in candidate(make))


def _on_axes(case: Case, family: Family | None) -> Iterator[tuple[str, Case]]:
    """``case`` with each axis of ``family`` at its default."""
    if family is None:
        return
    try:
        point = point_of(family, case)
    except ValueError:
        # It does not lie on the axes.
        return
    for axis in non_default(family.axes, point):
        changed = with_defaults(family.axes, point, (axis,))
        made = family.build(changed, case.seed) if changed is not None else None
        if isinstance(made, Case):
            yield axis, compiled_like(made, case)
