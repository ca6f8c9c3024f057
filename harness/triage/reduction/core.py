"""The core of a failing program that its seed decides: only what the failure takes is left.

Such a program, of a random number of operators, is no neighbour of the program at another point of
its family's axes, which its seed decides anew. So nothing on the axes tells causes apart. What does
is the core, by the kind's ``core_steps``: its operators, and its ``features``.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from relaxcheck.generators.core.case import AnyCase
from relaxcheck.harness.kind import Trials
from relaxcheck.harness.kinds import of
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.finding import Finding, Reduced
from relaxcheck.harness.triage.fingerprint import (
    Signature,
    at_one_place,
    looks_alike,
    reduced_signature,
    same_signature,
    signature_of,
)
from relaxcheck.harness.triage.reduction.search import Hit, Reduction, same_standing, search

REGIME = "regime"
"""The feature that is the regime of the inputs."""

MOST_TRIES = 60
"""The candidates that run; the reference may refuse more (``REFUSED_FOR_ONE``)."""


def core(case: AnyCase, outcome: Outcome) -> Trials[Reduced]:
    """The core of the failure ``outcome`` of ``case``, blamed on its features.

    Every trial has to be validated. Deterministic, with at most ``MOST_TRIES`` tries.
    """
    kind, signature = of(case), signature_of(case, outcome)
    # The first run is for the reference's values, which cutting the graph takes.
    vetted = yield case
    start = vetted if same_failure(case, vetted, signature) else outcome
    walk = _Walk(signature, start, Reduction(case, start))
    steps = search(case, start, kind.core_steps)
    try:
        candidates = next(steps)
        while not walk.reduction.spent(MOST_TRIES):
            candidates = steps.send((yield from walk.first(candidates)))
    except StopIteration:
        walk.reduction.minimal = True
    case, outcome = walk.reduction.case, walk.reduction.outcome
    return Reduced(case, outcome, kind.features(case, outcome), walk.part)


def innermost_core(case: AnyCase, outcome: Outcome) -> Trials[Reduced]:
    """As ``core``, of the smallest part of the program that gives wrong values by itself."""
    reduced = yield from core(case, outcome)
    while reduced.part is not None:
        reduced = yield from core(*reduced.part)
    return reduced


@dataclass(slots=True)
class _Walk:
    """A walk of a failure of ``signature`` through ever simpler programs.

    ``part`` is a smaller one than the present that gives other wrong values: they are the reason.
    """

    signature: Signature
    start: Outcome
    reduction: Reduction
    part: tuple[AnyCase, Outcome] | None = None

    def first(self, candidates: Iterator[AnyCase]) -> Trials[Hit | None]:
        """The first of ``candidates`` that fails alike, to which it moves; None if none does."""
        for number, candidate in enumerate(candidates):
            outcome = yield candidate
            self.reduction.count(outcome)
            if same_standing(outcome, self.start):
                if same_failure(candidate, outcome, self.signature):
                    hit = Hit(number, candidate, outcome)
                    self.reduction.move(hit)
                    self.part = None
                    return hit
                self._note(candidate, outcome)
            if self.reduction.spent(MOST_TRIES):
                break
        return None

    def _note(self, candidate: AnyCase, outcome: Outcome) -> None:
        wrong = self.signature.verdict is outcome.verdict is Verdict.WRONG_VALUE
        smaller = of(candidate).size(candidate) < of(candidate).size(self.reduction.case)
        if wrong and smaller and self.part is None:
            self.part = candidate, outcome


def same_failure(case: AnyCase, outcome: Outcome, signature: Signature) -> bool:
    """True if ``outcome`` of ``case`` is a failure of ``signature``: of its place, where known."""
    if at_one_place(signature_of(case, outcome), signature):
        return True
    alike = same_signature(case, outcome, signature)
    return alike and looks_alike(case, outcome, signature)


def raised_at_one_place(
    case: AnyCase, outcome: Outcome, findings: Sequence[Finding]
) -> Finding | None:
    """The first of ``findings`` about an error of the same place and reason; None if none is."""
    signature = signature_of(case, outcome)
    return next((each for each in findings if at_one_place(each.signature, signature)), None)


def explains_core(case: AnyCase, outcome: Outcome, findings: Sequence[Finding]) -> Finding | None:
    """The first of ``findings`` with the cause of the core ``case``; None if there is none.

    Wrong values that look different have one cause if the cores differ in the regime of the inputs
    alone: values that are off at small inputs are NaN at large ones. The cores have to say more
    than which operator is wrong.
    """
    signature, own = reduced_signature(case, outcome), _but_regime(of(case).features(case, outcome))
    alike = (
        each
        for each in findings
        if at_one_place(each.signature, signature)
        or (
            signature.verdict is Verdict.WRONG_VALUE
            and (each.verdict, each.operator) == (signature.verdict, signature.operator)
            and each.case.fixes == case.fixes
            and not looks_alike(case, outcome, each.signature)
            and own
            and own == _but_regime(each.blame)
        )
    )
    return next(alike, None)


def _but_regime(features: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in features.items() if name != REGIME}
