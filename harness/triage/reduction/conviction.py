"""The example that convinces: a wrong value that nobody takes for rounding, if there is one.

A failure reduced to its plainest inputs is often off by a few units in the last place, and by 1% or
more with other inputs that people have. Or it takes inputs that nobody has, where ordinary ones
give values that are off.
"""

from dataclasses import replace

from msgspec import UNSET

from relaxcheck.generators.core.case import AnyCase
from relaxcheck.harness.kind import Trials
from relaxcheck.harness.kinds import of
from relaxcheck.harness.outcomes.deviation import clarity, far_clearer, is_slight
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.finding import Reduced
from relaxcheck.harness.triage.fingerprint import looks_alike, same_signature, signature_of
from relaxcheck.harness.triage.reduction.search import Hit, Keeps, same_standing


def clearest(
    case: AnyCase, outcome: Outcome, *, by_look: bool = True, on_axes: bool = False
) -> Trials[Hit | None]:
    """The clearest failure of the kind's ``convincing`` cases; None: none is clearer by far.

    It has the signature of ``outcome``, and its look, too, unless that is one of extreme values
    alone and not ``by_look``: values that are NaN at large inputs are off at small ones. Where
    ``outcome`` is in no doubt, it is the first that is about as clear. ``on_axes``: only those that
    are a point of their family, as ``case`` is. Every trial has to be validated. Deterministic.
    """
    if outcome.verdict is not Verdict.WRONG_VALUE:
        return None
    ordinary, sure, _ = clarity(outcome)
    doubtful = not (ordinary and sure)
    signature = signature_of(case, outcome)
    best: Hit | None = None
    for number, candidate in enumerate(of(case).convincing(case, doubtful=doubtful)):
        if on_axes and candidate.at is UNSET:
            continue
        result = yield candidate
        alike = same_signature(candidate, result, signature) and same_standing(result, outcome)
        if ordinary or by_look:
            alike = alike and looks_alike(candidate, result, signature)
        hit = Hit(number, candidate, result)
        if not doubtful:
            if alike and _as_clear(result, outcome):
                return hit
        elif alike and far_clearer(result, best.outcome if best is not None else outcome):
            best = hit
    return best


def convinced(reduced: Reduced) -> Trials[Reduced]:
    """``reduced`` with inputs that make a slight error far clearer, if nothing is blamed for it.

    With other inputs it may fail without the axes to blame, too, which would no longer be true. It
    stays on the axes of its family, on which expected failures are declared.
    """
    if reduced.blame or not is_slight(reduced.outcome):
        return reduced
    hit = yield from clearest(reduced.case, reduced.outcome, on_axes=True)
    return reduced if hit is None else replace(reduced, case=hit.case, outcome=hit.outcome)


def as_clear(keeps: Keeps, start: Outcome) -> Keeps:
    """``keeps``, of failures that convince about as much as ``start`` alone."""
    return lambda case, outcome: keeps(case, outcome) and _as_clear(outcome, start)


def _as_clear(outcome: Outcome, other: Outcome) -> bool:
    return clarity(outcome)[:2] >= clarity(other)[:2] and not far_clearer(other, outcome)
