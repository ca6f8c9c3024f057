"""Reduce a failure to its simplest case: along the axes of its family, then by steps.

Then other inputs replace those with which a wrong value may pass for rounding. At last, sizes that
people use replace smaller ones.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.core.case import AnyCase
from relaxcheck.harness.kinds import of
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.triage.finding import reduce as along_axes
from relaxcheck.harness.triage.fingerprint import looks_alike, same_signature, signature_of
from relaxcheck.harness.triage.reduction.conviction import as_clear, clearest
from relaxcheck.harness.triage.reduction.search import (
    Keeps,
    Reduction,
    same_standing,
    search,
)
from relaxcheck.harness.triage.reduction.trying import Budget, Trier, Trying
from relaxcheck.harness.workers.starting import PoolError


@dataclass(frozen=True, slots=True)
class ReductionResult:
    """The result of a reduction; ``why`` it ended early, if it did; ``broken``: by an error.

    ``again`` is the outcome of the simplest case in a new process and without any shortcut; None if
    it was not run again.
    """

    reduction: Reduction
    why: str = ""
    broken: bool = False
    again: Outcome | None = None

    @property
    def stable(self) -> bool | None:
        """True if the simplest case failed in the same way again; None: it was not run again."""
        if self.again is None:
            return None
        signature = signature_of(self.reduction.case, self.reduction.outcome)
        return same_signature(self.reduction.case, self.again, signature)


def keeping(case: AnyCase, start: Outcome) -> Keeps:
    """A predicate: an outcome has the signature and the look of ``start``, of ``case``.

    Values that are off are another failure than NaN, though both are wrong.
    """
    signature = signature_of(case, start)

    def keeps(candidate: AnyCase, outcome: Outcome) -> bool:
        return (
            same_signature(candidate, outcome, signature)
            and looks_alike(candidate, outcome, signature)
            and same_standing(outcome, start)
        )

    return keeps


def reduced(
    case: AnyCase,
    start: Outcome,
    trier: Trier,
    families: Iterable[Family],
    budget: Budget,
    show: Callable[[Reduction], None] = lambda _: None,
) -> ReductionResult:
    """Reduce ``case``, whose outcome is ``start``, and run the result once more.

    A wrong value that may pass for rounding, or takes extreme inputs, is replaced by a clearer one
    (``clearest``). Familiar sizes replace smaller ones at the end if the failure stays
    (``Kind.familiar``). An error of the workers ends the reduction with the simplest case so far.
    """
    by_name = {member.name: member for member in families}
    reduction = Reduction(case, start)
    reduction.vetted = start.reference is not None and not start.reference.unknown
    trying = Trying(trier, reduction, keeping(case, start), budget, show)
    family = by_name.get(case.family)
    try:
        why = trying.walk(along_axes(family, case, start)) if family else ""
        measure = of(case).measure
        if measure(reduction.case) > measure(case):
            # The axes' defaults are not the smallest sizes: the walk only found larger ones.
            reduction.case, reduction.outcome, reduction.kept = case, start, 0
        why = why or trying.search(search(reduction.case, reduction.outcome))
        if not why:
            why = _convince(trying)
        if not why:
            now = reduction.case, reduction.outcome
            trying.prefer(of(reduction.case).familiar(*now))
        again = None if budget.stop() else trier.again(reduction.case)
    except (PoolError, OSError) as error:
        return ReductionResult(reduction, str(error), broken=True)
    return ReductionResult(reduction, why, again=again)


def _convince(trying: Trying) -> str:
    """Move to a clearer failure, if any, and reduce that; the reason that it ended early, or ""."""
    reduction = trying.reduction
    hit = trying.choose(clearest(reduction.case, reduction.outcome, by_look=False))
    if hit is None:
        return ""
    trying.keeps = as_clear(keeping(hit.case, hit.outcome), hit.outcome)
    return trying.search(search(hit.case, hit.outcome))
