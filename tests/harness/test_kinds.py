"""The registry of kinds, and a whole campaign of a kind that no other module knows."""

import ast
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from relaxcheck.cli import app
from relaxcheck.generators.core.case import CaseError, encode, write
from relaxcheck.harness import kinds
from relaxcheck.harness.campaign.campaign import Campaign, Plan
from relaxcheck.harness.campaign.merging import recount
from relaxcheck.harness.campaign.state import State
from relaxcheck.harness.journal.journal import DRAWN, Journal, Mode
from relaxcheck.harness.known.known import Expectations, findings_in
from relaxcheck.harness.known.replaying import Again, recorded_item, replayed
from relaxcheck.harness.known.tally import ExpectationTally
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.triage.reduction.running import reduced
from relaxcheck.harness.triage.reduction.trying import Budget, InWorkers, outcome_of
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.harness.workers.pool import Pool
from relaxcheck.reports import kinds as renderings
from relaxcheck.reports.page.page import Sources, page_text
from relaxcheck.reports.page.records import read_campaign
from tests.harness.toy_kind import LARGE, Additions, Lists, Numbers

ENGINE = ("campaign", "journal", "known", "matrix", "releases", "triage", "workers")
ROOT = Path(__file__).resolve().parents[2]
FAMILY = Lists()


class Rival(Additions):
    """Another kind with the format of the toy."""

    name = "rival"


KIND = Rival()


@pytest.fixture
def _only_toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "PATHS", ("tests.harness.toy_kind",))
    monkeypatch.setitem(renderings.PATHS, "numbers", "tests.harness.toy_kind")


@pytest.fixture
def pool(_only_toys: None) -> Iterator[Pool]:
    with Pool(1, Limits(seconds=10), "tests.harness.toy_kind") as started:
        yield started


def run(folder: Path, pool: Pool, mode: Mode, cases: int) -> State:
    plan = Plan((FAMILY,), seed=7, seconds=60, fixes=(False,), most_cases=cases)
    with Journal(folder, mode) as journal:
        if mode is Mode.NEW:
            journal.describe({"apache-tvm": "none", "seed": "7", "fixes": "off"})
        return Campaign(plan, pool, journal, ()).run(lambda shown: None)


def by_verdict(findings: dict[str, Finding]) -> dict[Verdict, Finding]:
    result = {finding.verdict: finding for finding in findings.values()}
    assert len(result) == len(findings)
    return result


def test_a_kind_without_a_way_to_reduce_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Rival, "along_axes", False)
    monkeypatch.setattr(Rival, "steps", ())
    monkeypatch.setattr(kinds, "PATHS", (__name__,))
    with pytest.raises(ValueError, match="no failure can be reduced: neither along axes nor by"):
        kinds.every()


@pytest.mark.usefixtures("_only_toys")
def test_a_kind_is_drawn_unless_it_says_otherwise() -> None:
    assert [each.name for each in kinds.usual_families()] == ["lists"]


@pytest.mark.usefixtures("_only_toys")
def test_a_campaign_of_a_kind_needs_no_more_than_the_protocol(tmp_path: Path, pool: Pool) -> None:
    folder = tmp_path / "campaign"
    first = run(folder, pool, Mode.NEW, 20)
    assert first.cases == 20
    state = run(folder, pool, Mode.RESUME, 60)
    assert (state.cases, state.taken_up) == (60, 20)
    findings = by_verdict(state.findings)
    assert set(findings) == {Verdict.WRONG_VALUE, Verdict.PROCESS_DEATH}
    wrong, death = findings[Verdict.WRONG_VALUE], findings[Verdict.PROCESS_DEATH]
    assert wrong.confirmed is death.confirmed is True
    assert wrong.blame == {"count": "2", "largest": "99"}
    assert isinstance(wrong.case, Numbers)
    assert len(wrong.case.numbers) == 2
    assert death.outcome.ending is not None
    assert (death.outcome.ending.signal, death.outcome.stage) == ("SIGABRT", "add")
    _is_journalled(folder, state)
    _is_replayed(pool, wrong)
    _is_reduced(pool, wrong)
    _is_rendered(folder, wrong)


def _is_journalled(folder: Path, state: State) -> None:
    with Journal(folder, Mode.READ) as journal:
        assert len(list(journal.cases(DRAWN))) == 60
        again = recount(journal, {FAMILY.name: FAMILY}, ())
        assert (again.counts, again.cells) == (state.counts, state.cells)
        assert {finding.fingerprint for finding in findings_in(journal)} == set(state.findings)


def _is_replayed(pool: Pool, wrong: Finding) -> None:
    expectations = Expectations(pool, {FAMILY.name: FAMILY}, (), ExpectationTally())
    item = recorded_item("wrong", wrong.case, wrong.outcome)
    (result,) = replayed(pool, [item], expectations)
    assert result.again is Again.STILL_FAILS


def _is_reduced(pool: Pool, wrong: Finding) -> None:
    trier = InWorkers(pool)
    start = outcome_of(trier, wrong.case)
    budget = Budget(500, 60, lambda: None)
    ended = reduced(wrong.case, start, trier, (FAMILY,), budget)
    assert ended.reduction.minimal
    assert ended.stable
    assert isinstance(ended.reduction.case, Numbers)
    assert sorted(ended.reduction.case.numbers) == [1, LARGE + 1]


def _is_rendered(folder: Path, wrong: Finding) -> None:
    assert isinstance(wrong.case, Numbers)
    page = page_text(Sources(read_campaign(folder)))
    assert " + ".join(map(str, wrong.case.numbers)) in page
    assert f"print(sum({list(wrong.case.numbers)}))" in page


def test_every_kind_has_a_rendering() -> None:
    assert renderings.PATHS.keys() == {kind.name for kind in kinds.every()}


def test_two_kinds_of_one_name_or_format_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "PATHS", ("tests.harness.toy_kind",) * 2)
    with pytest.raises(ValueError, match="there is already a kind 'numbers'"):
        kinds.every()
    monkeypatch.setattr(kinds, "PATHS", (__name__, "tests.harness.toy_kind"))
    with pytest.raises(ValueError, match="numbers: format 90 belongs to another kind"):
        kinds.decode(b'{"format": 90}')


@pytest.mark.usefixtures("_only_toys")
def test_a_kind_checks_what_is_read() -> None:
    assert kinds.decode(encode(Numbers("lists", (1, 2)))) == Numbers("lists", (1, 2))
    with pytest.raises(CaseError, match=r"^it: there are no numbers$"):
        kinds.decode(encode(Numbers("lists", ())), "it")
    with pytest.raises(
        msgspec.ValidationError, match=r"^record: there are no numbers - at `\$.smallest`$"
    ):
        kinds.decode_record(b'{"verdict": "pass", "smallest": %s}' % _nothing(), Outcome)


def _nothing() -> bytes:
    return encode(Numbers("lists", ()))


def test_a_kind_that_is_not_registered_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "numbers.json"
    write(Numbers("lists", (1, 2)), path)
    ended = CliRunner().invoke(app, ["replay", str(path)])
    text = f"{path}: format 90 is unknown; this version reads 1, 2, 3, 4, 5, 6"
    assert (ended.exit_code, ended.output.splitlines()) == (2, [f"relaxcheck: {text}"])


def test_the_engine_asks_of_no_case_which_kind_it_is() -> None:
    classes = {each.__name__ for kind in kinds.every() for each in kind.formats.values()}
    assert classes >= {"Case", "ExpressionBatch", "ExpressionCase"}
    files = [path for name in ENGINE for path in (ROOT / "harness" / name).rglob("*.py")]
    assert len(files) > 40
    for path in files:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
                named = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
                assert not named & classes, f"{path}:{node.lineno}"
