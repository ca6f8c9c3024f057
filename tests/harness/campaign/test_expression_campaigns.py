"""A campaign of expressions: blocks count as what is in them, what fails is a case of its own."""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from relaxcheck.cli.actions.campaign import exit_code
from relaxcheck.cli.reporters import not_investigated
from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.case import AnyCase
from relaxcheck.generators.expressions.cases import ANALYZED, ExpressionBatch, ExpressionCase
from relaxcheck.generators.expressions.family import family
from relaxcheck.generators.expressions.language import nodes
from relaxcheck.generators.expressions.subject import Problem
from relaxcheck.harness.campaign.campaign import Campaign, Plan
from relaxcheck.harness.campaign.merging import recount
from relaxcheck.harness.campaign.state import State
from relaxcheck.harness.events import Event, EventType
from relaxcheck.harness.expressions import execute as executing
from relaxcheck.harness.expressions.fault import Asked, Fault
from relaxcheck.harness.expressions.kind import KIND
from relaxcheck.harness.journal.journal import DRAWN, FILE_NAME, Journal, Mode
from relaxcheck.harness.journal.packing import unpack
from relaxcheck.harness.kinds import decode_record
from relaxcheck.harness.known.expected_failures import KnownFinding
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.reports.kinds import rendering
from relaxcheck.reports.page.records import read_campaign
from tests.harness.campaign.instant_pool import Instant

FAMILY = family()
CASES = 1500


class Stopped(Exception):
    pass


def has(subject: Problem, operator: str) -> bool:
    return any(node.operator == operator for node in nodes(subject.expression))


def planted(subject: Problem, *, fully: bool = False) -> tuple[Fault, ...]:
    return (Fault(Asked("simplify"), "a remainder", "", {}),) if has(subject, "truncmod") else ()


def kills(member: ExpressionCase) -> bool:
    return has(member.subject, ">>") and has(member.subject, "max")


def answer(case: AnyCase) -> Outcome:
    """As a worker does, which dies of some expressions; what is compiled is all right."""
    assert isinstance(case, ExpressionBatch | ExpressionCase)
    if case.position != ANALYZED:
        return Outcome(Verdict.PASS, checked=KIND.count(case))
    members = case.members if isinstance(case, ExpressionBatch) else (case,)
    if any(map(kills, members)):
        return Outcome(Verdict.PROCESS_DEATH, "analysis", None, "worker ended with SIGABRT")
    return executing.execute_expressions(case, lambda stage: None)


@pytest.fixture(autouse=True)
def _planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executing, "check", planted)


def run(
    folder: Path, answers: Callable[[AnyCase], Outcome], mode: Mode = Mode.NEW
) -> tuple[State, dict[str, Verdict]]:
    plan = Plan((FAMILY,), seed=8, seconds=600, fixes=(False,), most_cases=CASES)
    with Journal(folder, mode) as journal:
        pool = Instant(answers)  # type: ignore[arg-type]
        state = Campaign(plan, pool, journal, ()).run(lambda shown: None)  # type: ignore[arg-type]
        assert journal.unfinished() == 0
        rows = {
            case.case.identifier: case.outcome.verdict
            for case in journal.cases(DRAWN)
            if isinstance(case.case, ExpressionCase) and case.outcome is not None
        }
    return state, rows


def whole(folder: Path) -> Iterator[ExpressionBatch]:
    """The blocks that were drawn, not those that are parts of others."""
    with Journal(folder, Mode.READ) as journal:
        for case in journal.cases(DRAWN):
            if (
                isinstance(case.case, ExpressionBatch)
                and FAMILY.build(case.case.at, case.case.seed) == case.case
            ):
                yield case.case


def passing(folder: Path) -> Iterator[ExpressionBatch]:
    """The blocks that passed, but for those of their expressions that failed."""
    with Journal(folder, Mode.READ) as journal:
        for case in journal.cases(DRAWN):
            ended = case.outcome is not None and case.outcome.verdict is Verdict.PASS
            if isinstance(case.case, ExpressionBatch) and ended:
                yield case.case


def summaries(findings: dict[str, Finding]) -> dict[str, tuple[int, bool | None]]:
    return {key: (finding.count, finding.confirmed) for key, finding in findings.items()}


def test_each_expression_counts_once_and_those_that_fail_are_cases(tmp_path: Path) -> None:
    state, rows = run(tmp_path, answer)
    blocks = list(whole(tmp_path))
    members = [member for block in blocks if block.position == ANALYZED for member in block.members]
    dying = [member for member in members if kills(member)]
    wrong = [member for member in members if planted(member.subject) and not kills(member)]
    assert dying
    assert wrong
    assert sum(block.count for block in blocks) >= CASES
    # An expression drawn twice in a block is there once; in its halves it may be in each.
    right = 0
    for block in passing(tmp_path):
        own = block.members if block.position == ANALYZED else ()
        right += sum(not planted(each.subject) for each in own) if own else block.count
    drawn = right + len(dying) + len(wrong)
    assert 0.95 * CASES < drawn <= sum(block.count for block in blocks)
    assert state.verdicts == Counter(
        {
            Verdict.PASS: right,
            Verdict.PROCESS_DEATH: len(dying),
            Verdict.WRONG_VALUE: len(wrong),
        }
    )
    assert rows == {
        **{each.identifier: Verdict.PROCESS_DEATH for each in dying},
        **{each.identifier: Verdict.WRONG_VALUE for each in wrong},
    }
    by_verdict = Counter[Verdict]()
    for finding in state.findings.values():
        by_verdict[finding.verdict] += finding.count
        assert finding.confirmed
        assert isinstance(finding.case, ExpressionCase)
        if finding.verdict is Verdict.WRONG_VALUE:
            assert len(list(nodes(finding.case.subject.expression))) == 3
    assert by_verdict == {Verdict.PROCESS_DEATH: len(dying), Verdict.WRONG_VALUE: len(wrong)}
    record = read_campaign(tmp_path)
    assert record.verdicts == state.verdicts
    assert (record.cases, record.failed) == (drawn, len(dying) + len(wrong))
    # A block is one row, and many cases: no sample stands for them.
    sample = read_campaign(tmp_path, most=2)
    assert (sample.every, sample.verdicts) == (1, record.verdicts)


def test_a_campaign_that_stops_anywhere_goes_on_to_the_same_end(tmp_path: Path) -> None:
    state, rows = run(tmp_path / "whole", answer)
    countdown, seen = 0, Counter[str]()

    def stopping(case: AnyCase) -> Outcome:
        nonlocal countdown
        countdown -= 1
        if not countdown:
            raise Stopped
        outcome = answer(case)
        seen[case.identifier] += isinstance(case, ExpressionBatch)
        return outcome

    mode = Mode.NEW
    for countdown in (2, 3, 9, 40):  # noqa: B007
        with pytest.raises(Stopped):
            run(tmp_path / "stopped", stopping, mode)
        mode = Mode.RESUME
    again, rows_again = run(tmp_path / "stopped", stopping, mode)
    assert rows_again == rows
    assert again.verdicts == state.verdicts
    assert again.cells == state.cells
    assert summaries(again.findings) == summaries(state.findings)
    assert max(seen.values()) == 1


def test_parts_that_were_not_begun_before_the_end_run_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(self: Campaign, part: AnyCase) -> None:
        raise Stopped

    with monkeypatch.context() as patched:
        patched.setattr(Campaign, "_begin_part", stop)
        with pytest.raises(Stopped):
            run(tmp_path / "stopped", answer)
    again, rows = run(tmp_path / "stopped", answer, Mode.RESUME)
    state, expected = run(tmp_path / "whole", answer)
    assert rows == expected
    assert again.verdicts == state.verdicts


def test_a_finding_that_is_declared_is_known_by_its_cause(tmp_path: Path) -> None:
    state, _ = run(tmp_path, answer)
    wrong = next(
        finding for finding in state.findings.values() if finding.verdict is Verdict.WRONG_VALUE
    )
    known = KnownFinding(
        name="mine",
        operator=wrong.operator,
        when={axis: (value,) for axis, value in wrong.blame.items()},
        releases=("0.27",),
        verdict=wrong.verdict,
        issue=None,
        expires="2099-01-01",
        message=headline(wrong.outcome.message),
        cause=wrong.message,
        stage=wrong.stage,
        case=wrong.case,
    )
    known = decode_record(msgspec.json.encode(known), KnownFinding)
    assert known.finding.fingerprint == wrong.fingerprint
    assert known.expects(wrong.outcome)
    assert not known.expects(msgspec.structs.replace(wrong.outcome, cause="another"))


def test_a_case_is_listed_with_its_variables() -> None:
    block = FAMILY.build(complete(FAMILY.axes, {}), 3)
    assert rendering(block).text(block) == "expressions 0 to 499 of seed 3\n# position analyzer"


def test_failures_in_company_only_are_reported_and_count_as_new(tmp_path: Path) -> None:
    def answer(case: AnyCase) -> Outcome:
        parts = (
            case.members[3:5]
            if isinstance(case, ExpressionBatch) and case.position == ANALYZED
            else ()
        )
        return Outcome(Verdict.PASS, checked=KIND.count(case), parts=parts)

    for mode in (Mode.NEW, Mode.RESUME):
        state, rows = run(tmp_path, answer, mode)
        assert state.unrepeated == len(rows) > 1
        assert set(rows.values()) == {Verdict.PASS}
        assert exit_code(state) == 1
        assert f"{len(rows)} failure" in not_investigated(state)
        with Journal(tmp_path, Mode.READ) as journal:
            counts = Counter(event.type for event in journal.events())
            again = recount(journal, {FAMILY.name: FAMILY}, ())
        assert counts[EventType.UNREPEATED] == again.unrepeated == state.unrepeated


def test_parts_that_did_not_run_before_the_end_count_as_new(tmp_path: Path) -> None:
    plan = Plan((FAMILY,), seed=8, seconds=600, fixes=(False,), most_cases=CASES)
    stopped: list[str] = []

    def failing(case: AnyCase) -> Outcome:
        outcome = answer(case)
        if outcome.parts:
            stopped.append("Ctrl-C")
        return outcome

    with Journal(tmp_path) as journal:
        pool = Instant(failing)  # type: ignore[arg-type]
        campaign = Campaign(plan, pool, journal, ())  # type: ignore[arg-type]
        state = campaign.run(lambda shown: None, lambda: stopped[0] if stopped else None)
        left = [case.case for case in journal.cases(DRAWN) if isinstance(case.case, ExpressionCase)]
        assert state.waiting >= len(left) > 0
        assert recount(journal, {FAMILY.name: FAMILY}, ()).waiting == state.waiting
    assert exit_code(state) == 1
    assert f"{state.waiting} part" in not_investigated(state)


FIRST_LIKE = "WHERE rowid = (SELECT min(rowid) FROM cases WHERE unpacked(outcome) LIKE ?)"


@pytest.mark.parametrize(
    "lost",
    [
        "DELETE FROM cases",
        "UPDATE cases SET outcome = NULL, verdict = NULL",
    ],
)
@pytest.mark.parametrize("of", ['%"parts":[{%', "%process-death%"])
def test_a_damaged_journal_that_lost_what_its_parts_came_of_goes_on(
    tmp_path: Path, lost: str, of: str
) -> None:
    state, rows = run(tmp_path, answer)
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as database, database:
        database.create_function("unpacked", 1, lambda record: unpack(record or b"").decode())
        assert database.execute(f"{lost} {FIRST_LIKE}", (of,)).rowcount == 1
    with Journal(tmp_path, Mode.RESUME) as journal:
        journal.note(Event(EventType.SALVAGED, "the file was damaged"))
    again, rows_again = run(tmp_path, answer, Mode.RESUME)
    assert rows_again == rows
    assert again.verdicts == state.verdicts
    assert (again.waiting, again.unrepeated) == (0, 0)
