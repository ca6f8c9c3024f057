"""Findings: failures grouped by cause, each with its smallest case and its blame."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

import msgspec

from relaxcheck.generators.core.axes import (
    PIPELINE,
    Family,
    Point,
    non_default,
    point_of,
    simpler,
    with_defaults,
)
from relaxcheck.generators.core.case import AnyCase, Invalid, Valid, compiled_like
from relaxcheck.harness.kind import Trials
from relaxcheck.harness.kinds import of
from relaxcheck.harness.outcomes.differential import Regression, by_release, regression
from relaxcheck.harness.outcomes.errors import normalise
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.outcomes.severity import Severity, severity_of
from relaxcheck.harness.triage.fingerprint import (
    INVALID,
    WRONG,
    Signature,
    cause_axes,
    explainable,
    fingerprint,
    looks_alike,
    names_cause,
    other_target,
    reduced_signature,
    same_signature,
    signature_of,
)

CUT_SHORT = frozenset({Verdict.TIMEOUT, Verdict.OUT_OF_MEMORY})
"""Verdicts of runs that ended before a failure could show: it is neither gone nor there."""

_MOST_TRIES = 200


class Finding(msgspec.Struct, frozen=True):
    """Failures of one cause. ``blame`` maps each axis that has to be off its default to its value.

    ``case`` is the smallest case, ``outcome`` its outcome. ``confirmed``: it came again in fresh
    processes at both LLVM optimisation levels (None: not tried yet). In a campaign on several
    releases ``outcome`` holds the outcomes in such processes on each. ``mended_by`` is the bundled
    fix that cures the case by itself, if it mends one fault of the operator and no other.
    ``cured``: with all bundled fixes the case, which failed without them, is right in a fresh
    process on the release that it was seen on (None: not tried).
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
    mended_by: str = ""
    cured: bool | None = None

    @property
    def severity(self) -> Severity | None:
        """Its severity; None if the verdict does not count against TVM."""
        return severity_of(self.verdict, self.case.expect)

    @property
    def blamed(self) -> str:
        """The blame for a person: ``data_layout=NWC, groups=2``."""
        named = ", ".join(f"{axis}={value}" for axis, value in self.blame.items())
        return named or "any values"

    @property
    def releases(self) -> dict[str, Verdict]:
        """The verdict on each release, the oldest first; empty in a campaign of one."""
        return {name: outcome.verdict for name, outcome in by_release(self.outcome).items() if name}

    @property
    def regression(self) -> Regression | None:
        """The releases between which it appeared, if it passed on an earlier one."""
        return regression(self.outcome)

    @property
    def signature(self) -> Signature:
        """The signature of its failures."""
        look = of(self.case).appearance(self.outcome)
        fixes, target = self.case.fixes, other_target(self.case)
        return Signature(self.verdict, self.stage, self.operator, self.message, fixes, look, target)

    @property
    def cause(self) -> dict[str, str]:
        """The part of ``blame`` that tells it from findings of the same signature."""
        return cause_axes(self.signature, self.blame)


@dataclass(frozen=True, slots=True)
class Reduced:
    """A failure reduced as far as its family's axes allow, and the axes still off their defaults.

    ``part`` is a program of fewer nodes, one step simpler, that fails in another way.
    """

    case: AnyCase
    outcome: Outcome
    blame: dict[str, str]
    part: tuple[AnyCase, Outcome] | None = None


def reduce(family: Family, case: AnyCase, outcome: Outcome) -> Trials[Reduced]:
    """Walk every axis towards its default while the failure keeps its signature.

    Whole groups of axes are put to their defaults first, and halved if that cures the failure; then
    each axis alone. Deterministic, with a fixed number of tries at most. At the end no single axis
    can be made simpler (unless the tries ran out); the axes still off their defaults are to blame.
    A case that does not follow from its point is made simpler by the steps of its kind instead.
    """
    if not of(case).along_axes:
        return (yield from _by_steps(case, outcome))
    try:
        walk = _Walk(family, signature_of(case, outcome), point_of(family, case), case, outcome)
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


def _by_steps(case: AnyCase, outcome: Outcome) -> Trials[Reduced]:
    """Start from the worker's smallest case, if any; continue while a simpler one fails alike."""
    signature = signature_of(case, outcome)
    tried = {case.identifier}
    candidates = iter((outcome.smallest,)) if outcome.smallest else _simpler(case, outcome)
    while (candidate := next(candidates, None)) is not None and len(tried) < _MOST_TRIES:
        if candidate.identifier in tried:
            continue
        tried.add(candidate.identifier)
        result = yield candidate
        if same_signature(candidate, result, signature):
            case, outcome = candidate, result
            candidates = _simpler(case, outcome)
    return Reduced(case, outcome, of(case).blame(case))


def _simpler(case: AnyCase, outcome: Outcome) -> Iterator[AnyCase]:
    return chain.from_iterable(step(case, outcome) for step in of(case).steps)


def innermost(family: Family, case: AnyCase, outcome: Outcome) -> Trials[Reduced]:
    """As ``reduce``, of the smallest part of the program that fails by itself."""
    reduced = yield from reduce(family, case, outcome)
    while reduced.part is not None:
        reduced = yield from reduce(family, *reduced.part)
    return reduced


@dataclass(slots=True)
class _Walk:
    """A walk of a failure through the points of its family."""

    family: Family
    signature: Signature
    point: Point
    case: AnyCase
    outcome: Outcome
    tried: set[str] = field(default_factory=set)
    otherwise: dict[str, tuple[AnyCase, Outcome]] = field(default_factory=dict)

    def to(self, candidate: Point) -> Trials[bool]:
        """Move to ``candidate`` if the failure is there too; True if it is."""
        smaller = _at(self.family, candidate, self.case)
        if smaller.identifier in self.tried or len(self.tried) >= _MOST_TRIES:
            return False
        self.tried.add(smaller.identifier)
        outcome = yield smaller
        alike = same_signature(smaller, outcome, self.signature)
        if not (alike and looks_alike(smaller, outcome, self.signature)):
            if outcome.verdict.is_failure and outcome.verdict not in CUT_SHORT:
                self.otherwise[smaller.identifier] = smaller, outcome
            return False
        self.point, self.case, self.outcome = candidate, smaller, outcome
        return True

    @property
    def part(self) -> tuple[AnyCase, Outcome] | None:
        """A case one step simpler, of fewer nodes, that fails in another way, if there is one."""
        axes = self.family.axes
        steps = (step for axis in axes for step in simpler(axes, self.point, axis))
        tried = (self.otherwise.get(_at(self.family, step, self.case).identifier) for step in steps)
        return next(
            (trial for trial in tried if trial and _size(trial[0]) < _size(self.case)), None
        )

    def defaults(self, names: Sequence[str]) -> Trials[None]:
        """Put the axes ``names`` to their defaults as far as the failure stays."""
        candidate = with_defaults(self.family.axes, self.point, names) if names else self.point
        if candidate == self.point:
            return
        if (candidate is None or not (yield from self.to(candidate))) and len(names) > 1:
            half = len(names) // 2
            yield from self.defaults(names[half:])
            yield from self.defaults(names[:half])


def explained(family: Family, case: AnyCase, findings: Sequence[Finding]) -> Trials[Finding | None]:
    """The finding that explains the failure of ``case``, or None.

    ``findings`` share its signature (``explainable``). If the message names the cause, the first of
    them explains it. Otherwise the candidates are those whose causes (``cause_axes``) are all off
    their defaults in ``case`` as well. With all of these axes at their defaults the failure must be
    gone; the first candidate then counts it. An invalid program is explained by a finding about the
    same fault. A case that does not follow from its point is explained by any of ``findings``, but
    of a wrong value that its blame tells from others by none: it takes the case's own reduction.
    """
    if not of(case).along_axes:
        return next((finding for finding in findings if not told_by_blame(finding)), None)
    if isinstance(case.expect, Invalid):
        return next((finding for finding in findings if _alike(finding, case)), None)
    findings = [finding for finding in findings if isinstance(finding.case.expect, Valid)]
    by_message = next((finding for finding in findings if names_cause(finding.signature)), None)
    if by_message is not None:
        return by_message
    try:
        point = point_of(family, case)
    except ValueError:
        # Off the axes no value can be put to its default: only the same cause is the same finding.
        return next((finding for finding in findings if _alike(finding, case)), None)
    off = set(non_default(family.axes, point))
    candidates = [
        finding
        for finding in findings
        if set(finding.cause) <= off and _same_pipeline(finding, point)
    ]
    if not candidates:
        return None
    if not all(candidate.blame for candidate in candidates):
        return next(candidate for candidate in candidates if not candidate.blame)
    blamed = tuple(dict.fromkeys(axis for candidate in candidates for axis in candidate.cause))
    without = with_defaults(family.axes, point, blamed)
    if without is None:
        return None
    other = _at(family, without, case)
    outcome = yield other
    ended = outcome.verdict not in (*CUT_SHORT, Verdict.HARNESS_ERROR)
    gone = ended and not explainable(other, outcome, candidates[0].signature)
    return candidates[0] if gone else None


def told_by_blame(finding: Finding) -> bool:
    """True if blame alone tells ``finding``, of wrong values, from others of its signature."""
    return finding.verdict in WRONG and bool(finding.cause)


def _same_pipeline(finding: Finding, point: Point) -> bool:
    wanted = finding.cause.get(PIPELINE)
    return wanted is None or wanted == str(point[PIPELINE])


def as_valid(case: AnyCase, outcome: Outcome) -> Trials[tuple[AnyCase, Outcome]]:
    """The failure of the valid call, if that fails as the wrong call ``case`` does.

    A program that is not compiled, or that no call gets through, fails for another reason than a
    wrong dimension. If the valid call fails in another way, it says nothing about the wrong one.
    """
    valid = of(case).valid_call(case)
    if valid is None:
        return case, outcome
    called = yield valid
    alike = called.stage == outcome.stage and normalise(called.message) == normalise(
        outcome.message
    )
    return (valid, called) if called.verdict.is_failure and alike else (case, outcome)


def finding_of(reduced: Reduced) -> Finding:
    """The finding with ``reduced`` as its smallest case."""
    signature = reduced_signature(reduced.case, reduced.outcome)
    return Finding(
        fingerprint(signature, reduced.blame),
        signature.verdict,
        signature.stage,
        signature.operator,
        signature.message,
        reduced.blame,
        reduced.case,
        reduced.outcome,
    )


def unreduced(case: AnyCase, outcome: Outcome) -> Finding:
    """A finding about an invalid program: its fault is known from how it was made."""
    return finding_of(Reduced(case, outcome, _fault(case, outcome.verdict)))


def _fault(case: AnyCase, verdict: Verdict) -> dict[str, str]:
    """The blame of a failure that is not reduced along any axes.

    A program that TVM does not lower, valid or not, is not lowered for another reason than a fault.
    """
    unlowered = verdict in (Verdict.UNSUPPORTED, Verdict.SILENT_BAIL)
    if isinstance(case.expect, Invalid) and not unlowered:
        return {case.expect.fault[0]: INVALID}
    return {}


def _alike(finding: Finding, case: AnyCase) -> bool:
    """True if ``finding`` blames the fault of ``case``, which fails with the same signature."""
    signature = finding.signature
    own = fingerprint(signature, _fault(case, signature.verdict))
    return own == fingerprint(signature, finding.blame)


def _size(case: AnyCase) -> int:
    return of(case).size(case)


def _at(family: Family, point: Point, case: AnyCase) -> AnyCase:
    return compiled_like(family.build(point, case.seed), case)


def _blame(family: Family, point: Point) -> dict[str, str]:
    """The axes off their defaults, without those that the values of other axes keep off."""
    return {
        name: str(point[name])
        for name in non_default(family.axes, point)
        if with_defaults(family.axes, point, (name,)) is not None
    }
