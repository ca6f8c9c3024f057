"""Known causes: a failure that the corpus has gets the corpus's title, issue and cure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from relaxcheck.generators.core.case import Invalid, Valid
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.harness.known import expected_failures
from relaxcheck.harness.known.corpus import Entry, Record, entries
from relaxcheck.harness.known.expected_failures import ExpectedFailure, Known, KnownFinding
from relaxcheck.harness.known.named import NamedCause, Source, bundled_causes, named_causes
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.reports.tables.summary import campaign_summary
from tests.reports.tables.test_page import RESULTS

CAUSE = "0" * 12
LINK = "https://github.com/apache/tvm/issues/1"
CURED = {"0.27": {"off": Verdict.SILENT_BAIL, "on": Verdict.PASS}}


def case(operator: str, *, invalid: bool = False) -> Case:
    program = Program((Input("x", (2,), "float32"),), (Node("y", operator, ("x",)),), ("y",))
    return Case("toy", program, expect=Invalid(operator, ("axis",)) if invalid else Valid())


def entry(
    name: str,
    operator: str = "exp",
    blame: Mapping[str, str] | None = None,
    issue: str | None = None,
    verdicts: dict[str, dict[str, Verdict]] = CURED,
    *,
    invalid: bool = False,
) -> Entry:
    alike = {"0.27": CAUSE}
    record = Record(name.upper(), issue, verdicts, blame=dict(blame or {}), alike=alike)
    return Entry(name, case(operator, invalid=invalid), record, Path(name))


def finding(
    operator: str = "exp", blame: Mapping[str, str] | None = None, *, invalid: bool = False
) -> Finding:
    outcome = Outcome(Verdict.SILENT_BAIL, "LegalizeOps", operator, "left")
    subject = case(operator, invalid=invalid)
    return Finding(
        CAUSE, outcome.verdict, outcome.stage, operator, "", dict(blame or {}), subject, outcome
    )


def replace_seed(subject: Case) -> Case:
    return msgspec.structs.replace(subject, seed=5)


def named(failure: Finding, *known: Entry) -> NamedCause:
    return named_causes([failure], ("0.27.0",), known)[CAUSE]


def test_a_finding_has_the_title_of_the_entry_with_its_fingerprint() -> None:
    cause = named(finding(), entry("short", issue=LINK))
    assert cause == NamedCause("SHORT", "short", LINK, cured=True, fits=True, declared=True)
    assert cause.link == f"corpus entry short, cured by the fixes, {LINK}"


def test_a_title_is_not_given_to_other_operators_or_another_blame() -> None:
    nodes = (Node("y", "exp", ("x",)), Node("z", "log", ("y",)))
    both = msgspec.structs.replace(case("exp").program, nodes=nodes)
    longer = msgspec.structs.replace(case("exp"), program=both)
    again = msgspec.structs.replace(case("exp"), seed=5)
    for subject, blame in ((longer, {"k": "1"}), (again, {"k": "2"}), (again, {})):
        other = msgspec.structs.replace(finding(blame=blame), case=subject)
        cause = named(other, entry("short", blame={"k": "1"}))
        assert not cause.fits
        assert cause.link == "same error as corpus entry short, cured by the fixes"


def test_a_title_holds_for_values_that_it_does_not_name_where_the_message_is_the_cause() -> None:
    failure = finding(blame={"layout": "NHWC"})
    explained = msgspec.structs.replace(
        failure,
        message="TOPI supports one layout",
        case=msgspec.structs.replace(case("exp"), seed=5),
    )
    known = entry("with another layout", blame={"layout": "NCWH"})
    assert named(explained, known).fits
    assert not named(msgspec.structs.replace(explained, blame={"other": "NHWC"}), known).fits
    assert not named(explained, entry("with ncwh", blame={"layout": "NCWH"})).fits


def test_wrong_values_alone_are_no_likeness() -> None:
    """NaN under a mask and values that are off with grouped heads share an operator alone."""
    wrong = Outcome(Verdict.WRONG_VALUE, "compare", message="output y: off")
    nodes = (Node("y", "exp", ("x",)), Node("z", "log", ("y",)))
    longer = msgspec.structs.replace(case("exp").program, nodes=nodes)
    subject = msgspec.structs.replace(case("exp"), program=longer)

    def unlike(blame: Mapping[str, str]) -> Finding:
        failure = finding(blame=blame)
        return msgspec.structs.replace(
            failure, verdict=wrong.verdict, stage=wrong.stage, case=subject, outcome=wrong
        )

    assert named_causes([unlike({})], ("0.27.0",), [entry("mask")]) == {}
    assert not named(unlike({"group": "4"}), entry("grouped", blame={"group": "2"})).fits


def test_other_fingerprints_and_other_operators_have_none() -> None:
    other = msgspec.structs.replace(finding(), fingerprint="1" * 12)
    assert named_causes([other], ("0.27.0",), [entry("short")]) == {}
    assert named_causes([finding("log")], ("0.27.0",), [entry("short")]) == {}


def test_an_invalid_program_has_the_title_of_the_same_operators_alone() -> None:
    nodes = (Node("y", "exp", ("x",)), Node("z", "log", ("y",)))
    both = msgspec.structs.replace(case("exp").program, nodes=nodes)
    long = msgspec.structs.replace(case("exp", invalid=True), program=both)
    wide = msgspec.structs.replace(finding(invalid=True), case=long)
    assert named_causes([wide], ("0.27.0",), [entry("short", invalid=True)]) == {}
    assert named(finding(invalid=True), entry("short", invalid=True)).entry == "short"


def test_the_entry_that_blames_the_same_comes_first_then_the_one_with_an_issue() -> None:
    rest = (entry("a"), entry("b", issue=LINK), entry("c", blame={"k": "1"}))
    assert named(finding(blame={"k": "1"}), *rest).entry == "c"
    assert named(finding(), *rest).entry == "b"


@pytest.mark.parametrize(
    ("verdicts", "cured"),
    [
        (CURED, True),
        ({}, False),
        ({"0.26": CURED["0.27"]}, False),
        ({"0.27": {"off": Verdict.SILENT_BAIL, "on": Verdict.UNSUPPORTED}}, False),
    ],
)
def test_it_is_cured_where_the_entry_is_right_with_the_fixes_on(
    verdicts: dict[str, dict[str, Verdict]], cured: bool
) -> None:
    assert named(finding(), entry("short", verdicts=verdicts)).cured is cured


def expression(name: str = "index-counting-down-divided") -> Finding:
    """The finding of an entry about an integer expression, with another fingerprint."""
    (known,) = (each for each in entries() if each.name == name)
    outcome = known.expected.outcome
    assert outcome is not None
    return Finding(CAUSE, outcome.verdict, None, "algebra", "", {}, known.case, outcome)


def test_a_finding_about_an_expression_has_the_title_of_the_table_of_causes() -> None:
    causes = named_causes([expression()], ("0.27.0",), ())
    cause = causes[CAUSE]
    title = "TVM mishandles an index that counts down and is divided: (1 - x) // 2 (index)"
    assert (cause.title, cause.source, cause.fits) == (title, Source.TABLE, True)
    assert cause.link == "cause in docs/algebra-causes.md, see the fix falling_indices"
    analyzed = expression("bounds-of-a-shift")
    cause = named_causes([analyzed], ("0.27.0",), ())[CAUSE]
    assert cause.link == "cause in docs/algebra-causes.md"


def test_an_entry_of_the_same_expression_comes_before_the_table() -> None:
    (known,) = (each for each in entries() if each.name == "bounds-of-a-shift")
    (fingerprint,) = set(known.expected.alike.values())
    same = msgspec.structs.replace(expression(known.name), fingerprint=fingerprint)
    cause = named_causes([same], ("0.27.0",), entries())[fingerprint]
    assert (cause.entry, cause.source) == (known.name, Source.CORPUS)
    other = expression("compare-with-the-largest")
    blame = {"expression": "(-1) <= x"}
    unlike = msgspec.structs.replace(other, fingerprint=fingerprint, blame=blame)
    assert named_causes([unlike], ("0.27.0",), entries())[fingerprint].source is Source.TABLE


def declaration(**changes: object) -> KnownFinding:
    """A declaration of ``finding()``."""
    made = KnownFinding(
        name="short",
        operator="exp",
        when={},
        releases=("0.27",),
        verdict=Verdict.SILENT_BAIL,
        issue=LINK,
        expires="2027-01-01",
        reason="TVM lowers no exp: it has none. No fix can",
        message="left",
        stage="LegalizeOps",
        case=case("exp"),
    )
    return msgspec.structs.replace(made, **changes)


def test_a_declared_failure_has_its_reason_for_a_title() -> None:
    known = declaration()
    failure = known.finding
    key = failure.fingerprint
    cause = named_causes([failure], ("0.27.0",), (), [known])[key]
    assert (cause.title, cause.source) == ("exp: TVM lowers no exp", Source.DECLARED)
    assert cause.link == f"declared failure short, {LINK}"
    of_corpus = entry("long")
    record = msgspec.structs.replace(of_corpus.expected, alike={"0.27": key})
    first = replace(of_corpus, expected=record)
    assert named_causes([failure], ("0.27.0",), [first], [known])[key].source is Source.CORPUS
    for other in (declaration(releases=("0.26",)), declaration(fixes=True)):
        assert named_causes([failure], ("0.27.0",), (), [other]) == {}
    log = msgspec.structs.replace(failure, fingerprint=CAUSE)
    assert named_causes([log], ("0.27.0",), (), [known]) == {}


def test_a_finding_is_declared_where_its_list_expects_it_today() -> None:
    def declared(failure: Finding, *entries: Entry, known: Sequence[Known] = ()) -> bool:
        return named_causes([failure], ("0.27.0",), entries, known)[failure.fingerprint].declared

    failure = finding()
    assert declared(failure, entry("short"))
    # The entry is right with the fixes on, or on this release: that it fails now is news.
    fixed = msgspec.structs.replace(failure, case=msgspec.structs.replace(failure.case, fixes=True))
    assert not declared(fixed, entry("short"))
    assert not declared(failure, entry("old", verdicts={"0.26": {"off": Verdict.SILENT_BAIL}}))
    # The same error at other settings is another failure.
    other = msgspec.structs.replace(finding(blame={"k": "2"}), case=replace_seed(case("exp")))
    assert not declared(other, entry("short", blame={"k": "1"}))
    known = declaration()
    assert declared(known.finding, known=[known])
    assert not declared(known.finding, known=[declaration(expires="2020-01-01")])
    without = named_causes([known.finding], ("0.27.0",), (), [declaration(reason="")])
    (cause,) = without.values()
    assert (cause.declared, cause.fits) == (True, False)
    assert cause.link == f"same error as declared failure short, {LINK}"


def test_a_declared_condition_names_the_failures_that_it_expects() -> None:
    gap = ExpectedFailure(
        name="all",
        operator="exp",
        when={},
        releases=("0.27",),
        verdict=Verdict.SILENT_BAIL,
        issue=None,
        expires="2027-01-01",
        reason="TVM lowers no exp",
        message="left",
    )
    assert named_causes([finding()], ("0.27.0",), (), [gap])[CAUSE].entry == "all"
    other = msgspec.structs.replace(gap, message="another")
    assert named_causes([finding()], ("0.27.0",), (), [other]) == {}
    assert named_causes([finding("log")], ("0.27.0",), (), [gap]) == {}


def test_declarations_that_cannot_be_read_are_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "known.json"
    file.write_text("{")
    monkeypatch.setattr(expected_failures, "FILE", file)
    causes, (line,) = bundled_causes([finding()], ("0.27.0",), tmp_path)
    assert causes == {}
    assert line.startswith(str(file))
    assert "\n" not in line


def test_the_corpus_names_each_of_its_own_failures() -> None:
    whole = entries()
    missing = []
    for each in whole:
        record = each.expected
        for fingerprint in record.alike.values():
            assert record.outcome is not None
            outcome = record.outcome
            made = Finding(
                fingerprint, outcome.verdict, None, "", "", record.blame, each.case, outcome
            )
            cause = named_causes([made], ("0.27.0",), whole).get(fingerprint)
            if cause is None or (cause.entry, cause.fits) != (each.name, True):
                missing.append(each.name)
    assert missing == []


def test_an_entry_that_cannot_be_read_is_a_line(tmp_path: Path) -> None:
    broken = tmp_path / "toy" / "broken"
    broken.mkdir(parents=True)
    (broken / "case.json").write_text("{")
    (broken / "finding.json").write_text("{}")
    causes, lines = bundled_causes([finding()], ("0.27.0",), tmp_path)
    assert causes == {}
    (line,) = lines
    assert "broken" in line
    assert "\n" not in line


def test_every_bundled_entry_can_be_read() -> None:
    assert bundled_causes([], ())[1] == ()


def test_the_terminal_shows_the_title_in_place_of_the_message() -> None:
    lead = RESULTS.findings[1]
    cause = NamedCause("It is broken", "broken", None, cured=False, fits=True)
    known = msgspec.structs.replace(lead, outcome=Outcome(lead.verdict, "run", "x", "raw message"))
    out = StringIO()
    results = replace(RESULTS, findings=(known,), named={known.fingerprint: cause})
    Console(file=out, width=160).print(campaign_summary(results))
    assert "It is broken (corpus entry broken)" in out.getvalue()
    assert "raw message" not in out.getvalue()
