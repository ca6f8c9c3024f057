"""Investigations of failures: counts, regressions, and the case that stands for a finding."""

from collections import deque
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from relaxcheck.generators.core.axes import complete, point_of
from relaxcheck.generators.core.case import Invalid
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.harness.journal.journal import DRAWN, TRIAL, Journal
from relaxcheck.harness.outcomes.differential import together
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.finding import Finding, Reduced, finding_of
from relaxcheck.harness.triage.investigation import Investigations
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.protocol import BundledFix
from relaxcheck.reports.issue.heading import remark
from tests.harness.campaign.transposed_convolution import MEMBER


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


def test_a_finding_knows_the_fix_of_one_fault_that_cures_it(tmp_path: Path) -> None:
    case = MEMBER.build(complete(MEMBER.axes, {}), 1)
    failed = Outcome(Verdict.WRONG_VALUE, "compare", None, "off")
    operator = MEMBER.name.join(("nn.", ""))
    fixes = tuple(BundledFix(name, (operator,), (operator,)) for name in ("useless", "cure"))
    findings: dict[str, Finding] = {}
    jobs: deque[Job] = deque()
    with Journal(tmp_path) as journal:
        looking = Investigations((MEMBER,), journal, findings, jobs.append, fixes=fixes)
        journal.start(case, DRAWN)
        looking.look_into(case, failed)
        while jobs:
            job = jobs.popleft()
            assert job.case.fixes == bool(job.fixes)
            right = job.fixes == ("cure",)
            looking.advance(job, Outcome(Verdict.PASS) if right else failed)
        # With one fix on, a case is not what its name in the journal says.
        assert not any(stored.case.fixes for stored in journal.cases(TRIAL))
    (finding,) = findings.values()
    assert (finding.mended_by, finding.confirmed, finding.cured) == ("cure", True, True)


@pytest.mark.parametrize("cured", [True, False])
def test_a_finding_knows_if_all_fixes_together_cure_it(tmp_path: Path, cured: bool) -> None:
    case = MEMBER.build(complete(MEMBER.axes, {}), 1)
    failed = Outcome(Verdict.OPAQUE_CRASH, "LegalizeOps", "nn.x", "TypeError: no")
    findings: dict[str, Finding] = {}
    jobs: deque[Job] = deque()
    with Journal(tmp_path) as journal:
        looking = Investigations((MEMBER,), journal, findings, jobs.append)
        journal.start(case, DRAWN)
        looking.look_into(case, failed)
        while jobs:
            job = jobs.popleft()
            right = cured and job.case.fixes
            looking.advance(job, Outcome(Verdict.PASS) if right else failed)
        assert not any(journal.unended(TRIAL))
    (finding,) = findings.values()
    assert (finding.mended_by, finding.confirmed, finding.cured) == ("", True, cured)
    assert remark(finding, "title", None).startswith(" (cured by the fixes)") == cured


def test_nobody_knows_the_cure_where_the_release_is_gone(tmp_path: Path) -> None:
    case = MEMBER.build(complete(MEMBER.axes, {}), 1)
    failed = Outcome(Verdict.OPAQUE_CRASH, "LegalizeOps", "nn.x", "TypeError: no", release="0.25")
    findings: dict[str, Finding] = {}
    jobs: deque[Job] = deque()
    with Journal(tmp_path) as journal:
        looking = Investigations((MEMBER,), journal, findings, jobs.append)
        journal.start(case, DRAWN)
        looking.look_into(case, failed)
        while jobs:
            job = jobs.popleft()
            gone = msgspec.structs.replace(failed, release="0.26")
            looking.advance(job, gone if job.case.fixes else failed)
    (finding,) = findings.values()
    assert (finding.confirmed, finding.cured) == (True, None)


@pytest.mark.parametrize("size", [0, 3])
def test_a_death_over_nothing_that_is_gone_once_shows_no_cure(tmp_path: Path, size: int) -> None:
    nodes = (Node("y", "sum", ("x",)),)
    case = Case(MEMBER.name, Program((Input("x", (size,), "float32"),), nodes, ("y",)))
    died = Outcome(Verdict.PROCESS_DEATH, "run", "sum", "worker ended with SIGSEGV in run")
    found = finding_of(Reduced(case, died, {}))
    with Journal(tmp_path) as journal:
        looking = Investigations((MEMBER,), journal, {}, lambda job: None)
        asking = looking._cured(found)
        if size:
            assert next(asking).case.fixes
            with pytest.raises(StopIteration) as end:
                asking.send(Outcome(Verdict.PASS))
        else:
            with pytest.raises(StopIteration) as end:
                next(asking)
    assert end.value.value is (True if size else None)


def test_unfinished_failures_are_explained_by_a_finding_of_their_kind_alone(tmp_path: Path) -> None:
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


def test_timeouts_are_investigated_one_at_a_time_and_others_beside_them(tmp_path: Path) -> None:
    case = MEMBER.build(complete(MEMBER.axes, {}), 1)
    late = [Outcome(Verdict.TIMEOUT, stage, "nn.x", "late") for stage in ("codegen", "run")]
    left = Outcome(Verdict.SILENT_BAIL, "LegalizeOps", "nn.x", "left")
    findings: dict[str, Finding] = {}
    jobs: deque[Job] = deque()
    with Journal(tmp_path) as journal:
        looking = Investigations((MEMBER,), journal, findings, jobs.append)
        journal.start(case, DRAWN)
        for outcome in (*late, left):
            looking.look_into(case, outcome)
        assert [(job.tag.verdict, job.tag.stage) for job in jobs] == [  # type: ignore[attr-defined]
            (Verdict.TIMEOUT, "codegen"),
            (Verdict.SILENT_BAIL, "LegalizeOps"),
        ]
        assert (looking.active, looking.unfinished) == (2, 3)
        by_stage = {outcome.stage: outcome for outcome in (*late, left)}
        most = 0
        while jobs:
            job = jobs.popleft()
            waiting = [each for each in jobs if each.tag.verdict is Verdict.TIMEOUT]  # type: ignore[attr-defined]
            most = max(most, len(waiting))
            looking.advance(job, by_stage[job.tag.stage])  # type: ignore[attr-defined]
    assert most <= 1
    assert {finding.stage for finding in findings.values()} == set(by_stage)
    assert looking.unfinished == 0


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
        """The jobs that ran to find the cause of the failure of ``case`` on the later release."""
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
    return point_of(MEMBER, job.case)["batch"] == 1


def test_a_regression_is_reduced_on_both_releases_and_confirmed_on_all(tmp_path: Path) -> None:
    two = OnTwo(tmp_path, of_one)
    ran = two.look_into(wide(3), "0.25")
    assert {job.releases for job in ran if not job.fresh} == {("0.25", "0.26")}
    # The last run has the fixes on, on the release that fails.
    assert {job.releases for job in ran if job.fresh and not job.case.fixes} == {()}
    [regression] = two.findings.values()
    # It fails at 1 as well, but so does the earlier release.
    assert 1 in {point_of(MEMBER, job.case)["batch"] for job in ran}
    assert point_of(MEMBER, regression.case)["batch"] != 1
    assert (regression.regression, regression.confirmed, regression.count) == (
        ("0.25", "0.26"),
        True,
        1,
    )


def test_a_regression_takes_the_place_of_a_failure_of_the_same_cause(tmp_path: Path) -> None:
    two = OnTwo(tmp_path, of_one)
    ran = two.look_into(wide(1), None)
    assert {job.releases for job in ran if not job.fresh} == {("0.26",)}
    [regression] = two.findings.values()
    assert (regression.regression, regression.count) == (None, 1)
    two.look_into(wide(3), "0.25")
    [other] = two.findings.values()
    assert other.fingerprint == regression.fingerprint
    assert (other.regression, other.confirmed, other.count) == (("0.25", "0.26"), True, 2)
    # Nothing takes its place.
    two.look_into(wide(2), None)
    [last] = two.findings.values()
    assert (last.case, last.count) == (other.case, 3)


def test_a_refuted_regression_is_not_confirmed_again(tmp_path: Path) -> None:
    two = OnTwo(tmp_path, lambda job: job.fresh)
    assert any(job.fresh for job in two.look_into(wide(1), "0.25"))
    [regression] = two.findings.values()
    assert (regression.regression, regression.confirmed, regression.count) == (None, True, 1)
    assert not any(job.fresh for job in two.look_into(wide(3), "0.25"))
    [regression] = two.findings.values()
    assert (regression.regression, regression.count) == (None, 2)


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


def test_a_missing_release_explains_nothing(tmp_path: Path) -> None:
    findings: dict[str, Finding] = {}
    jobs: deque[Job] = deque()
    failed = Outcome(Verdict.SILENT_BAIL, "LegalizeOps", "nn.x", "left")

    def newest(job: Job) -> Outcome:
        point = point_of(MEMBER, job.case)
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
    assert sorted(finding.count for finding in findings.values()) == [1, 1]
