"""A declaration turns exactly its failure into an expected one, and tells what became of it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from relaxcheck.generators.core.axes import Axis, Point, complete
from relaxcheck.generators.core.case import CaseError, Invalid
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.generators.graphs import family as dynamic
from relaxcheck.generators.graphs.mismatch import mismatched, wrong
from relaxcheck.harness.known.expected_failures import (
    CasePoint,
    ExpectedFailure,
    Known,
    KnownFinding,
    case_point,
    declared,
    known_gaps,
    write_declared,
)
from relaxcheck.harness.known.tally import ExpectationTally, utc_today
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict

CASE = Case(
    "toy",
    Program((Input("x", (1,), "float32"),), (Node("y", "toy.op", ("x",)),), ("y",)),
    fixes=True,
)
GAP = ExpectedFailure(
    name="toy-bfloat16",
    operator="toy.op",
    when={"dtype": ("bfloat16", "float16")},
    releases=("0.27",),
    verdict=Verdict.OPAQUE_CRASH,
    issue=None,
    expires="2127-01-01",
    reason="code generation of a runtime function that only C++ can add",
    message="undefined symbol",
    example={"size": "3"},
    fixes=True,
)
FINDING = KnownFinding(
    name="toy-large",
    operator="toy.op",
    when={"size": ("3",)},
    releases=("0.27",),
    verdict=Verdict.WRONG_VALUE,
    issue="https://example.org/1",
    expires="2127-01-01",
    fixes=True,
    stage="compare",
    case=CASE,
)
POINT: Point = {"dtype": "bfloat16", "size": 3, "layout": "NCHW"}
AXES = (
    Axis("dtype", ("float32", "bfloat16", "float16"), "float32"),
    Axis("size", (1, 3, 4), 1),
    Axis("layout", ("NCHW", "NHWC"), "NCHW"),
)
PLACE = CasePoint(CASE, POINT, AXES)
TVM = {"apache-tvm": "0.27.0.post1"}
FAILED = Outcome(Verdict.OPAQUE_CRASH, "load", None, "RuntimeError: undefined symbol __x")
PASSED = Outcome(Verdict.PASS)


def expired(known: Known) -> Known:
    return msgspec.structs.replace(known, expires="2026-01-01")


def test_the_declared_failure_is_expected_and_counted() -> None:
    tally = ExpectationTally()
    assert tally.count((GAP,), PLACE, FAILED, TVM) == "toy-bfloat16"
    assert tally.lines((GAP,)) == {f"known gap toy-bfloat16: {GAP.reason}": 1}


def test_a_build_after_the_last_release_has_its_expected_failures() -> None:
    assert ExpectationTally().count((GAP,), PLACE, FAILED, {"apache-tvm": "0.28.dev0"})


@pytest.mark.parametrize(
    ("case", "point", "outcome", "tvm"),
    [
        (CASE, {**POINT, "dtype": "float32"}, FAILED, TVM),
        (CASE, {}, FAILED, TVM),
        (CASE, POINT, msgspec.structs.replace(FAILED, message="another"), TVM),
        (CASE, POINT, msgspec.structs.replace(FAILED, verdict=Verdict.WRONG_VALUE), TVM),
        (CASE, POINT, FAILED, {"apache-tvm": "0.26.0"}),
        (msgspec.structs.replace(CASE, fixes=False), POINT, FAILED, TVM),
    ],
)
def test_any_other_failure_is_not(
    case: Case, point: Point, outcome: Outcome, tvm: dict[str, str]
) -> None:
    tally = ExpectationTally()
    place = CasePoint(case, point, AXES if point else ())
    assert tally.count((GAP,), place, outcome, tvm) is None
    assert tally == ExpectationTally()


def test_a_gap_that_passes_is_fixed_unless_it_also_fails() -> None:
    tally = ExpectationTally()
    tally.count((GAP,), PLACE, PASSED, TVM)
    assert tally.notes((GAP,)) == (
        "fixed gap toy-bfloat16: it passes now; remove it: relaxcheck known remove toy-bfloat16",
    )
    assert not tally.lines((GAP,))
    other = ExpectationTally()
    other.count((GAP,), PLACE, FAILED, TVM)
    tally.add(other)
    assert list(tally.lines((GAP,))) == [f"known gap toy-bfloat16: {GAP.reason}"]
    assert not tally.notes((GAP,))


def test_gaps_that_need_not_fail_are_silent_when_they_pass() -> None:
    tally = ExpectationTally()
    tally.count((GAP,), CasePoint(CASE, {**POINT, "size": 4}, AXES), PASSED, TVM)
    assert not tally.counted


def test_differences_elsewhere_may_be_the_reason_for_passing() -> None:
    tally = ExpectationTally()
    tally.count((GAP,), CasePoint(CASE, {**POINT, "layout": "NHWC"}, AXES), PASSED, TVM)
    assert not tally.counted
    # Another value of what is named is declared to fail as well.
    tally.count((GAP,), CasePoint(CASE, {**POINT, "dtype": "float16"}, AXES), PASSED, TVM)
    assert tally.fixed == {GAP.name: 1}


@pytest.mark.parametrize(
    ("release", "concerns"),
    [("0.27", True), ("0.27.0", True), ("0", True), ("0.2", False), ("0.27.0.post", False)],
)
def test_a_release_is_declared_in_whole_numbers(release: str, concerns: bool) -> None:
    gap = msgspec.structs.replace(GAP, releases=(release,))
    assert gap.concerns("0.27.0.25", fixes=True) is concerns


def test_a_release_that_there_is_none_of_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    for release, there in (("0.2", False), ("0.72", False), ("0.27.0.post1", True), ("0", True)):
        write_declared((msgspec.structs.replace(GAP, releases=(release,)),), path)
        if there:
            assert declared(path)
            continue
        with pytest.raises(CaseError, match=rf"toy-bfloat16: no release '{release}'; .*0\.25, 0"):
            declared(path)


def test_an_expired_gap_expects_nothing_and_says_so() -> None:
    tally = ExpectationTally()
    assert tally.count((expired(GAP),), PLACE, FAILED, TVM) is None
    (text,) = tally.notes((expired(GAP),))
    assert text.startswith("expired gap toy-bfloat16: it fails, and since 2026-01-01 that is not")
    assert not tally.lines((expired(GAP),))
    assert not tally.expected


def test_it_is_expected_on_the_day_that_it_expires() -> None:
    last = msgspec.structs.replace(GAP, expires=utc_today())
    assert ExpectationTally().count((last,), PLACE, FAILED, TVM) == GAP.name
    assert ExpectationTally(today="9999-01-01").count((last,), PLACE, FAILED, TVM) is None


def test_a_known_finding_has_the_fingerprint_of_its_cause() -> None:
    finding = FINDING.finding
    assert finding.blame == {"size": "3"}
    assert FINDING.expects(finding.outcome)
    assert not FINDING.expects(msgspec.structs.replace(finding.outcome, stage="run"))
    larger = msgspec.structs.replace(FINDING, when={"size": ("7",)})
    assert larger.finding.fingerprint == finding.fingerprint
    other = msgspec.structs.replace(FINDING, when={"dtype": ("float16",)})
    assert other.finding.fingerprint != finding.fingerprint


def test_written_declarations_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    write_declared((FINDING, GAP), path)
    assert declared(path) == (GAP, FINDING)
    assert known_gaps(path) == (GAP,)
    assert [entry.name for entry in tmp_path.iterdir()] == ["known.json"]


def test_the_file_of_the_corpus_is_written_as_it_is(tmp_path: Path) -> None:
    from relaxcheck.harness.known.expected_failures import FILE

    write_declared(declared(), tmp_path / "known.json")
    # A default need not be spelled out.
    assert declared(tmp_path / "known.json") == tuple(
        sorted(declared(), key=lambda entry: entry.name)
    )
    assert FILE.is_file()


def changed(**changes: Any) -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]]:
    return lambda entries: [{**entries[0], **changes}]


@pytest.mark.parametrize(
    ("change", "fragment"),
    [
        (changed(nonsense=1), "nonsense"),
        (changed(expires="soon"), "Invalid isoformat string: 'soon'"),
        # A day, but as text it is after every other one of its year.
        (changed(expires="20270630"), "Invalid isoformat string: '20270630'"),
        (changed(verdict="odd"), "odd"),
        (changed(kind="hunch"), "hunch"),
        (lambda entries: entries * 2, "toy-bfloat16 is declared twice"),
    ],
)
def test_a_malformed_file_is_one_line(
    tmp_path: Path, change: Callable[[list[dict[str, Any]]], object], fragment: str
) -> None:
    path = tmp_path / "known.json"
    write_declared((GAP,), path)
    path.write_bytes(msgspec.json.encode(change(msgspec.json.decode(path.read_bytes()))))
    with pytest.raises(CaseError, match=r"known\.json: ") as error:
        declared(path)
    assert fragment in str(error.value)
    assert "\n" not in str(error.value)


def test_a_wrong_call_falls_into_the_gap_of_its_program() -> None:
    family = dynamic.family(("build",))
    case = family.build(complete(family.axes, {"form": "tutorial"}), 0)
    called = msgspec.structs.replace(mismatched(case, *wrong(case)[0]), fixes=True)
    gap = msgspec.structs.replace(GAP, operator="matmul", when={"form": ("tutorial",)}, example={})
    assert gap.applies(case_point(called, family), TVM)
    faulty = msgspec.structs.replace(called, expect=Invalid("matmul", ("x0",)))
    assert not gap.applies(case_point(faulty, family), TVM)


def test_another_program_at_the_example_may_well_pass() -> None:
    family = dynamic.family(("build",))
    gap = msgspec.structs.replace(
        GAP, operator="nn.rms_norm", when={}, example={"focus": "nn.rms_norm"}, message=""
    )
    point = complete(family.axes, {"focus": "nn.rms_norm"})
    surely = [gap.surely_fails(case_point(family.build(point, seed), family)) for seed in (0, 1)]
    assert surely == [True, False]
