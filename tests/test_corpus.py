"""Every entry of the corpus gives its declared verdict, and its script and issue are whole."""

import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import pytest

from relaxcheck.generators.core.case import AnyCase, Mismatch, with_fixes
from relaxcheck.generators.core.preconditions import takes
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.harness.kinds import of, operators, runs_without_relax
from relaxcheck.harness.known.corpus import FILES, ISSUE, SCRIPT, Entry, Record, entries
from relaxcheck.harness.matrix import matrix
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.outcomes.severity import Severity, severity_of
from relaxcheck.harness.releases import releases
from relaxcheck.harness.releases.environment import is_alone, tvm_title
from relaxcheck.harness.triage.fingerprint import fingerprint, signature_of
from relaxcheck.harness.workers.jobs import Job, Limits
from relaxcheck.harness.workers.pool import Pool
from relaxcheck.reports.issue.finding_folder import releases as releases_of
from relaxcheck.reports.issue.finding_folder import rendered
from relaxcheck.reports.tables.release_matrix import lines, surprises

LOT = 24
"""Cases that run together: several times as many as a worker compiles at once."""

LONGEST_TITLE = 100
"""Characters that a list of issues shows."""

PREDICATE = re.compile(
    r" (accepts|cannot be|compiles? and (is|are) right|does not compile|drops|ends|excludes|fails"
    r"|gets|gives|has no|is (computed|left|not supported)|keeps|leaves|loses|makes|pairs|proves"
    r"|puts|raises|reads|refuses|returns|rotates|sums|takes|wraps)\b"
)
"""The verb of a title: the behaviour that is wrong, or right in a case that guards it."""

PROGRAMS = [entry for entry in entries() if isinstance(entry.case, Case)]

OTHERS = [name for name in releases.supported() if name != releases.own().name]


@pytest.mark.parametrize("fixes", [False, True], ids=["fixes-off", "fixes-on"])
@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_an_entry_gives_its_verdict(
    pool: Pool, outcome_in_lots: Callable[[AnyCase], Outcome], entry: Entry, fixes: bool
) -> None:
    wanted = entry.expected.verdict(pool.environment["apache-tvm"], fixes=fixes)
    assert wanted is not None, "no verdict is declared for this release"
    outcome = outcome_in_lots(with_fixes(entry.case, fixes))
    assert outcome.verdict is wanted, outcome.message


@pytest.fixture(scope="module")
def outcome_in_lots(pool: Pool, request: pytest.FixtureRequest) -> Callable[[AnyCase], Outcome]:
    """Runs a test's case with those of the tests beside it: compiled together they cost less."""
    cases = [
        with_fixes(item.callspec.params["entry"].case, item.callspec.params["fixes"])
        for item in request.session.items
        if getattr(item, "originalname", "") == test_an_entry_gives_its_verdict.__name__
    ]
    lot_of = {case.identifier: number // LOT for number, case in enumerate(cases)}
    outcomes: dict[str, Outcome] = {}

    def outcome(case: AnyCase) -> Outcome:
        if case.identifier not in outcomes:
            start = lot_of[case.identifier] * LOT
            pool.submit(*map(Job, cases[start : start + LOT]))
            outcomes.update((job.case.identifier, ended) for job, ended in pool.drain())
        return outcomes[case.identifier]

    return outcome


# `.ci/run` and the nightly run conform on the other releases; this replays the whole corpus there.
@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_entries_and_gaps_are_as_declared_on_another_release(name: str) -> None:
    state = releases.state(name)
    if not state.usable:
        pytest.skip(f"TVM {name} is {state}; {releases.advice(name)}")
    result = matrix.run(matrix.subjects([]), [name], 1, Limits(), lambda *_: None)
    assert not surprises(result), "\n".join(lines(result))
    assert not result.columns[0].missing, result.columns[0].missing
    # Of a known finding nothing is declared but on its own release and side.
    own = [row for row in result.rows if not row.gap]
    assert all(cell.declared for row in own for cell in row.cells[name].values())


def test_entries_are_as_declared_on_tirx_alone() -> None:
    name = releases.ALONE[0]
    state = releases.state(name)
    if not state.usable:
        pytest.skip(f"TVM {name} is {state}; {releases.advice(name)}")
    chosen = [each for each in matrix.subjects([]) if runs_without_relax(each.row.case)]
    result = matrix.run(chosen, [name], 1, Limits(), lambda *_: None)
    assert not surprises(result), "\n".join(lines(result))
    assert not result.columns[0].missing, result.columns[0].missing
    assert all(row.cell(name, "off").declared for row in result.rows)  # type: ignore[union-attr]
    # The scripts of faults that TIRx alone has name its package.
    of_tirx = [number for number, each in enumerate(chosen) if fails_on_tirx_alone(each.declared)]
    scripts = matrix.with_scripts(result, chosen, 1, lambda *_: None)
    cells = {number: row.cell(name, "off") for number, row in enumerate(scripts.rows)}
    ran = {
        number: cell.script for number, cell in cells.items() if cell and cell.script is not None
    }
    assert ran == dict.fromkeys(of_tirx, 1)


def fails_on_tirx_alone(record: object) -> bool:
    return isinstance(record, Record) and is_alone(record.environment)


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_an_entry_fails_on_a_release_of_tvm_or_is_of_tirx_alone(entry: Entry) -> None:
    """Its script names the package that it fails with; a fault of both is shown with TVM."""
    failing = {
        release
        for release, sides in entry.expected.verdicts.items()
        if any(verdict.is_failure for verdict in sides.values())
    }
    only = bool(failing) and failing <= {*releases.ALONE}
    assert fails_on_tirx_alone(entry.expected) is only
    assert ("from tvm_tirx import" in (entry.folder / SCRIPT).read_text()) is only


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_an_entry_is_a_whole_folder_of_its_family(entry: Entry) -> None:
    assert sorted(path.name for path in entry.folder.iterdir()) == sorted(FILES)
    assert entry.folder.parent.name == entry.case.family
    assert entry.expected.title
    outcome = entry.expected.outcome
    assert outcome is not None
    assert entry.expected.severity is severity_of(outcome.verdict, entry.case.expect)


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_only_failures_with_the_fixes_on_have_a_reason(entry: Entry) -> None:
    assert bool(entry.expected.reason) == bool(entry.expected.unmended)
    # The list of the matrix's page has it as one line.
    assert "\n" not in entry.expected.reason
    assert not entry.expected.reason or entry.expected.reason.endswith(".")


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_its_script_is_what_would_be_written(entry: Entry) -> None:
    text = rendered(entry.case, entry.expected)[SCRIPT]
    assert (entry.folder / SCRIPT).read_text() == text, "run: relaxcheck export --rewrite"


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_its_issue_has_all_that_a_maintainer_needs(entry: Entry) -> None:
    texts = rendered(entry.case, entry.expected)
    title, blank, *body = texts[ISSUE].splitlines()
    assert re.match(r"\[\w[\w ]*\](\[\w+\])* \w", title), title
    assert entry.expected.title in title
    assert not blank
    headings = [line.removeprefix("### ") for line in body if line.startswith("### ")]
    request = title.startswith("[Tracking Issue]")
    about = ["Expected behavior", "Actual behavior"]
    if request:
        about = [headings[0]]
        assert headings[0].startswith("This issue is to track progress for support of `relax.op.")
        assert entry.expected.severity is Severity.UNSUPPORTED
    assert headings == [*about, "Environment", "Steps to reproduce", "Triage"]
    for heading, after in pairwise(body):
        assert not (heading.startswith("### ") and after.strip()), heading
    assert f"```python\n{texts[SCRIPT]}```" in texts[ISSUE]
    assert f"* {tvm_title(entry.expected.environment)}" in body
    for release in entry.expected.verdicts:
        assert any(line.startswith(f"| {release} | ") for line in body), release
    for foreign in ("/site-packages/", "relaxcheck", "{{", "None of", "0x7f"):
        assert foreign not in texts[ISSUE]


@pytest.mark.parametrize("entry", PROGRAMS, ids=lambda entry: entry.name)
def test_no_entry_breaks_a_documented_precondition(entry: Entry) -> None:
    assert isinstance(entry.case, Case)
    data, *others = entry.case.program.inputs
    # Beside the data an operator may take integers: indices, lengths of sequences.
    for each in (data, *(other for other in others if "float" in other.dtype)):
        assert takes(entry.case.pipeline, each.dtype), each.name


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_a_title_is_a_short_sentence_that_says_what_is_wrong(entry: Entry) -> None:
    title = entry.expected.title
    assert len(title) <= LONGEST_TITLE
    assert PREDICATE.search(title), title
    assert not re.search(r"[\s.:;]$|^A |\(here |…|Check failed", title), title


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_its_issue_is_about_operators_of_its_program(entry: Entry) -> None:
    body = rendered(entry.case, entry.expected)[ISSUE].partition("```python")[0]
    named = set(re.findall(r"`relax\.op\.([\w.]+)`", body))
    assert named <= set(operators(entry.case))
    if isinstance(entry.case, OnnxCase):
        # Its operators are those of ONNX.
        assert any(re.search(rf"\b{name}\b", body) for name in operators(entry.case))
        return
    # An issue about one expression names the analyzer or a place in a program.
    assert named or not of(entry.case).has_passes or "`R.match_cast`" in body


ACCEPTED = [
    entry
    for entry in entries()
    if entry.expected.outcome and entry.expected.outcome.verdict is Verdict.ACCEPTS_INVALID
]


@pytest.mark.parametrize("entry", ACCEPTED, ids=lambda entry: entry.name)
def test_what_is_accepted_though_invalid_comes_with_evidence(entry: Entry) -> None:
    outcome = entry.expected.outcome
    assert outcome is not None
    assert re.search(r"^returned \w+ \(", outcome.message, re.MULTILINE)
    is_call = isinstance(entry.case.expect, Mismatch)
    evidence = r"^called with \w+ of shape" if is_call else r"^PyTorch refuses it: \w+: "
    assert re.search(evidence, outcome.message, re.MULTILINE)


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_it_fails_in_its_own_way_on_its_own_release(entry: Entry) -> None:
    version = entry.expected.environment["apache-tvm"]
    on_release = releases_of(entry.case, entry.expected)
    own = [came for name, came in on_release.items() if releases.within(version, name)]
    assert own
    assert all(came.alike for came in own if came.verdict and came.verdict.is_failure)


def test_titles_are_unique() -> None:
    count = Counter(entry.expected.title for entry in entries())
    assert [title for title, times in count.items() if times > 1] == []


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_records_match_their_declarations(entry: Entry) -> None:
    outcome = entry.expected.outcome
    assert outcome is not None
    version = entry.expected.environment["apache-tvm"]
    assert entry.expected.verdict(version, fixes=False) is outcome.verdict
    for text in (entry.folder / name for name in FILES):
        assert "/site-packages/" not in text.read_text()
        assert "relaxcheck" not in text.read_text()


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_an_entry_names_failures_by_the_fingerprint_of_its_own(entry: Entry) -> None:
    """Else a change of fingerprints would leave it without findings that it names."""
    record = entry.expected
    if record.outcome is None or not record.outcome.verdict.is_failure:
        pytest.skip("it does not fail")
    own = fingerprint(signature_of(entry.case, record.outcome), record.blame)
    assert own in {record.fingerprint, *record.alike.values()}
