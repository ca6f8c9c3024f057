"""Expected failures of drawn programs: the core of a failure tells its cause."""

from collections.abc import Iterator

from relaxcheck.generators.core.program import Case
from relaxcheck.generators.graphs.family import family
from relaxcheck.harness.known.expected_failures import KnownFinding
from relaxcheck.harness.known.known import Expectations
from relaxcheck.harness.known.tally import ExpectationTally
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.workers.jobs import Job
from tests.harness.campaign.instant_pool import Instant
from tests.harness.triage.dynamic_programs import Fails, answer, chain, has, wrong

BY_NAME = {"dynamic": family(("build",))}


class Vetting(Instant):
    """A pool that vets each case, and fails as a function says."""

    def __init__(self, fails: Fails):
        super().__init__(lambda case: answer(case, fails))

    def drain(self) -> Iterator[tuple[Job, Outcome]]:
        while self.jobs:
            yield from self.wait(0)


def test_a_failure_is_expected_in_any_program_with_the_core_that_is_known() -> None:
    def fails(case: Case) -> Outcome | None:
        half = case.program.inputs[0].dtype == "float16"
        return wrong() if has(case, "exp") or (half and has(case, "abs")) else None

    pool = Vetting(fails)
    known = chain("sqrt", "exp", dtype="float16")
    cause = Expectations(pool, BY_NAME, (), ExpectationTally()).cause(known, wrong())  # type: ignore[arg-type]
    assert (cause.operator, cause.blame) == ("exp", {})
    entry = KnownFinding(
        name="exp",
        operator=cause.operator,
        when={},
        releases=("0.27",),
        verdict=cause.verdict,
        issue=None,
        expires="2127-01-01",
        stage=cause.stage,
        case=cause.case,
    )
    expected = Expectations(pool, BY_NAME, (entry,), ExpectationTally())  # type: ignore[arg-type]
    alike = chain("abs", "exp", "negative", shape=(2, "m"))
    assert expected.name(alike, wrong()) == "exp"
    other = chain("abs", "negative", dtype="float16")
    assert expected.name(other, wrong()) is None
