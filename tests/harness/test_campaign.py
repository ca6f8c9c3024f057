"""The campaign's bookkeeping, on workers that answer at once."""

from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from generators.axes import complete
from generators.families import family
from generators.program import Case, Invalid, Valid
from harness.campaign import Campaign, Plan
from harness.differential import joined, together
from harness.events import Event, What, told
from harness.fates import Fate
from harness.finding import Finding, Reduced, finding_of
from harness.gaps import Gap
from harness.investigation import Investigations
from harness.jobs import Job
from harness.journal import DRAWN, Journal, JournalError, Mode
from harness.outcome import Outcome, Verdict
from harness.pipelines import PIPELINES

MEMBER = family("conv1d_transpose", tuple(PIPELINES))


class Instant:
    """As a pool of one worker that answers by a function; ``late`` holds all first answers back."""

    appetite = 2
    environment = {"apache-tvm": "0.27"}  # noqa: RUF012
    busy = ("idle",)

    def __init__(self, answer: Callable[[Case], Outcome], late: int = 0):
        self.answer, self.late = answer, late
        self.jobs: deque[Job] = deque()

    @property
    def running(self) -> int:
        return 0

    @property
    def waiting(self) -> int:
        return len(self.jobs)

    def submit(self, *jobs: Job, first: bool = False) -> None:
        (self.jobs.extendleft if first else self.jobs.extend)(jobs)

    def wait(self, timeout: float) -> Iterator[tuple[Job, Outcome]]:
        if self.jobs:
            job = self.jobs.popleft()
            yield job, self.answer(job.case)

    def take_events(self) -> list[Event]:
        return []


def conduct(tmp_path: Path, answer: Callable[[Case], Outcome], cases: int) -> tuple[Campaign, Any]:
    plan = Plan((MEMBER,), seed=1, seconds=60, fixes=(False,), most_cases=cases)
    with Journal(tmp_path / "out") as journal:
        campaign = Campaign(plan, Instant(answer), journal, ())  # type: ignore[arg-type]
        state = campaign.run(lambda shown: None)
        assert journal.unfinished() == 0
        assert sum(journal.counts("drawn").values()) == state.cases == cases
        assert journal.coverage() == state.cells
    return campaign, state


def test_a_campaign_that_stops_anywhere_goes_on_to_the_same_end(tmp_path: Path) -> None:
    _, whole = conduct(tmp_path, bails, 60)
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
    assert {one.fingerprint: (one.count, one.confirmed) for one in state.findings.values()} == {
        one.fingerprint: (one.count, one.confirmed) for one in whole.findings.values()
    }


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
    if MEMBER.point(case)["data_layout"] != "NCW":
        return Outcome(Verdict.SILENT_BAIL, "LegalizeOps", "nn.x", "left")
    return Outcome(Verdict.PASS)


def test_the_engines_share_of_the_cpu_time_is_that_beside_all_that_ran(tmp_path: Path) -> None:
    ran = 0

    def answer(case: Case) -> Outcome:
        nonlocal ran
        ran += 1
        return msgspec.structs.replace(bails(case), seconds={"tvm": 2.0, "compare": 0.5})

    _, state = conduct(tmp_path, answer, 20)
    assert state.trials > 0
    assert state.cases_cpu == 2.5 * ran == 2.5 * (state.cases + state.trials)
    assert 0 < state.engine_cpu < 30
    whole = state.cases_cpu + state.engine_cpu
    assert state.engine_share == pytest.approx(state.engine_cpu / whole)


def test_one_cause_is_one_finding_that_counts_all_its_failures(tmp_path: Path) -> None:
    _, state = conduct(tmp_path, bails, 120)
    (finding,) = state.findings.values()
    assert list(finding.blame) == ["data_layout"]
    bailed = (state.verdicts[Verdict.SILENT_BAIL], state.special[Verdict.SILENT_BAIL])
    assert all(bailed)
    assert finding.count == sum(bailed) > 10
    assert finding.confirmed
    # Its case is on the grid, with nothing left that is bigger than it has to be.
    point = MEMBER.point(finding.case)
    assert {point[name] for name in ("batch", "size.w", "kernel.w", "in_channels_per_group")} == {1}
    assert finding.outcome.verdict is Verdict.SILENT_BAIL


def test_a_failure_that_does_not_come_again_is_unstable(tmp_path: Path) -> None:
    seen: set[str] = set()

    def once(case: Case) -> Outcome:
        first = case.identifier not in seen
        seen.add(case.identifier)
        if isinstance(case.expect, Valid) and first and case.opt_level == 0:
            return Outcome(Verdict.PROCESS_DEATH, "run", None, "worker ended with SIGSEGV in run")
        return Outcome(Verdict.PASS)

    _, state = conduct(tmp_path, once, 6)
    assert state.findings
    assert not any(finding.confirmed for finding in state.findings.values())


def test_what_the_optimisation_level_is_to_blame_for_is_confirmed_at_that_level(
    tmp_path: Path,
) -> None:
    def optimised(case: Case) -> Outcome:
        if isinstance(case.expect, Valid) and case.opt_level == 3:
            return Outcome(Verdict.WRONG_VALUE, "compare", None, "off")
        return Outcome(Verdict.PASS)

    _, state = conduct(tmp_path, optimised, 80)
    (finding,) = state.findings.values()
    assert finding.blame == {"opt_level": "3"}
    assert finding.confirmed


def test_thousands_of_failures_with_one_cause_are_no_deep_recursion(tmp_path: Path) -> None:
    case = MEMBER.build(complete(MEMBER.axes, {}), 1)
    failed = Outcome(Verdict.SILENT_BAIL, "LegalizeOps", "nn.x", "left")
    findings: dict[str, Finding] = {}
    jobs: deque[Job] = deque()
    with Journal(tmp_path) as journal:
        investigations = Investigations((MEMBER,), journal, findings, jobs.append)
        journal.start(case, DRAWN)
        for _ in range(5000):
            investigations.look_into(case, failed)
        while jobs:
            investigations.advance(jobs.popleft(), failed)
    (finding,) = findings.values()
    assert (finding.count, finding.blame) == (5000, {})
    assert investigations.unfinished == 0


def test_failures_that_come_down_to_one_side_by_side_are_all_counted(tmp_path: Path) -> None:
    failed = Outcome(Verdict.WRONG_VALUE, "compare", None, "off")
    findings: dict[str, Finding] = {}
    jobs: deque[Job] = deque()
    with Journal(tmp_path) as journal:
        investigations = Investigations((MEMBER,), journal, findings, jobs.append)
        # Of other operators, so of another kind, until it is reduced.
        for chosen in ({"result": "relu"}, {}):
            case = MEMBER.build(complete(MEMBER.axes, chosen), 1)
            journal.start(case, DRAWN)
            investigations.look_into(case, failed)
        while jobs:
            investigations.advance(jobs.popleft(), failed)
    (finding,) = findings.values()
    assert finding.count == 2


def test_what_is_unfinished_is_explained_by_a_finding_of_its_kind_alone(tmp_path: Path) -> None:
    case = MEMBER.build(complete(MEMBER.axes, {}), 1)
    left = Outcome(Verdict.SILENT_BAIL, "LegalizeOps", "nn.x", "left")
    crashed = Outcome(Verdict.OPAQUE_CRASH, "LegalizeOps", "nn.x", "TypeError: no")
    split = Outcome(Verdict.ORACLE_SPLIT, "compare", None, "pytorch: off")
    known = finding_of(Reduced(case, left, {"groups": "2"}))
    with Journal(tmp_path) as journal:
        journal.start(case, DRAWN)
        looking = Investigations((MEMBER,), journal, {known.fingerprint: known}, lambda job: None)
        for outcome, unexplained in ((left, 0), (split, 0), (crashed, 1), (crashed, 1)):
            looking.look_into(case, outcome)
            assert looking.unexplained == unexplained
    assert looking.unfinished == 4


class OnTwo:
    """Investigations on two releases: both fail, and the earlier one where ``fails`` says so."""

    def __init__(self, folder: Path, fails: Callable[[Job], bool]):
        self.findings: dict[str, Finding] = {}
        self.ran: list[Job] = []
        self.fails = fails
        self._jobs: deque[Job] = deque()
        self._journal = Journal(folder)
        self._looking = Investigations((MEMBER,), self._journal, self.findings, self._jobs.append)

    def look_into(self, case: Case, good: str | None) -> list[Job]:
        """What ran to find the cause of the failure of ``case`` on the later release."""
        self._journal.start(case, DRAWN)
        self.ran = []
        failed = Outcome(Verdict.SILENT_BAIL, "LegalizeOps", "nn.x", "left")
        self._looking.look_into(case, msgspec.structs.replace(failed, release="0.26"), good)
        while self._jobs:
            job = self._jobs.popleft()
            self.ran.append(job)
            earlier = failed if self.fails(job) else Outcome(Verdict.PASS)
            outcomes = {"0.25": earlier, "0.26": failed}
            asked = {name: outcomes[name] for name in job.releases or outcomes}
            self._looking.advance(job, together(asked))
        return self.ran


def wide(size: int) -> Case:
    return MEMBER.build(complete(MEMBER.axes, {"batch": size}), 1)


def of_one(job: Job) -> bool:
    return MEMBER.point(job.case)["batch"] == 1


def test_a_regression_is_reduced_on_both_releases_and_confirmed_on_all(tmp_path: Path) -> None:
    two = OnTwo(tmp_path, of_one)
    ran = two.look_into(wide(3), "0.25")
    assert {job.releases for job in ran if not job.fresh} == {("0.25", "0.26")}
    assert {job.releases for job in ran if job.fresh} == {()}
    [one] = two.findings.values()
    # It fails at 1 as well, but so does the earlier release.
    assert 1 in {MEMBER.point(job.case)["batch"] for job in ran}
    assert MEMBER.point(one.case)["batch"] != 1
    assert (one.regression, one.confirmed, one.count) == (("0.25", "0.26"), True, 1)


def test_a_regression_takes_the_place_of_a_failure_of_the_same_cause(tmp_path: Path) -> None:
    two = OnTwo(tmp_path, of_one)
    ran = two.look_into(wide(1), None)
    assert {job.releases for job in ran if not job.fresh} == {("0.26",)}
    [one] = two.findings.values()
    assert (one.regression, one.count) == (None, 1)
    two.look_into(wide(3), "0.25")
    [other] = two.findings.values()
    assert other.fingerprint == one.fingerprint
    assert (other.regression, other.confirmed, other.count) == (("0.25", "0.26"), True, 2)
    # Nothing takes its place.
    two.look_into(wide(2), None)
    [last] = two.findings.values()
    assert (last.case, last.count) == (other.case, 3)


def test_what_turns_out_to_be_no_regression_is_not_confirmed_over_and_over(tmp_path: Path) -> None:
    two = OnTwo(tmp_path, lambda job: job.fresh)
    assert any(job.fresh for job in two.look_into(wide(1), "0.25"))
    [one] = two.findings.values()
    assert (one.regression, one.confirmed, one.count) == (None, True, 1)
    assert not any(job.fresh for job in two.look_into(wide(3), "0.25"))
    [one] = two.findings.values()
    assert (one.regression, one.count) == (None, 2)


def wrong_in_part(case: Case) -> Outcome:
    """Groups give another dtype, on which nothing can be built."""
    point = MEMBER.point(case) if isinstance(case.expect, Valid) else {}
    if point.get("groups", 1) == 1:
        return Outcome(Verdict.PASS if point else Verdict.REJECTED)
    if point["result"] == "relu":
        return Outcome(Verdict.OPAQUE_CRASH, "FuseOps", None, "TypeError: another dtype")
    return Outcome(Verdict.WRONG_DTYPE, "compare")


def test_what_is_built_on_a_part_that_fails_counts_as_that_part(tmp_path: Path) -> None:
    _, state = conduct(tmp_path, wrong_in_part, 60)
    (finding,) = state.findings.values()
    assert (finding.verdict, finding.blame) == (Verdict.WRONG_DTYPE, {"groups": "2"})
    crashed, wrong = (
        state.verdicts[one] + state.special[one] for one in (Verdict.OPAQUE_CRASH, finding.verdict)
    )
    assert crashed > 5 < wrong
    assert finding.count == crashed + wrong


def test_a_part_that_is_declared_leaves_what_is_built_on_it_to_itself(tmp_path: Path) -> None:
    gap = Gap(
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
    assert state.gaps.expected["declared"] > 5
    (finding,) = state.new
    assert (finding.verdict, finding.outcome.gap) == (Verdict.OPAQUE_CRASH, "")


def test_the_case_that_says_most_of_a_fault_is_kept(tmp_path: Path) -> None:
    """Of what nothing checks: that it is accepted, whatever was met before and after."""
    verdicts = [Verdict.OPAQUE_CRASH, Verdict.PROCESS_DEATH, Verdict.ACCEPTS_INVALID]
    for order in (verdicts, verdicts[::-1]):
        findings: dict[str, Finding] = {}
        jobs: deque[Job] = deque()
        with Journal(tmp_path / order[0]) as journal:
            looking = Investigations((MEMBER,), journal, findings, jobs.append)
            for number, verdict in enumerate(order):
                case = msgspec.structs.replace(
                    MEMBER.build(complete(MEMBER.axes, {}), number),
                    expect=Invalid("nn.conv1d_transpose", ("dilation",)),
                )
                journal.start(case, DRAWN)
                failed = Outcome(verdict, "run", "nn.conv1d_transpose", f"it {verdict}")
                looking.look_into(case, failed)
                while jobs:
                    looking.advance(jobs.popleft(), failed)
        (finding,) = findings.values()
        assert (finding.verdict, finding.count) == (Verdict.ACCEPTS_INVALID, 3)


def test_a_case_that_had_to_run_alone_is_told(tmp_path: Path) -> None:
    def alone(case: Case) -> Outcome:
        return Outcome(Verdict.PASS, retried="Traceback\nLinkError: ld: no room")

    conduct(tmp_path, alone, 3)
    with Journal(tmp_path / "out", Mode.READ) as journal:
        events = journal.events()
    assert {event.what for event in events} == {What.RETRIED}
    assert all(event.text.endswith("LinkError: ld: no room") for event in events)
    assert told(events, 0) == ["Workers: 3 cases failed to run together with others and ran alone."]


@pytest.mark.parametrize(
    ("verdict", "fate"),
    [
        (Verdict.PASS, Fate.GONE),
        (Verdict.NO_ORACLE, Fate.UNDECIDED),
        (Verdict.HARNESS_ERROR, Fate.UNDECIDED),
        (Verdict.TIMEOUT, Fate.OTHERWISE),
    ],
)
def test_only_what_passes_is_the_end_of_a_known_finding(
    tmp_path: Path, verdict: Verdict, fate: Fate
) -> None:
    case = MEMBER.build(complete(MEMBER.axes, {"data_layout": "NWC"}), 7)
    known = finding_of(Reduced(case, bails(case), {"data_layout": "NWC"}))
    plan = Plan((MEMBER,), seed=1, seconds=60, fixes=(False,), most_cases=1, known=(known,))
    pool = Instant(lambda _: Outcome(verdict, "run"))
    with Journal(tmp_path) as journal:
        state = Campaign(plan, pool, journal, ()).run(lambda shown: None)  # type: ignore[arg-type]
    assert state.known == {known.fingerprint: fate}


def test_a_regression_over_a_declared_gap_is_told_between_the_releases_around_it(
    tmp_path: Path,
) -> None:
    failed = Outcome(Verdict.SILENT_BAIL, "LegalizeOps", "nn.x", "left")
    outcomes = {"0.25": Outcome(Verdict.PASS), "0.26": failed, "0.27": failed}
    gap = Gap(
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
    assert finding.releases == {name: one.verdict for name, one in outcomes.items()}
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
    assert state.known == {known.fingerprint: Fate.STILL}
    assert {one.verdict for one in state.new} == {Verdict.WRONG_SHAPE}
    assert state.fates == {
        known.fingerprint: {"0.25": Fate.OTHERWISE, "0.27": Fate.STILL},
    }


def test_what_a_release_that_is_gone_cannot_tell_explains_nothing(tmp_path: Path) -> None:
    findings: dict[str, Finding] = {}
    jobs: deque[Job] = deque()
    failed = Outcome(Verdict.SILENT_BAIL, "LegalizeOps", "nn.x", "left")

    def newest(job: Job) -> Outcome:
        point = MEMBER.point(job.case)
        return failed if point["data_layout"] != "NCW" or point["groups"] != 1 else passes

    passes = Outcome(Verdict.PASS)
    earlier = {"0.25": passes}
    with Journal(tmp_path) as journal:
        looking = Investigations((MEMBER,), journal, findings, jobs.append)
        for chosen in ({"data_layout": "NWC"}, {"data_layout": "NWC", "groups": 2}):
            case = MEMBER.build(complete(MEMBER.axes, chosen), 1)
            journal.start(case, DRAWN)
            looking.look_into(case, together({"0.25": passes, "0.26": failed}), "0.25")
            while jobs:
                job = jobs.popleft()
                looking.advance(job, together({**earlier, "0.26": newest(job)}))
            # Its workers do not start again: whether the second is the first cannot be told.
            earlier = {}
    assert sorted(one.count for one in findings.values()) == [1, 1]
