"""A reduction from a failure to the simplest case of it: along its family's axes, then any way."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from generators.axes import Family
from generators.cases import AnyCase
from generators.expression_cases import Member
from generators.program import Case
from harness.finding import reduce as along_axes
from harness.fingerprint import kind_of, same_kind
from harness.outcome import Outcome
from harness.pool import PoolError
from harness.reduction.search import (
    Keeps,
    Reduction,
    defaults_of,
    same_standing,
    search,
    search_expression,
)
from harness.reduction.simplicity import measure
from harness.reduction.trying import Budget, Trier, Trying


@dataclass(frozen=True, slots=True)
class Ended:
    """How a reduction ended: ``why`` before its end, if it did; ``broken``: it could not go on.

    ``again`` is what came of the result once more, in a new process and without any shortcut; None
    where that was not tried any more.
    """

    reduction: Reduction
    why: str = ""
    broken: bool = False
    again: Outcome | None = None

    @property
    def stable(self) -> bool | None:
        """Whether the result failed in the same way once more; None where it was not tried."""
        if self.again is None:
            return None
        kind = kind_of(self.reduction.case, self.reduction.outcome)
        return same_kind(self.reduction.case, self.again, kind)


def keeping(case: AnyCase, start: Outcome) -> Keeps:
    """Whether an outcome is of the same kind as ``start`` of ``case``, of a program like it."""
    kind = kind_of(case, start)

    def keeps(candidate: AnyCase, outcome: Outcome) -> bool:
        return same_kind(candidate, outcome, kind) and same_standing(outcome, start)

    return keeps


def reduced(
    case: AnyCase,
    start: Outcome,
    trier: Trier,
    families: Iterable[Family],
    budget: Budget,
    show: Callable[[Reduction], None] = lambda _: None,
) -> Ended:
    """Reduce ``case``, of which ``start`` came, and run the result once more.

    Whatever keeps it from going on ends it, with what was found so far.
    """
    by_name = {one.name: one for one in families}
    defaults = defaults_of(by_name.values())
    reduction = Reduction(case, start)
    reduction.vetted = start.reference is not None and not start.reference.unknown
    trying = Trying(trier, reduction, keeping(case, start), budget, show)
    family = by_name.get(case.family)
    try:
        why = trying.walk(along_axes(family, case, start)) if family else ""
        now = reduction.case
        if isinstance(now, Case) and isinstance(case, Case):
            if measure(now, defaults) > measure(case, defaults):
                # The axes' defaults are no smallest sizes: all that was found were larger ones.
                reduction.case, reduction.outcome, reduction.kept = case, start, 0
                now = case
            why = why or trying.search(search(now, reduction.outcome, defaults))
        elif isinstance(now, Member):
            why = why or trying.search(search_expression(now))
        again = None if budget.stop() else trier.again(reduction.case)
    except (PoolError, OSError) as error:
        return Ended(reduction, str(error), broken=True)
    return Ended(reduction, why, again=again)
