"""The campaign's bookkeeping, on workers that answer at once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from relaxcheck.generators.core.axes import complete, point_of
from relaxcheck.generators.core.case import Valid
from relaxcheck.generators.core.program import Case
from relaxcheck.harness.campaign.campaign import Campaign, Plan
from relaxcheck.harness.events import EventType, summary_of
from relaxcheck.harness.journal.journal import DRAWN, Journal, JournalError, Mode
from relaxcheck.harness.known.expected_failures import ExpectedFailure
from relaxcheck.harness.known.status import FindingStatus
from relaxcheck.harness.outcomes.differential import joined, together
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.finding import Reduced, finding_of
from tests.harness.campaign.instant_pool import Instant
from tests.harness.campaign.transposed_convolution import MEMBER


def execute(tmp_path: Path, answer: Callable[[Case], Outcome], cases: int) -> tuple[Campaign, Any]:
    plan = Plan((MEMBER,), seed=1, seconds=60, fixes=(False,), most_cases=cases)
    with Journal(tmp_path / "out") as journal:
        campaign = Campaign(plan, Instant(answer), journal, ())  # type: ignore[arg-type]
        state = campaign.run(lambda shown: None)
        assert journal.unfinished() == 0
        assert sum(journal.counts("drawn").values()) == state.cases == cases
        assert journal.coverage() == state.cells
    return campaign, state


def test_a_campaign_that_stops_anywhere_goes_on_to_the_same_end(tmp_path: Path) -> None:
    _, whole = execute(tmp_path, bails, 60)
    plan = Plan((MEMBER,), seed=1, seconds=60, fixes=(False,), most_cases=60)
    stops = 0

    def stopping(case: Case) -> Outcome:
        nonlocal countdown
        countdown -= 1
        if not countdown:
            raise Stopped
        return bails(case)

    for countdown in (1, 2, 9, 14, 33, 5, -1):  # noqa: B007
        mode = Mode.RESUME if stops else Mode.NEW
        with Journal(tmp_path / "stopped", mode) as journal:
            campaign = Campaign(plan, Instant(stopping), journal, ())  # type: ignore[arg-type]
            try:
                state = campaign.run(lambda shown: None)
            except Stopped:
                stops += 1
    assert stops == 6
    assert state.cases == whole.cases == 60
    assert 0 < state.taken_up < 60
    for counts in ("verdicts", "special", "oracle_counts", "cells"):
        assert getattr(state, counts) == getattr(whole, counts)
    assert {
        finding.fingerprint: (finding.count, finding.confirmed)
        for finding in state.findings.values()
    } == {
        finding.fingerprint: (finding.count, finding.confirmed)
        for finding in whole.findings.values()
    }


def test_a_campaign_records_the_time_and_the_cases_that_it_has_left(tmp_path: Path) -> None:
    execute(tmp_path, lambda case: Outcome(Verdict.PASS), 3)
    with Journal(tmp_path / "out", Mode.READ) as journal:
        assert journal.left is not None
        seconds, cases = journal.left
        assert journal.description == {}
    assert (0 < seconds < 60, cases) == (True, 3)


@pytest.mark.parametrize(("seconds", "ended"), [(60.0, 8), (0.0, 0)])
def test_a_number_of_cases_ends_when_they_have_though_they_take_long(
    tmp_path: Path, seconds: float, ended: int
) -> None:
    """All that wait are answered without any grace; where the time is up, none waits."""
    plan = Plan((MEMBER,), 1, seconds, (False,), most_cases=8, grace=0.0)
    with Journal(tmp_path / "out") as journal:
        pool = Instant(lambda case: Outcome(Verdict.PASS))
        pool.appetite = 8
        Campaign(plan, pool, journal, ()).run(lambda shown: None)  # type: ignore[arg-type]
        assert sum(journal.counts(DRAWN).values()) == ended


def test_a_campaign_of_other_cases_is_not_taken_up(tmp_path: Path) -> None:
    with Journal(tmp_path / "out") as journal:
        journal.start(MEMBER.build(complete(MEMBER.axes, {}), 12345), DRAWN)
    plan = Plan((MEMBER,), seed=1, seconds=60, fixes=(False,), most_cases=60)
    with Journal(tmp_path / "out", Mode.RESUME) as journal:
        campaign = Campaign(plan, Instant(bails), journal, ())  # type: ignore[arg-type]
        with pytest.raises(JournalError, match="another version of relaxcheck"):
            campaign.run(lambda shown: None)


class Stopped(Exception):
    """As if the engine had died: what ends is no outcome."""


def bails(case: Case) -> Outcome:
    if not isinstance(case.expect, Valid):
        return Outcome(Verdict.REJECTED)
    if point_of(MEMBER, case)["data_layout"] != "NCW":
        return Outcome(Verdict.SILENT_BAIL, "LegalizeOps", "nn.x", "left")
    return Outcome(Verdict.PASS)


def test_the_engines_share_of_the_cpu_time_is_that_beside_all_that_ran(tmp_path: Path) -> None:
    ran = 0

    def answer(case: Case) -> Outcome:
        nonlocal ran
        ran += 1
        return msgspec.structs.replace(bails(case), seconds={"tvm": 2.0, "compare": 0.5})

    _, state = execute(tmp_path, answer, 20)
    assert state.trials > 0
    assert state.cases_cpu == 2.5 * ran == 2.5 * (state.cases + state.trials)
    assert 0 < state.engine_cpu < 30
    whole = state.cases_cpu + state.engine_cpu
    assert state.engine_share == pytest.approx(state.engine_cpu / whole)


def test_one_cause_is_one_finding_that_counts_all_its_failures(tmp_path: Path) -> None:
    _, state = execute(tmp_path, bails, 120)
    (finding,) = state.findings.values()
    assert list(finding.blame) == ["data_layout"]
    bailed = (state.verdicts[Verdict.SILENT_BAIL], state.special[Verdict.SILENT_BAIL])
    assert all(bailed)
    assert finding.count == sum(bailed) > 10
    assert finding.confirmed
    # Its case is on the grid, with a window of the usual size and nothing else that is too big.
    point = point_of(MEMBER, finding.case)
    assert {point[name] for name in ("batch", "size.w", "in_channels_per_group")} == {1}
    assert point["kernel.w"] == 3
    assert finding.outcome.verdict is Verdict.SILENT_BAIL


def test_a_failure_that_does_not_come_again_is_unstable(tmp_path: Path) -> None:
    seen: set[str] = set()

    def once(case: Case) -> Outcome:
        first = case.identifier not in seen
        seen.add(case.identifier)
        if isinstance(case.expect, Valid) and first and case.opt_level == 0:
            return Outcome(Verdict.PROCESS_DEATH, "run", None, "worker ended with SIGSEGV in run")
        return Outcome(Verdict.PASS)

    _, state = execute(tmp_path, once, 6)
    assert state.findings
    assert not any(finding.confirmed for finding in state.findings.values())


def test_failures_of_an_optimisation_level_are_confirmed_at_that_level(
    tmp_path: Path,
) -> None:
    def optimised(case: Case) -> Outcome:
        if isinstance(case.expect, Valid) and case.opt_level == 3:
            return Outcome(Verdict.WRONG_VALUE, "compare", None, "off")
        return Outcome(Verdict.PASS)

    _, state = execute(tmp_path, optimised, 80)
    (finding,) = state.findings.values()
    assert finding.blame == {"opt_level": "3"}
    assert finding.confirmed


def wrong_in_part(case: Case) -> Outcome:
    """Groups give another dtype, on which nothing can be built."""
    point = point_of(MEMBER, case) if isinstance(case.expect, Valid) else {}
    if point.get("groups", 1) == 1:
        return Outcome(Verdict.PASS if point else Verdict.REJECTED)
    if point["result"] == "relu":
        return Outcome(Verdict.OPAQUE_CRASH, "FuseOps", None, "TypeError: another dtype")
    return Outcome(Verdict.WRONG_DTYPE, "compare")


def test_expressions_built_on_a_failing_part_count_as_that_part(tmp_path: Path) -> None:
    _, state = execute(tmp_path, wrong_in_part, 60)
    (finding,) = state.findings.values()
    assert (finding.verdict, finding.blame) == (Verdict.WRONG_DTYPE, {"groups": "2"})
    crashed, wrong = (
        state.verdicts[verdict] + state.special[verdict]
        for verdict in (Verdict.OPAQUE_CRASH, finding.verdict)
    )
    assert crashed > 5 < wrong
    assert finding.count == crashed + wrong


def test_a_part_that_is_declared_leaves_what_is_built_on_it_to_itself(tmp_path: Path) -> None:
    gap = ExpectedFailure(
        name="declared",
        operator="nn.conv1d_transpose",
        when={"result": ("bare",)},
        releases=("0.27",),
        verdict=Verdict.WRONG_DTYPE,
        issue=None,
        expires="2100-01-01",
    )
    plan = Plan((MEMBER,), seed=1, seconds=60, fixes=(False,), most_cases=60)
    with Journal(tmp_path) as journal:
        campaign = Campaign(plan, Instant(wrong_in_part), journal, (gap,))  # type: ignore[arg-type]
        state = campaign.run(lambda shown: None)
    assert state.expectations.expected["declared"] > 5
    (finding,) = state.new
    assert (finding.verdict, finding.outcome.expected_by) == (Verdict.OPAQUE_CRASH, "")


def test_a_case_that_had_to_run_alone_is_reported(tmp_path: Path) -> None:
    def alone(case: Case) -> Outcome:
        return Outcome(Verdict.PASS, retried="Traceback\nLinkError: ld: no room")

    execute(tmp_path, alone, 3)
    with Journal(tmp_path / "out", Mode.READ) as journal:
        events = journal.events()
    assert {event.type for event in events} == {EventType.RETRIED}
    assert all(event.text.endswith("LinkError: ld: no room") for event in events)
    assert summary_of(events, 0) == [
        "Workers: 3 cases failed to run together with others and ran alone."
    ]


@pytest.mark.parametrize(
    ("verdict", "status"),
    [
        (Verdict.PASS, FindingStatus.GONE),
        (Verdict.NO_ORACLE, FindingStatus.UNDECIDED),
        (Verdict.HARNESS_ERROR, FindingStatus.UNDECIDED),
        (Verdict.TIMEOUT, FindingStatus.OTHERWISE),
    ],
)
def test_only_what_passes_is_the_end_of_a_known_finding(
    tmp_path: Path, verdict: Verdict, status: FindingStatus
) -> None:
    case = MEMBER.build(complete(MEMBER.axes, {"data_layout": "NWC"}), 7)
    known = finding_of(Reduced(case, bails(case), {"data_layout": "NWC"}))
    plan = Plan((MEMBER,), seed=1, seconds=60, fixes=(False,), most_cases=1, known=(known,))
    pool = Instant(lambda _: Outcome(verdict, "run"))
    with Journal(tmp_path) as journal:
        state = Campaign(plan, pool, journal, ()).run(lambda shown: None)  # type: ignore[arg-type]
        cured = [event.text for event in journal.events() if event.type is EventType.CURED]
    assert state.known == {known.fingerprint: status}
    # A site of many nights reads it there.
    assert cured == ([known.fingerprint] if status is FindingStatus.GONE else [])


def test_a_regression_over_a_declared_gap_names_the_releases_around_it(
    tmp_path: Path,
) -> None:
    failed = Outcome(Verdict.SILENT_BAIL, "LegalizeOps", "nn.x", "left")
    outcomes = {"0.25": Outcome(Verdict.PASS), "0.26": failed, "0.27": failed}
    gap = ExpectedFailure(
        name="declared",
        operator="nn.conv1d_transpose",
        when={},
        releases=("0.26",),
        verdict=Verdict.SILENT_BAIL,
        issue=None,
        expires="2100-01-01",
    )
    pool = Instant(lambda _: together(outcomes))
    versions = joined({name: {"apache-tvm": f"{name}.0"} for name in outcomes})
    pool.environment = versions  # type: ignore[misc]
    plan = Plan((MEMBER,), seed=1, seconds=60, fixes=(False,), most_cases=1)
    with Journal(tmp_path) as journal:
        state = Campaign(plan, pool, journal, (gap,)).run(lambda shown: None)  # type: ignore[arg-type]
    (finding,) = state.findings.values()
    assert finding.confirmed
    assert finding.releases == {name: outcome.verdict for name, outcome in outcomes.items()}
    assert finding.regression == ("0.25", "0.27")


def test_a_new_failure_on_one_release_is_looked_into_beside_a_known_one_on_another(
    tmp_path: Path,
) -> None:
    known_there = Outcome(Verdict.SILENT_BAIL, "LegalizeOps", "nn.x", "left")
    new_there = Outcome(Verdict.WRONG_SHAPE, "compare", "nn.x", "shape (1,), not (2,)")
    # On the newest, which is the first to be looked at, it is what is known.
    outcomes = {"0.25": new_there, "0.26": Outcome(Verdict.PASS), "0.27": known_there}
    case = MEMBER.build(complete(MEMBER.axes, {}), 7)
    known = finding_of(Reduced(case, known_there, {}))
    pool = Instant(lambda _: together(outcomes))
    pool.environment = joined(  # type: ignore[misc]
        {name: {"apache-tvm": f"{name}.0"} for name in outcomes}
    )
    plan = Plan((MEMBER,), seed=1, seconds=60, fixes=(False,), most_cases=0, known=(known,))
    with Journal(tmp_path) as journal:
        state = Campaign(plan, pool, journal, ()).run(lambda shown: None)  # type: ignore[arg-type]
    assert state.known == {known.fingerprint: FindingStatus.STILL}
    assert {failure.verdict for failure in state.new} == {Verdict.WRONG_SHAPE}
    assert state.statuses == {
        known.fingerprint: {"0.25": FindingStatus.OTHERWISE, "0.27": FindingStatus.STILL},
    }
