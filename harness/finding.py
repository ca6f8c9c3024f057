"""Findings: failures grouped by cause, each with its smallest case and what it is blamed on."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from generators.axes import Family, Point, non_default, simpler, with_defaults
from generators.cases import AnyCase
from generators.expression_cases import Member
from generators.program import Case, Invalid, Valid
from harness.differential import Regression, by_release, regression
from harness.fingerprint import (
    INVALID,
    PIPELINE,
    Kind,
    cause_axes,
    explainable,
    fingerprint,
    kind_of,
    same_kind,
    told,
)
from harness.outcome import Outcome, Verdict

CUT_SHORT = frozenset({Verdict.TIMEOUT, Verdict.OUT_OF_MEMORY})
"""What ended before another failure could show: that is neither gone nor there."""

_MOST_TRIES = 200

T = TypeVar("T")
Trials = Generator[AnyCase, Outcome, T]
"""A computation that asks for the outcomes of cases, one at a time, and ends with a ``T``."""


class Finding(msgspec.Struct, frozen=True):
    """Failures of one cause. ``blame`` maps each axis that has to be off its default to its value.

    ``case`` is the smallest case seen and ``outcome`` what came of it; ``confirmed`` says whether
    it came again in fresh processes at both LLVM optimisation levels (None: not tried yet). In a
    campaign on several releases ``outcome`` holds what came of it, in such processes, on each.
    """

    fingerprint: str
    verdict: Verdict
    stage: str | None
    operator: str
    message: str
    blame: dict[str, str]
    case: AnyCase
    outcome: Outcome
    count: int = 1
    confirmed: bool | None = None

    @property
    def blamed(self) -> str:
        """What it is blamed on, for a person: ``data_layout=NWC, groups=2``."""
        named = ", ".join(f"{axis}={value}" for axis, value in self.blame.items())
        return named or "any values"

    @property
    def releases(self) -> dict[str, Verdict]:
        """The verdict on each release, the oldest first; empty in a campaign of one."""
        return {name: one.verdict for name, one in by_release(self.outcome).items() if name}

    @property
    def regression(self) -> Regression | None:
        """Between which releases it came into being, if it passed on an earlier one."""
        return regression(self.outcome)

    @property
    def kind(self) -> Kind:
        """The kind of failure this finding is of."""
        return Kind(self.verdict, self.stage, self.operator, self.message, self.case.fixes)

    @property
    def cause(self) -> dict[str, str]:
        """What of ``blame`` tells it from other findings of its kind; see ``cause_axes``."""
        return cause_axes(self.kind, self.blame)


@dataclass(frozen=True, slots=True)
class Reduced:
    """A failure made as simple as its family's axes allow, and the axes still off default.

    ``part`` is a program of fewer nodes that is one step simpler and fails in another way.
    """

    case: AnyCase
    outcome: Outcome
    blame: dict[str, str]
    part: tuple[AnyCase, Outcome] | None = None


def reduce(family: Family, case: AnyCase, outcome: Outcome) -> Trials[Reduced]:
    """Walk every axis towards its default while the failure stays of its kind.

    Whole groups of axes are put to their defaults first, halved where that cures the failure; then
    each axis alone. Deterministic, and at most a fixed number of tries. At its end no single axis
    can be made simpler (unless the tries ran out); the axes still off their default are to blame.
    One expression is made simpler by itself instead.
    """
    if isinstance(case, Member):
        return (yield from _expression(case, outcome))
    try:
        walk = _Walk(family, kind_of(case, outcome), family.point(case), case, outcome)
    except ValueError:
        return Reduced(case, outcome, {})
    yield from walk.defaults(non_default(family.axes, walk.point))
    moved = True
    while moved:
        moved = False
        for axis in family.axes:
            for candidate in simpler(family.axes, walk.point, axis):
                if (yield from walk.to(candidate)):
                    moved = True
                    break
    return Reduced(walk.case, walk.outcome, _blame(family, walk.point), walk.part)


def _expression(case: Member, outcome: Outcome) -> Trials[Reduced]:
    """Begin with what it was reduced to where it ran; go on while anything simpler fails alike."""
    kind = kind_of(case, outcome)
    tried = {case.identifier}
    candidates = iter((outcome.smallest,) if outcome.smallest else case.smaller)
    while (candidate := next(candidates, None)) is not None and len(tried) < _MOST_TRIES:
        if candidate.identifier in tried:
            continue
        tried.add(candidate.identifier)
        result = yield candidate
        if same_kind(candidate, result, kind):
            case, outcome = candidate, result
            candidates = case.smaller
    return Reduced(case, outcome, _about(case))


def _about(case: Member) -> dict[str, str]:
    """What it takes, for a person: the expression, and where it stands.

    Also the optimisation level where it does not fail without: it is confirmed at that alone.
    """
    expression = case.subject.expression
    about = {"expression": str(expression), "dtype": expression.dtype, "position": case.position}
    return {**about, "opt_level": str(case.opt_level)} if case.opt_level else about


def innermost(family: Family, case: AnyCase, outcome: Outcome) -> Trials[Reduced]:
    """As ``reduce``, of the smallest part of the program that fails by itself in any way."""
    reduced = yield from reduce(family, case, outcome)
    while reduced.part is not None:
        reduced = yield from reduce(family, *reduced.part)
    return reduced


@dataclass(slots=True)
class _Walk:
    """A failure on its way through the points of its family."""

    family: Family
    kind: Kind
    point: Point
    case: AnyCase
    outcome: Outcome
    tried: set[str] = field(default_factory=set)
    otherwise: dict[str, tuple[AnyCase, Outcome]] = field(default_factory=dict)

    def to(self, candidate: Point) -> Trials[bool]:
        """Move to ``candidate`` if the failure is there too; whether it was."""
        smaller = _at(self.family, candidate, self.case)
        if smaller.identifier in self.tried or len(self.tried) >= _MOST_TRIES:
            return False
        self.tried.add(smaller.identifier)
        outcome = yield smaller
        if not same_kind(smaller, outcome, self.kind):
            if outcome.verdict.is_failure and outcome.verdict not in CUT_SHORT:
                self.otherwise[smaller.identifier] = smaller, outcome
            return False
        self.point, self.case, self.outcome = candidate, smaller, outcome
        return True

    @property
    def part(self) -> tuple[AnyCase, Outcome] | None:
        """What is one step simpler, of fewer nodes, and fails in another way, if anything does."""
        axes = self.family.axes
        steps = (one for axis in axes for one in simpler(axes, self.point, axis))
        tried = (self.otherwise.get(_at(self.family, one, self.case).identifier) for one in steps)
        return next((one for one in tried if one and _nodes(one[0]) < _nodes(self.case)), None)

    def defaults(self, names: Sequence[str]) -> Trials[None]:
        """Put all of ``names`` to their defaults that the failure can do without."""
        candidate = with_defaults(self.family.axes, self.point, names) if names else self.point
        if candidate == self.point:
            return
        if (candidate is None or not (yield from self.to(candidate))) and len(names) > 1:
            half = len(names) // 2
            yield from self.defaults(names[half:])
            yield from self.defaults(names[:half])


def explained(family: Family, case: AnyCase, findings: Sequence[Finding]) -> Trials[Finding | None]:
    """The finding that explains the failure of ``case``, or None.

    ``findings`` are of its kind (``explainable``). One whose message is its cause explains it by
    that alone. Else candidates are those whose causes (``cause_axes``) are all off their default
    here as well. With everything gone that these are, the failure must be gone too; the first of
    them then counts it. An invalid program is explained by a finding about the same fault, and one
    expression by any of its kind, which is as much as can be told of it.
    """
    if isinstance(case, Member):
        return next(iter(findings), None)
    if isinstance(case.expect, Invalid):
        return next((one for one in findings if _alike(one, case)), None)
    findings = [one for one in findings if isinstance(one.case.expect, Valid)]
    by_message = next((one for one in findings if told(one.kind)), None)
    if by_message is not None:
        return by_message
    try:
        point = family.point(case)
    except ValueError:
        # Off the grid nothing can be put to its default: only the same cause is the same finding.
        return next((one for one in findings if _alike(one, case)), None)
    off = set(non_default(family.axes, point))
    candidates = [one for one in findings if set(one.cause) <= off and _same_pipeline(one, point)]
    if not candidates:
        return None
    if not all(one.blame for one in candidates):
        return next(one for one in candidates if not one.blame)
    blamed = tuple(dict.fromkeys(axis for one in candidates for axis in one.cause))
    without = with_defaults(family.axes, point, blamed)
    if without is None:
        return None
    other = _at(family, without, case)
    outcome = yield other
    ended = outcome.verdict not in (*CUT_SHORT, Verdict.HARNESS_ERROR)
    return candidates[0] if ended and not explainable(other, outcome, candidates[0].kind) else None


def _same_pipeline(finding: Finding, point: Point) -> bool:
    wanted = finding.cause.get(PIPELINE)
    return wanted is None or wanted == str(point[PIPELINE])


def finding_of(reduced: Reduced) -> Finding:
    """The finding that ``reduced`` is the smallest case of."""
    kind = kind_of(reduced.case, reduced.outcome)
    return Finding(
        fingerprint(kind, reduced.blame),
        kind.verdict,
        kind.stage,
        kind.operator,
        kind.message,
        reduced.blame,
        reduced.case,
        reduced.outcome,
    )


def unreduced(case: AnyCase, outcome: Outcome) -> Finding:
    """A finding about an invalid program: what is at fault is known from how it was made."""
    return finding_of(Reduced(case, outcome, _fault(case, outcome.verdict)))


def _fault(case: AnyCase, verdict: Verdict) -> dict[str, str]:
    """What a failure is blamed on that is not reduced along any axes.

    What TVM does not lower, whether valid or not, is not lowered for another reason.
    """
    unlowered = verdict in (Verdict.UNSUPPORTED, Verdict.SILENT_BAIL)
    if isinstance(case.expect, Invalid) and not unlowered:
        return {case.expect.fault[0]: INVALID}
    return {}


def _alike(finding: Finding, case: AnyCase) -> bool:
    """Whether ``finding`` is about what ``case``, of its kind, is made to fail by."""
    kind = finding.kind
    return fingerprint(kind, _fault(case, kind.verdict)) == fingerprint(kind, finding.blame)


def _nodes(case: AnyCase) -> int:
    return len(case.program.nodes) if isinstance(case, Case) else 1


def _at(family: Family, point: Point, case: AnyCase) -> AnyCase:
    return msgspec.structs.replace(family.build(point, case.seed), fixes=case.fixes)


def _blame(family: Family, point: Point) -> dict[str, str]:
    """The axes off their default, without those that the values of others keep from it."""
    return {
        name: str(point[name])
        for name in non_default(family.axes, point)
        if with_defaults(family.axes, point, (name,)) is not None
    }
