"""Causes of failures of drawn programs, and of wrong calls: with stand-ins for TVM."""

from collections import deque
from itertools import pairwise
from pathlib import Path

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.case import Mismatch
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.generators.graphs.family import family
from relaxcheck.generators.graphs.mismatch import mismatched, stated
from relaxcheck.harness.compiling.undefined import UNDEFINED
from relaxcheck.harness.journal.journal import DRAWN, Journal
from relaxcheck.harness.outcomes.appearance import NAN, UNKNOWN
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.outcomes.severity import Severity
from relaxcheck.harness.triage.causes import by_cause
from relaxcheck.harness.triage.finding import Finding, Reduced, finding_of
from relaxcheck.harness.triage.investigation import Investigations
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.protocol import Ask
from tests.harness.campaign.transposed_convolution import MEMBER
from tests.harness.triage.dynamic_programs import PASSES, Fails, answer, chain, crash, has, wrong

DYNAMIC = family(("build", "fixes-folded"))


def findings_of(folder: Path, fails: Fails, *cases: Case) -> tuple[list[Finding], int]:
    """The findings about ``cases``, and the number of cases that ran for them."""
    findings: dict[str, Finding] = {}
    jobs: deque[Job] = deque()
    ran = 0
    with Journal(folder) as journal:
        looking = Investigations((DYNAMIC, MEMBER), journal, findings, jobs.append)
        for case in cases:
            journal.start(case, DRAWN)
            looking.look_into(case, fails(case) or PASSES)
            while jobs:
                job = jobs.popleft()
                ran += not job.fresh
                vetted = job.ask is Ask.VETTED
                assert isinstance(job.case, Case)
                outcome = answer(job.case, fails) if vetted else fails(job.case) or PASSES
                looking.advance(job, outcome)
    return list(findings.values()), ran


def test_an_error_of_a_known_place_is_explained_without_a_trial(tmp_path: Path) -> None:
    """In a program of other operators, other dimensions, under another pass."""

    def fails(case: Case) -> Outcome | None:
        stage = "FoldConstant" if case.pipeline == "fixes-folded" else "LegalizeOps"
        return crash("math.py:_exp", stage=stage) if has(case, "exp") else None

    cases = (
        chain("abs", "exp"),
        chain("exp", "sqrt", "negative", dtype="float64"),
        chain("negative", "exp", pipeline="fixes-folded", shape=("2*m + 1",)),
    )
    (alone,), before = findings_of(tmp_path / "alone", fails, cases[0])
    (finding,), ran = findings_of(tmp_path / "all", fails, *cases)
    assert (finding.fingerprint, finding.operator) == (alone.fingerprint, "exp")
    assert (finding.count, ran) == (3, before)


def test_errors_of_one_place_that_are_reduced_side_by_side_are_one_finding(
    tmp_path: Path,
) -> None:
    """Though the words of the check differ, and so do the cores."""
    words = "InternalError: Check failed: (!computed) is false: {} is not computed"

    def fails(case: Case) -> Outcome | None:
        operators = [node.operator for node in case.program.nodes]
        return crash("lower.cc:Make", words.format(operators[-1]), "VMShapeLower")

    findings: dict[str, Finding] = {}
    jobs: deque[Job] = deque()
    with Journal(tmp_path) as journal:
        looking = Investigations((DYNAMIC,), journal, findings, jobs.append)
        for case in (chain("abs"), chain("exp")):
            journal.start(case, DRAWN)
            looking.look_into(case, fails(case) or PASSES)
        assert looking.active == 2
        while jobs:
            job = jobs.popleft()
            assert isinstance(job.case, Case)
            looking.advance(job, answer(job.case, fails))
    (finding,) = findings.values()
    assert finding.count == 2


def test_the_same_words_from_another_place_are_another_cause(tmp_path: Path) -> None:
    def fails(case: Case) -> Outcome | None:
        if has(case, "exp"):
            return crash("math.py:_exp")
        return crash("math.py:_abs") if has(case, "abs") else None

    findings, _ = findings_of(tmp_path, fails, chain("abs", "exp"), chain("negative", "abs"))
    assert {finding.operator for finding in findings} == {"exp", "abs"}
    assert len(by_cause(findings)) == 2


def test_wrong_values_of_one_operator_are_one_finding_in_all_programs(tmp_path: Path) -> None:
    def fails(case: Case) -> Outcome | None:
        return wrong() if has(case, "exp") and case.program.symbols else None

    cases = (chain("abs", "exp"), chain("exp", "sqrt", shape=(2, "m")), chain("exp", "exp"))
    (finding,), _ = findings_of(tmp_path, fails, *cases)
    assert (finding.count, finding.blame) == (3, {"dimensions": "symbolic"})


def test_nan_at_large_inputs_is_the_cause_of_values_that_are_off_at_small_ones(
    tmp_path: Path,
) -> None:
    """If more than the operator is alike: of a dtype, in whichever order they come."""

    def of_a_dtype(case: Case) -> Outcome | None:
        if not has(case, "exp") or case.program.inputs[0].dtype != "float64":
            return None
        return wrong(**{NAN: True}) if case.regime == "boundary" else wrong()

    small = chain("exp", "abs", dtype="float64")
    large = chain("sqrt", "exp", dtype="float64", regime="boundary")
    for number, cases in enumerate(((small, large), (large, small))):
        (finding,), _ = findings_of(tmp_path / str(number), of_a_dtype, *cases)
        assert finding.count == 2

    def of_any(case: Case) -> Outcome | None:
        return wrong(**{NAN: True}) if case.regime == "boundary" else wrong()

    cases = chain("exp", shape=(2,)), chain("exp", shape=(2,), regime="boundary")
    findings, _ = findings_of(tmp_path / "any", of_any, *cases)
    assert sorted(tuple(finding.blame) for finding in findings) == [(), ("regime",)]


def test_a_call_that_is_left_has_the_operators_around_it_for_a_reason(tmp_path: Path) -> None:
    """Of an operator that is left behind another one, and alone: two causes."""

    def fails(case: Case) -> Outcome | None:
        at = [node.operator for node in case.program.nodes]
        behind = any(pair == ("exp", "abs") for pair in pairwise(at))
        alone = has(case, "abs") and case.program.inputs[0].dtype == "float16"
        if not behind and not alone:
            return None
        return Outcome(Verdict.SILENT_BAIL, "LegalizeOps", "abs", "left after LegalizeOps: R.abs")

    cases = (chain("sqrt", "exp", "abs", "exp"), chain("sqrt", "abs", dtype="float16"))
    findings, _ = findings_of(tmp_path, fails, *cases)
    assert {finding.operator for finding in findings} == {"exp + abs", "abs"}
    assert len(by_cause(findings)) == 2


def called_wrongly(case: Case) -> Case:
    return mismatched(case, next(iter(stated(case.program))), 1)


def sum_of_two() -> Case:
    inputs = (Input("x", ("m", 3), "float32"), Input("y", ("m", 3), "float32"))
    program = Program(inputs, (Node("z", "add", ("x", "y")),), ("z",))
    return Case(family="dynamic", program=program, bindings=({"m": 2},))


def test_a_wrong_call_of_a_program_that_is_not_compiled_blames_no_dimension(tmp_path: Path) -> None:
    valid = sum_of_two()

    def fails(case: Case) -> Outcome | None:
        return crash("lower.cc:Make", stage="VMShapeLower") if case.program.symbols else None

    (finding,), _ = findings_of(tmp_path, fails, called_wrongly(valid), valid)
    assert finding.count == 2
    assert (finding.blame, finding.severity) == ({"dimensions": "symbolic"}, Severity.CRASH)


def test_a_wrong_call_that_alone_fails_blames_its_dimension(tmp_path: Path) -> None:
    """Also where the valid call fails as well, in another way."""

    def accepts(case: Case) -> Outcome | None:
        if isinstance(case.expect, Mismatch):
            return Outcome(Verdict.ACCEPTS_INVALID, "run", case.expect.operator, "ran")
        return None

    def accepts_and_is_wrong(case: Case) -> Outcome | None:
        return accepts(case) or wrong()

    for number, fails in enumerate((accepts, accepts_and_is_wrong)):
        (finding,), _ = findings_of(tmp_path / str(number), fails, called_wrongly(sum_of_two()))
        assert (finding.verdict, set(finding.blame.values())) == (
            Verdict.ACCEPTS_INVALID,
            {"invalid"},
        )


def convolution(**chosen: int | str) -> Case:
    case = MEMBER.build(complete(MEMBER.axes, chosen), 1)
    assert isinstance(case, Case)
    return case


def test_nan_is_not_explained_by_values_that_are_off(tmp_path: Path) -> None:
    """NaN that is gone, by chance, where the axis that another finding blames is at its default."""

    def fails(case: Case) -> Outcome | None:
        at = case.at
        assert isinstance(at, dict)
        chance = at["groups"] == 1 and at["batch"] == 3
        if at["dilation.w"] == 2 and not chance:
            return wrong(**{NAN: True})
        return wrong() if at["groups"] == 2 else None

    both = convolution(**{"groups": 2, "dilation.w": 2, "batch": 3})
    findings, _ = findings_of(tmp_path, fails, convolution(groups=2), both)
    assert sorted(tuple(finding.blame) for finding in findings) == [("dilation.w",), ("groups",)]


def test_nan_that_a_reduction_brings_down_to_a_finding_is_no_other(tmp_path: Path) -> None:
    """Values that are off overflow where they are large."""

    def fails(case: Case) -> Outcome | None:
        at = case.at
        assert isinstance(at, dict)
        if at["groups"] != 2:
            return None
        return wrong(**{NAN: True}) if case.regime == "boundary" else wrong()

    large = convolution(groups=2, regime="boundary")
    (finding,), _ = findings_of(tmp_path, fails, convolution(groups=2), large)
    assert (finding.blame, finding.count) == ({"groups": "2"}, 2)


def test_one_place_is_one_row_whichever_operator_is_left(tmp_path: Path) -> None:
    """Of drawn programs alone: the operators of other families are no chance."""

    def at(place: str, operator: str, *, dynamic: bool = True) -> Finding:
        case = chain(operator, shape=(2,)) if dynamic else convolution()
        return finding_of(Reduced(case, crash(place), {}))

    rows = by_cause([at("a.py:f", "exp"), at("a.py:f", "abs"), at("a.py:g", "abs")])
    assert sorted(len(row.findings) for row in rows) == [1, 2]


def test_one_check_in_two_passes_is_one_row() -> None:
    check = "ValueError: Check failed: (is_integer) is false: only integers"
    stages = ("codegen", "tirx.LowerIntrin")
    case = chain("exp")
    findings = [finding_of(Reduced(case, crash("", check, stage), {})) for stage in stages]
    assert len(by_cause(findings)) == 1
    other = finding_of(Reduced(case, crash("", check.replace("only", "no"), "codegen"), {}))
    assert len(by_cause([*findings, other])) == 2


def test_operators_are_one_row_only_for_what_they_share() -> None:
    def finding(operator: str, outcome: Outcome, **blame: str) -> Finding:
        return finding_of(Reduced(chain(operator), outcome, blame))

    nothing = [finding(name, wrong(**{UNDEFINED: True}), sizes="0") for name in ("sum", "prod")]
    assert len(by_cause(nothing)) == 1
    assert len(by_cause([finding(name, wrong(), sizes="0") for name in ("sum", "prod")])) == 2
    copied = finding("flip", wrong(**{UNDEFINED: True}), sizes="0")
    assert len(by_cause([*nothing, copied])) == 2

    def left(operator: str, unknown: str, **blame: str) -> Finding:
        details = {UNKNOWN: f"unknown shape of {unknown}"}
        bail = Outcome(Verdict.SILENT_BAIL, "LegalizeOps", operator, "left", details=details)
        return finding(operator, bail, **blame)

    blamed = left("broadcast_to", "the result", to="value")
    assert len(by_cause([blamed, left("add", "an argument"), left("less", "the result")])) == 1
    other = finding("abs", Outcome(Verdict.SILENT_BAIL, "LegalizeOps", "abs", "left"))
    assert len(by_cause([blamed, other])) == 2
