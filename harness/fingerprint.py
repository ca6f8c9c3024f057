"""When two failures are of one cause: by what TVM says of it, else by what it takes to fail."""

import hashlib
from dataclasses import dataclass, replace

from generators.cases import AnyCase
from generators.cases import operators as operators_of
from harness.errors import normalise, says_why
from harness.legalization_log import reason_in
from harness.outcome import Outcome, Verdict

FINGERPRINT_FORMAT = 5
"""Changes when the same failure would get another fingerprint."""

_WRONG = frozenset({Verdict.WRONG_SHAPE, Verdict.WRONG_DTYPE, Verdict.WRONG_VALUE})
_EXPLAINED_BY_TVM = frozenset({Verdict.SILENT_BAIL, Verdict.OPAQUE_CRASH, Verdict.UNSUPPORTED})
"""What TVM says something about: one message of one stage about one operator is one cause."""

PIPELINE = "pipeline"
"""The axis of the passes that a program is compiled by."""

INVALID = "invalid"
"""What an invalid program is blamed on is its fault, with this value."""

_CHECKED = "emit"
"""The stage in which Relax infers types, and refuses what is invalid."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What two failures of one cause share before anything is known about the cause.

    With the fixes on (``fixes``) it is another cause: what they were to cure, they did not.
    """

    verdict: Verdict
    stage: str | None
    operator: str
    message: str
    fixes: bool


def operators(case: AnyCase) -> str:
    """The operators of ``case``, for a failure that names none."""
    return " + ".join(operators_of(case))


def kind_of(case: AnyCase, outcome: Outcome) -> Kind:
    """The kind of the failure ``outcome``. A wrong value has no message that could be compared,
    but it may have a cause that was told where it ran.

    Of a silent bail it is what TVM logged; what it left is there for as many reasons as it logs.
    """
    message = outcome.cause if outcome.verdict in _WRONG else normalise(outcome.message)
    if outcome.verdict is Verdict.SILENT_BAIL:
        message = normalise(reason_in(outcome.message))
    operator = outcome.operator or operators(case)
    return Kind(outcome.verdict, outcome.stage, operator, message, case.fixes)


def same_kind(case: AnyCase, outcome: Outcome, kind: Kind) -> bool:
    """Whether ``outcome`` of ``case`` is of ``kind``; where no operator was named, any will do.

    A reduction may drop the nodes around the one at fault, and with them their operators. A silent
    bail that was recorded without what TVM logged may be for any reason.
    """
    other = kind_of(case, outcome)
    if kind.verdict is Verdict.SILENT_BAIL and not (kind.message and other.message):
        kind, other = replace(kind, message=""), replace(other, message="")
    alike = replace(other, operator=kind.operator) == kind
    return alike and set(other.operator.split(" + ")) <= set(kind.operator.split(" + "))


def explainable(case: AnyCase, outcome: Outcome, kind: Kind) -> bool:
    """Whether a finding of ``kind`` may explain the failure ``outcome`` of ``case``.

    As ``same_kind``; but where no operator was named, the one at fault may be among those of
    ``case``, beside others.
    """
    if same_kind(case, outcome, kind):
        return True
    other = kind_of(case, outcome)
    within = set(kind.operator.split(" + ")) <= set(other.operator.split(" + "))
    return outcome.operator is None and within and replace(other, operator=kind.operator) == kind


def fingerprint(kind: Kind, blame: dict[str, str]) -> str:
    """12 hexadecimal digits that are the same for the same cause, over runs, seeds and machines.

    The axes that count are those of ``cause_axes``; those of the several spatial dimensions
    (``stride.h``, ``stride.w``) as one. An invalid program that gets past type inference is of one
    cause for each operator and fault, whatever comes of it then: nothing checks it.
    """
    invalid = INVALID in blame.values()
    axes = sorted({_told_apart(*one) for one in cause_axes(kind, blame).items()})
    if invalid and kind.stage != _CHECKED:
        parts = ["unchecked", kind.operator, str(kind.fixes)]
    else:
        cause = (kind.verdict, kind.stage, kind.operator, kind.fixes, kind.message)
        parts = [INVALID] * invalid + [str(one) for one in cause]
    whole = "\0".join((str(FINGERPRINT_FORMAT), *parts, *axes))
    return hashlib.sha256(whole.encode()).hexdigest()[:12]


def _told_apart(axis: str, value: str) -> str:
    return f"{axis}={value}" if axis == PIPELINE else axis.split(".")[0]


def cause_axes(kind: Kind, blame: dict[str, str]) -> dict[str, str]:
    """What of ``blame`` tells a failure of ``kind`` from others of its kind.

    Nothing where TVM says why: several attributes lead to one branch of a legalization, or to one
    check. Only the pipeline where that is blamed: the default passes are right with all else that
    it takes, so a pass of its own does wrong. Of an invalid program that nothing refuses in time it
    is the fault.
    """
    if told(kind) and (INVALID not in blame.values() or kind.stage == _CHECKED):
        return {}
    return {PIPELINE: blame[PIPELINE]} if PIPELINE in blame else blame


def told(kind: Kind) -> bool:
    """Whether it is said why: then the message is the cause, whatever leads to it.

    TVM says so, or of a wrong value whoever looked into it where it ran.
    """
    if kind.verdict in _WRONG:
        return bool(kind.message)
    return kind.verdict in _EXPLAINED_BY_TVM and says_why(kind.message)
