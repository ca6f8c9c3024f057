"""Batches in the figures of a campaign: their weight, and the parts that run by themselves."""

from relaxcheck.generators.core.case import AnyCase
from relaxcheck.harness.kinds import of
from relaxcheck.harness.outcomes.differential import by_release
from relaxcheck.harness.outcomes.outcome import Outcome


def parts_of(case: AnyCase, outcome: Outcome) -> tuple[AnyCase, ...]:
    """The cases to run by themselves after ``outcome`` of ``case``, on any release; mostly none.

    ``Kind.parts`` says which they are.
    """
    cases: dict[str, AnyCase] = {}
    for on_release in by_release(outcome).values():
        for group in of(case).parts(case, on_release):
            cases |= {part.identifier: part for part in group}
    return tuple(cases.values())


def weight(case: AnyCase, outcome: Outcome) -> int:
    """The number of verdicts that ``outcome`` of ``case`` counts for."""
    return of(case).weight(case, tuple(by_release(outcome).values()))
