"""Findings: failures grouped by cause, each with its smallest case and what it is blamed on."""

import hashlib
from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from generators.axes import Family, Point, non_default, simpler, with_defaults
from generators.program import Case
from harness.errors import normalise
from harness.outcome import Outcome, Verdict

FINGERPRINT_FORMAT = 1
"""Changes when the same failure would get another fingerprint."""

_WRONG = frozenset({Verdict.WRONG_SHAPE, Verdict.WRONG_DTYPE, Verdict.WRONG_VALUE})
_MOST_TRIES = 200

T = TypeVar("T")
Trials = Generator[Case, Outcome, T]
"""A computation that asks for the outcomes of cases, one at a time, and ends with a ``T``."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What two failures of one cause share before anything is known about the cause."""

    verdict: Verdict
    stage: str | None
    operator: str
    message: str


class Finding(msgspec.Struct, frozen=True):
    """Failures of one cause. ``blame`` maps each axis that has to be off its default to its value.

    ``case`` is the smallest case seen and ``outcome`` what came of it; ``confirmed`` says whether
    it came again in fresh processes at both LLVM optimisation levels (None: not tried yet).
    """

    fingerprint: str
    verdict: Verdict
    stage: str | None
    operator: str
    message: str
    blame: dict[str, str]
    case: Case
    outcome: Outcome
    count: int = 1
    confirmed: bool | None = None

    @property
    def kind(self) -> Kind:
        """The kind of failure this finding is of."""
        return Kind(self.verdict, self.stage, self.operator, self.message)


@dataclass(frozen=True, slots=True)
class Reduced:
    """A failure made as simple as its family's axes allow, and the axes still off default."""

    case: Case
    outcome: Outcome
    blame: dict[str, str]


def operators(case: Case) -> str:
    """The operators of ``case``, for a failure that names none."""
    return " + ".join(dict.fromkeys(node.operator for node in case.program.nodes))


def kind_of(case: Case, outcome: Outcome) -> Kind:
    """The kind of the failure ``outcome``. A wrong value has no message that could be compared."""
    message = "" if outcome.verdict in _WRONG else normalise(outcome.message)
    if outcome.verdict is Verdict.SILENT_BAIL:
        message = ""
    return Kind(outcome.verdict, outcome.stage, outcome.operator or operators(case), message)


def same_kind(case: Case, outcome: Outcome, kind: Kind) -> bool:
    """Whether ``outcome`` of ``case`` is of ``kind``; where no operator was named, any will do.

    A reduction may drop the nodes around the one at fault, and with them their operators.
    """
    other = kind_of(case, outcome)
    alike = (other.verdict, other.stage, other.message) == (kind.verdict, kind.stage, kind.message)
    return alike and set(other.operator.split(" + ")) <= set(kind.operator.split(" + "))


def reduce(family: Family, case: Case, outcome: Outcome) -> Trials[Reduced]:
    """Walk every axis towards its default while the failure stays of its kind.

    Deterministic, and at most a fixed number of tries. At its end no single axis can be made
    simpler (unless the tries ran out); the axes that are still off their default are to blame.
    """
    kind = kind_of(case, outcome)
    try:
        point = family.point(case)
    except ValueError:
        return Reduced(case, outcome, {})
    tries = 0
    moved = True
    while moved and tries < _MOST_TRIES:
        moved = False
        for axis in family.axes:
            for candidate in simpler(family.axes, point, axis):
                smaller = _at(family, candidate, case)
                tries += 1
                result = yield smaller
                if same_kind(smaller, result, kind):
                    point, case, outcome, moved = candidate, smaller, result, True
                    break
    return Reduced(case, outcome, _blame(family, point))


def explained_by(family: Family, case: Case, finding: Finding) -> Trials[bool]:
    """Whether ``finding`` explains the failure of ``case``: with what it blames gone, so is it."""
    try:
        point = family.point(case)
    except ValueError:
        return not finding.blame
    if not set(finding.blame) <= set(non_default(family.axes, point)):
        return False
    if not finding.blame:
        return True
    without = with_defaults(family.axes, point, tuple(finding.blame))
    if without is None:
        return False
    other = _at(family, without, case)
    result = yield other
    return not same_kind(other, result, finding.kind)


def fingerprint(kind: Kind, blame: dict[str, str]) -> str:
    """12 hexadecimal digits that are the same for the same cause, over runs, seeds and machines.

    Axes of the several spatial dimensions (``stride.h``, ``stride.w``) count as one.
    """
    axes = sorted({name.split(".")[0] for name in blame})
    parts = (str(FINGERPRINT_FORMAT), *map(str, (kind.verdict, kind.stage, kind.operator)))
    return hashlib.sha256("\0".join((*parts, kind.message, *axes)).encode()).hexdigest()[:12]


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


def _at(family: Family, point: Point, case: Case) -> Case:
    return msgspec.structs.replace(family.build(point, case.seed), fixes=case.fixes)


def _blame(family: Family, point: Point) -> dict[str, str]:
    return {name: str(point[name]) for name in non_default(family.axes, point)}
