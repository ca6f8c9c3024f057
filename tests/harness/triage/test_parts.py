"""The number of cases that a block stands for, and those of it that run alone."""

from msgspec.structs import replace

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.expressions.family import family
from relaxcheck.generators.families import family as named
from relaxcheck.harness.expressions.kind import KIND
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.parts import parts_of, weight
from relaxcheck.harness.workers.jobs import Job

FAMILY = family()
conv = named("conv1d_transpose", ("build",))
BLOCK = replace(FAMILY.build(complete(FAMILY.axes, {}), 7), count=6)
MEMBERS = BLOCK.members
PASSED = Outcome(Verdict.PASS, checked=6)


def test_a_block_that_passes_counts_as_its_expressions() -> None:
    assert weight(BLOCK, PASSED) == KIND.count(BLOCK) == 6
    assert parts_of(BLOCK, PASSED) == ()


def test_each_failure_counts_by_itself() -> None:
    failed = replace(PASSED, parts=MEMBERS[2:4])
    assert parts_of(BLOCK, failed) == MEMBERS[2:4]
    assert weight(BLOCK, failed) == 4


def test_a_block_that_ended_its_worker_counts_as_nothing_and_its_halves_run() -> None:
    died = Outcome(Verdict.PROCESS_DEATH, "analysis")
    assert weight(BLOCK, died) == 0
    assert parts_of(BLOCK, died) == BLOCK.halves
    assert parts_of(replace(BLOCK, first=4, count=1), died) == (MEMBERS[4],)


def test_on_several_releases_all_that_failed_on_any_of_them_runs() -> None:
    older = replace(PASSED, release="0.25", parts=MEMBERS[:1])
    outcome = replace(PASSED, release="0.27", parts=MEMBERS[:2], elsewhere={"0.25": older})
    assert parts_of(BLOCK, outcome) == MEMBERS[:2]
    assert weight(BLOCK, outcome) == 4
    died = replace(outcome, elsewhere={"0.25": Outcome(Verdict.TIMEOUT, release="0.25")})
    assert set(map(KIND.count, parts_of(BLOCK, died))) == {3, 1}
    assert weight(BLOCK, died) == 0


def test_everything_else_counts_once() -> None:
    died = Outcome(Verdict.PROCESS_DEATH)
    assert weight(MEMBERS[0], died) == KIND.count(MEMBERS[0]) == 1
    assert parts_of(MEMBERS[0], died) == ()


def test_an_expression_runs_again_for_each_further_cause() -> None:
    further = replace(MEMBERS[0], about="modular_set")
    assert further.identifier != MEMBERS[0].identifier
    failed = Outcome(Verdict.WRONG_VALUE, parts=(further,))
    assert parts_of(MEMBERS[0], failed) == (further,)
    assert weight(MEMBERS[0], failed) == 1


def test_only_programs_run_together() -> None:
    program = conv.build(complete(conv.axes, {}), 1)
    assert Job(program).joins
    assert not Job(program, alone=True).joins
    assert not Job(program, fresh=True).joins
    assert not Job(BLOCK).joins
    assert not Job(MEMBERS[0]).joins
