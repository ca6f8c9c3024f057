"""The example that convinces: a wrong value that nobody takes for rounding, if there is one.

A failure reduced to its plainest inputs is often off by a few units in the last place, and by 1% or
more with other inputs that people have. Or it takes inputs that nobody has, where ordinary ones
give values that are off.
"""

from dataclasses import replace

from msgspec import UNSET

from relaxcheck.generators.core.axes import RUN, Family, point_of, with_defaults
from relaxcheck.generators.core.case import AnyCase, compiled_like
from relaxcheck.harness.kind import Trials
from relaxcheck.harness.kinds import of
from relaxcheck.harness.outcomes.deviation import clarity, far_clearer, is_slight
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.finding import Reduced
from relaxcheck.harness.triage.fingerprint import looks_alike, same_signature, signature_of
from relaxcheck.harness.triage.reduction.search import Hit, Keeps, same_standing

REGIME, DTYPE = "regime", "dtype"
"""The axes of the inputs' magnitudes, and of their dtype."""


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


def convinced(family: Family, reduced: Reduced) -> Trials[Reduced]:
    """``reduced`` with inputs that make a slight error far clearer, if there are such.

    Where a setting is to blame, the inputs are tried at its default: if they fail there, nothing is
    to blame but them. The case stays on the axes of ``family``, on which expected failures are
    declared.
    """
    plain = _unblamed(family, reduced) if is_slight(reduced.outcome) else None
    if plain is None:
        return reduced
    hit = yield from clearest(plain, reduced.outcome, on_axes=True)
    if hit is None:
        return reduced
    blame = {REGIME: hit.case.regime} if REGIME in reduced.blame else {}
    return replace(reduced, case=hit.case, outcome=hit.outcome, blame=blame)


def _unblamed(family: Family, reduced: Reduced) -> AnyCase | None:
    """The case with the settings to blame at their defaults.

    None where a dtype is to blame, or a pass: at its default another fault may be at work.
    """
    if reduced.blame.keys() <= {REGIME}:
        return reduced.case
    if reduced.blame.keys() & {*RUN, DTYPE}:
        return None
    try:
        point = point_of(family, reduced.case)
    except ValueError:
        return None
    plain = with_defaults(family.axes, point, tuple(reduced.blame))
    if plain is None:
        return None
    return compiled_like(family.build(plain, reduced.case.seed), reduced.case)


def as_clear(keeps: Keeps, start: Outcome) -> Keeps:
    """``keeps``, of failures that convince about as much as ``start`` alone."""
    return lambda case, outcome: keeps(case, outcome) and _as_clear(outcome, start)


def _as_clear(outcome: Outcome, other: Outcome) -> bool:
    return clarity(outcome)[:2] >= clarity(other)[:2] and not far_clearer(other, outcome)
