"""Failures in a block of expressions that do not appear alone: their summary."""

from itertools import permutations

import pytest
from msgspec.structs import replace

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.case import AnyCase
from relaxcheck.generators.expressions.family import family
from relaxcheck.harness.expressions.kind import KIND
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.batches import BatchOnlyFailures

FAMILY = family()
FAMILIES = {FAMILY.name: FAMILY}
BLOCK = FAMILY.build(complete(FAMILY.axes, {"position": "value"}), 7)
LEFT, RIGHT = BLOCK.halves
FIRST, SECOND, *_ = BLOCK.members
PASSED = Outcome(Verdict.PASS, checked=64)
FAILED = Outcome(Verdict.WRONG_VALUE, "analysis")
DIED = Outcome(Verdict.PROCESS_DEATH, "analysis")
SLOW = Outcome(Verdict.TIMEOUT, "analysis")
WITH_PARTS = replace(PASSED, parts=(FIRST, SECOND))
ANOTHER = replace(FIRST, about="modular_set")
WITH_ANOTHER = replace(FAILED, parts=(ANOTHER,))

Came = tuple[AnyCase, Outcome]


def test_a_part_is_what_is_not_drawn_as_it_is() -> None:
    assert not KIND.is_part(replace(BLOCK, fixes=True))
    assert all(map(KIND.is_part, (LEFT, RIGHT, FIRST)))


@pytest.mark.parametrize(
    ("came", "waiting", "unrepeated"),
    [
        (((BLOCK, PASSED),), 0, 0),
        (((BLOCK, WITH_PARTS),), 2, 0),
        (((BLOCK, WITH_PARTS), (FIRST, FAILED)), 1, 0),
        (((BLOCK, WITH_PARTS), (FIRST, FAILED), (SECOND, FAILED)), 0, 0),
        (((BLOCK, WITH_PARTS), (FIRST, FAILED), (SECOND, PASSED)), 0, 1),
        (((FIRST, WITH_ANOTHER),), 1, 0),
        (((FIRST, WITH_ANOTHER), (ANOTHER, FAILED)), 0, 0),
        (((FIRST, WITH_ANOTHER), (ANOTHER, PASSED)), 0, 1),
        (((BLOCK, DIED), (LEFT, PASSED)), 1, 0),
        (((BLOCK, DIED), (LEFT, PASSED), (RIGHT, PASSED)), 0, 1),
        (((BLOCK, DIED), (LEFT, PASSED), (RIGHT, DIED)), 2, 0),
        # Half of it takes half as long: nothing failed that has to come again.
        (((BLOCK, SLOW), (LEFT, PASSED), (RIGHT, PASSED)), 0, 0),
    ],
)
def test_expressions_that_pass_alone_or_never_ran_are_counted(
    came: tuple[Came, ...], waiting: int, unrepeated: int
) -> None:
    for order in permutations(came):
        company = BatchOnlyFailures()
        for case, outcome in order:
            company.add(case, outcome)
        company.look_up({case.identifier: outcome for case, outcome in came}.get)
        assert (company.waiting, len(company.unrepeated)) == (waiting, unrepeated)


def test_a_release_is_held_against_itself() -> None:
    def on_both(older: Outcome, newer: Outcome) -> Outcome:
        held = {"0.25": replace(older, release="0.25")}
        return replace(newer, release="0.27", elsewhere=held)

    alone = replace(PASSED, parts=(FIRST,))
    for older, count in ((FAILED, 0), (PASSED, 1)):
        company = BatchOnlyFailures()
        company.add(BLOCK, on_both(alone, PASSED))
        company.add(FIRST, on_both(older, FAILED))
        text = [event.text for event in company.unrepeated]
        wanted = f"block {BLOCK.identifier} on 0.25 passes as {FIRST.identifier}"
        assert text == [wanted] * count


def test_a_further_cause_that_passes_is_listed_as_that_of_its_expression() -> None:
    company = BatchOnlyFailures()
    company.add(FIRST, WITH_ANOTHER)
    company.add(ANOTHER, PASSED)
    (event,) = company.unrepeated
    assert event.text == f"expression {FIRST.identifier} passes as {ANOTHER.identifier}"


def test_a_block_of_one_is_held_against_its_expression() -> None:
    company = BatchOnlyFailures()
    company.add(replace(BLOCK, count=1), DIED)
    company.add(FIRST, PASSED)
    assert len(company.unrepeated) == 1
