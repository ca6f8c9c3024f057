"""Attribution: which settings of a failing case, put back to their default, make the failure go.

Each is tried by itself, on several draws of the inputs: with one draw alone, a wrong value may be
right by coincidence. What is not a valid program then, says the reference, is tried in other ways
(a layout together with the shape that it is of), or not at all.
"""

import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import msgspec
from msgspec.structs import replace

from generators.axes import Family, non_default, with_defaults
from generators.program import Attribute, Case, Invalid, Literal, Program, Random
from harness.finding import CUT_SHORT, Trials
from harness.fingerprint import kind_of, same_kind
from harness.outcome import Outcome, Verdict
from harness.reduction import graph_steps, setting_steps, value_steps
from harness.reduction.search import RUNNING
from harness.reduction.simplicity import Defaults
from harness.reduction.steps import Known, candidate, remade, with_node
from oracles.pytorch_source import telling

DRAWS = 3
"""Draws of the inputs that a failure is tried with, and each setting put back."""

_PASSES = frozenset({Verdict.PASS, Verdict.REJECTED})

_SILENT = frozenset({Verdict.HARNESS_ERROR, Verdict.ORACLE_SPLIT, Verdict.NO_ORACLE})
"""What says neither that the failure is gone nor that it is there."""


class What(enum.StrEnum):
    """What a difference between two cases is of."""

    ATTRIBUTE = "attribute"
    DTYPE = "dtype"
    SYMBOL = "symbol"
    NODE = "node"
    CONSTANT = "constant"
    SETTING = "setting"
    SHAPE = "shape"


class Difference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something called ``name`` that is ``was`` in one case and ``to`` in another (None: absent).

    The name is that of an attribute, an input, a symbol, an operator or a field of ``Case``.
    """

    what: What
    name: str
    was: Attribute
    to: Attribute


class Condition(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What came of the case with these ``differences``: its verdict for each draw of the inputs.

    In ``alike`` of them it failed in the same way, so that they are not to blame; ``undecided`` of
    them were cut short by a limit, and say nothing. ``axis`` is the family's axis that they are
    on, where they are on one.
    """

    differences: tuple[Difference, ...]
    verdicts: tuple[Verdict, ...]
    alike: int
    axis: str = ""
    undecided: int = 0

    @property
    def holds(self) -> bool:
        """Whether the failure was gone with every draw."""
        return not self.alike and not self.undecided

    @property
    def known(self) -> bool:
        """Whether it can be said if the failure was gone: not of what a limit cut short."""
        return bool(self.alike) or not self.undecided

    @property
    def named(self) -> frozenset[tuple[What, str]]:
        """What its differences are of."""
        return frozenset((one.what, one.name) for one in self.differences)

    @property
    def passes(self) -> bool:
        """Whether it passed with every draw."""
        return set(self.verdicts) <= _PASSES


class Attribution(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was put back, of a case that failed in ``failed`` of ``drawn`` draws of its inputs.

    Draws that a limit cut short are none of either.
    """

    drawn: int
    failed: int
    conditions: tuple[Condition, ...] = ()

    @property
    def blamed(self) -> tuple[Condition, ...]:
        """Those without which it did not fail in the same way.

        Not those that hold more than another one of them: the rest is not known to matter.
        """
        held = [one for one in self.conditions if one.holds]
        return tuple(one for one in held if not any(other.named < one.named for other in held))

    def needed(self, condition: Condition) -> tuple[Difference, ...]:
        """The differences of ``condition``, but for those that alone did not matter."""
        alike = [one for one in self.conditions if one.alike and len(one.named) == 1]
        innocent = {name for one in alike for name in one.named}
        needed = tuple(one for one in condition.differences if (one.what, one.name) not in innocent)
        return needed or condition.differences


def attribute(
    case: Case, outcome: Outcome, family: Family | None, defaults: Defaults
) -> Trials[Attribution]:
    """What the failure ``outcome`` of ``case`` is due to; every trial is to be vetted.

    ``family`` is the one whose axes are tried where ``case`` lies on them. Of an invalid program
    nothing is put back: its fault is known.
    """
    kind = kind_of(case, outcome)
    draws = [_Draw(0, False)]
    drawn = 1
    for draw in _draws(case, outcome):
        redrawn = draw.of(case)
        result = yield redrawn
        alike = same_kind(redrawn, result, kind)
        drawn += alike or result.verdict not in CUT_SHORT
        if alike:
            draws.append(draw)
    conditions = []
    if not isinstance(case.expect, Invalid):
        for ways in _changes(case, outcome, family, defaults).values():
            condition = yield from _put_back(case, outcome, ways, draws)
            if condition is not None:
                conditions.append(condition)
    return Attribution(drawn, len(draws), tuple(conditions))


@dataclass(frozen=True, slots=True)
class _Draw:
    """Other inputs: of another seed, and ``random`` where values were written out."""

    seed: int
    random: bool

    def of(self, case: Case) -> Case:
        """``case`` with these inputs."""
        inputs = tuple(
            replace(one, fill=Random()) if self.random and isinstance(one.fill, Literal) else one
            for one in case.program.inputs
        )
        program = replace(case.program, inputs=inputs)
        return replace(case, program=program, seed=case.seed + self.seed)


def _draws(case: Case, outcome: Outcome) -> list[_Draw]:
    """Other inputs than the case's; of what fails before there are any, one is enough."""
    written = any(isinstance(one.fill, Literal) for one in case.program.inputs)
    count = DRAWS if outcome.stage in RUNNING else 2
    return [_Draw(seed, written) for seed in range(1, count)]


@dataclass(frozen=True, slots=True)
class _Way:
    """``case`` with something put back to its default, and the axis that that is on, if any."""

    case: Case
    differences: tuple[Difference, ...]
    axis: str = ""


def _put_back(
    case: Case, outcome: Outcome, ways: list[_Way], draws: list[_Draw]
) -> Trials[Condition | None]:
    """What comes of the first of ``ways`` that is a valid program; None if none is."""
    kind = kind_of(case, outcome)
    axis = next((way.axis for way in ways if way.axis), "")
    for way in ways:
        verdicts, alike, undecided = [], 0, 0
        for draw in draws:
            tried = draw.of(way.case)
            result = yield tried
            if result.verdict in _SILENT:
                break
            verdicts.append(result.verdict)
            same = same_kind(tried, result, kind)
            alike += same
            undecided += not same and result.verdict in CUT_SHORT
        if len(verdicts) == len(draws):
            return Condition(way.differences, tuple(verdicts), alike, axis, undecided)
    return None


def _changes(
    case: Case, outcome: Outcome, family: Family | None, defaults: Defaults
) -> dict[tuple[tuple[What, str], ...], list[_Way]]:
    """The ways to put something back, by what that is."""
    known = Known(defaults, ran=outcome.stage in RUNNING)
    found: dict[tuple[tuple[What, str], ...], list[_Way]] = {}
    for axis, changed in (*_structural(case, known), *_on_axes(case, family)):
        different = differences(case, changed)
        if different:
            key = tuple((one.what, one.name) for one in different)
            found.setdefault(key, []).append(_Way(changed, different, axis))
    return found


def _structural(case: Case, known: Known) -> Iterator[tuple[str, Case]]:
    for node in case.program.nodes:
        default = known.defaults.get(node.operator, {})
        for name, value in telling(node).items():
            if name in default and default[name] == value:
                continue
            others = {key: one for key, one in node.attributes.items() if key != name}
            for attributes in (others, {**others, name: default.get(name)}):
                changed = with_node(case, replace(node, attributes=attributes))
                yield from _unless_nonsense(partial(remade, case, nodes=changed))
    for step in (value_steps.layouts, value_steps.dtypes, value_steps.constants):
        yield from (("", one) for one in step(case, known))
    for symbol in case.program.symbols:
        yield from (("", one) for one in setting_steps.fixed(case, symbol))
    for field, plain in setting_steps.PLAIN.items():
        if field != "also" and getattr(case, field) != plain:
            yield "", replace(case, **{field: plain})
    yield from (("", one) for one in graph_steps.bypassed(case))


def _unless_nonsense(make: Callable[[], Case]) -> Iterator[tuple[str, Case]]:
    return (("", one) for one in candidate(make))


def _on_axes(case: Case, family: Family | None) -> Iterator[tuple[str, Case]]:
    """``case`` with each axis of ``family`` at its default."""
    if family is None:
        return
    try:
        point = family.point(case)
    except ValueError:
        # It does not lie on the axes.
        return
    for axis in non_default(family.axes, point):
        changed = with_defaults(family.axes, point, (axis,))
        made = family.build(changed, case.seed) if changed is not None else None
        if isinstance(made, Case):
            yield axis, replace(made, fixes=case.fixes)


def differences(case: Case, other: Case) -> tuple[Difference, ...]:
    """What a person has to be told of to make ``other`` of ``case``.

    Shapes are told only where nothing else differs: they follow from layouts and symbols.
    """
    found = [*_of_nodes(case.program, other.program), *_of_inputs(case.program, other.program)]
    found += [
        Difference(What.SETTING, name, getattr(case, name), getattr(other, name))
        for name in ("pipeline", "exec_mode", "opt_level", "regime")
        if getattr(case, name) != getattr(other, name)
    ]
    return tuple(found or _of_shapes(case.program, other.program))


def _of_nodes(one: Program, other: Program) -> Iterator[Difference]:
    theirs = {node.name: node for node in other.nodes}
    for node in one.nodes:
        if node.name not in theirs:
            yield Difference(What.NODE, node.operator, True, None)
            continue
        attributes = theirs[node.name].attributes
        for name in dict.fromkeys((*node.attributes, *attributes)):
            was, to = node.attributes.get(name), attributes.get(name)
            if was != to:
                yield Difference(What.ATTRIBUTE, name, was, to)


def _of_inputs(one: Program, other: Program) -> Iterator[Difference]:
    for name in one.symbols:
        if name not in other.symbols:
            yield Difference(What.SYMBOL, name, True, None)
    theirs = {given.name: given for given in other.inputs}
    for given in one.inputs:
        to = theirs.get(given.name, given)
        if given.dtype != to.dtype:
            yield Difference(What.DTYPE, given.name, given.dtype, to.dtype)
        if given.constant != to.constant:
            yield Difference(What.CONSTANT, given.name, given.constant, to.constant)


def _of_shapes(one: Program, other: Program) -> Iterator[Difference]:
    theirs = {given.name: given for given in other.inputs}
    for given in one.inputs:
        to = theirs.get(given.name, given)
        if given.shape != to.shape:
            yield Difference(What.SHAPE, given.name, _shape(given.shape), _shape(to.shape))


def _shape(dims: tuple[int | str, ...]) -> str:
    return f"({', '.join(map(str, dims))}{',' * (len(dims) == 1)})"
