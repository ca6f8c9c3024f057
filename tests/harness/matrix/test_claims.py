"""Claims: what each stands on is there, a check in a process of its own, and the page."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.matrix import claims, matrix
from relaxcheck.harness.matrix.claim_check import Result, compared, worst
from relaxcheck.harness.matrix.claims import Answers, Claims
from relaxcheck.harness.matrix.matrix import Cell, Column, Matrix
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.releases.releases import own, supported
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.reports.tables import claims_page

CHECKS = {
    "right": "return Result(Verdict.PASS)",
    "wrong": "return compared([1, 2], [1, 3], 0.5)",
    "clear": "raise NotImplementedError('toy.op of several: not supported')",
    "raises": "raise ValueError('something else')",
    "dies": "os.kill(os.getpid(), signal.SIGSEGV)",
    "hangs": "time.sleep(60)",
    "no result": "os._exit(0)",
    "by side": "return Result(Verdict.PASS if fixes_on else Verdict.WRONG_SHAPE, 'said')",
}
HEAD = """
import os, signal, time
from relaxcheck.harness.matrix.claim_check import Result, compared
from relaxcheck.harness.outcomes.outcome import Verdict
OPERATOR = "toy.op"
def check(fixes_on):
    """
CAME = {
    "right": (Verdict.PASS, ""),
    "wrong": (Verdict.WRONG_VALUE, "1 of 2 elements outside their bound, by up to 1"),
    "clear": (Verdict.UNSUPPORTED, "NotImplementedError: toy.op of several: not supported"),
    "raises": (Verdict.OPAQUE_CRASH, "ValueError: something else"),
    "dies": (Verdict.PROCESS_DEATH, "SIGSEGV"),
    "hangs": (Verdict.TIMEOUT, "not done after 2 s"),
    "no result": (Verdict.HARNESS_ERROR, "the check says nothing"),
    "by side": (Verdict.WRONG_SHAPE, "said"),
}


def folder(tmp_path: Path, *names: str, **changed: Any) -> Path:
    """A folder of claims: one that stands on the checks ``names``."""
    checks = {name: claims.Check(f"about {name}", {}) for name in names}
    claim = claims.Claim("Nothing works", "It does.", checks=names)
    claims_written = Claims("A report", "https://example.org", (claim,), checks)
    claims_written = msgspec.structs.replace(claims_written, **changed)
    (tmp_path / claims.FILE).write_bytes(msgspec.json.encode(claims_written))
    for name in names:
        (tmp_path / f"{name}.py").write_text(HEAD + CHECKS[name])
    return tmp_path


def test_each_check_gives_its_verdict_whatever_becomes_of_the_others(tmp_path: Path) -> None:
    names = [name for name in CHECKS if name != "hangs"]
    place = folder(tmp_path, *names)
    result = claims.ran([place / f"{name}.py" for name in names], own(), False, Limits())
    assert {
        name: (check.verdict, check.message) for name, check in zip(names, result, strict=True)
    } == {name: CAME[name] for name in names}


def test_a_check_that_does_not_end_is_ended(tmp_path: Path) -> None:
    path = folder(tmp_path, "hangs") / "hangs.py"
    (result,) = claims.ran([path], own(), False, Limits(seconds=2))
    assert (result.verdict, result.message) == CAME["hangs"]


def test_claims_compare_shape_bound_and_nan() -> None:
    assert compared(np.ones(2), np.ones((2, 1)), 9).verdict is Verdict.WRONG_SHAPE
    assert compared([1.5], [1], 0.5).verdict is Verdict.PASS
    assert compared([1.5, np.nan], [1, 1], 0.5).verdict is Verdict.WRONG_VALUE
    results = [Result(Verdict.PASS), Result(Verdict.TIMEOUT), Result(Verdict.WRONG_VALUE)]
    assert worst(results) is results[1]
    assert worst(results[:1]).verdict is Verdict.PASS


def test_a_claim_without_what_it_stands_on_is_refused(tmp_path: Path) -> None:
    nothing = claims.Claim("Nothing works", "It does.")
    with pytest.raises(CaseError, match="nothing that it stands on"):
        claims.read(folder(tmp_path, claims=(nothing,)))
    missing = msgspec.structs.replace(nothing, checks=("missing",))
    with pytest.raises(CaseError, match="no check 'missing'"):
        claims.read(folder(tmp_path, claims=(missing,)))
    case = msgspec.structs.replace(nothing, cases=("no-such-entry",))
    wanted = claims.read(folder(tmp_path, claims=(case,)))
    with pytest.raises(CaseError, match="no entry of the corpus and no gap 'no-such-entry'"):
        claims.run(wanted, [own().name], 1, Limits(), lambda *_: None, tmp_path)


def test_every_committed_claim_stands_on_something_and_all_is_declared() -> None:
    result = claims.read()
    there = {subject.row.name: subject for subject in matrix.subjects(())}
    assert {name for claim in result.claims for name in claim.cases} <= set(there)
    assert {name for claim in result.claims for name in claim.checks} == set(result.checks)
    for check in result.checks.values():
        assert set(check.verdicts) == set(supported())
        assert all(set(sides) == {"off", "on"} for sides in check.verdicts.values())


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Answers:
    """A case that passes, and a check whose verdict is one of two as declared; one release."""

    def run(wanted: Any, releases: Any, *_: Any) -> Matrix:
        name = own().name
        cells = {name: {"off": Cell(Verdict.PASS, "", Verdict.PASS)}}
        cells[name]["on"] = cells[name]["off"]
        columns = (
            Column("0.1", missing="TVM 0.1 is not installed"),
            Column(name, {"apache-tvm": "1"}),
        )
        rows = tuple(msgspec.structs.replace(each.row, cells=cells) for each in wanted)
        return Matrix(columns, rows)

    monkeypatch.setattr(matrix, "run", run)
    declared = {own().name: {"off": Verdict.WRONG_SHAPE, "on": Verdict.WRONG_SHAPE}}
    claim = claims.Claim("It fails", "It does not.", ("attention-window",), ("by side",))
    place = folder(
        tmp_path,
        "by side",
        claims=(claim,),
        checks={"by side": claims.Check("one side | the other", declared)},
    )
    claims_read = claims.read(place)
    return claims.run(claims_read, ["0.1", own().name], 1, Limits(), lambda *_: None, place)


def test_the_page_says_what_came_of_each_claim(answers: Answers) -> None:
    name = own().name
    page = claims_page.markdown(answers)
    assert "* 0.1: TVM 0.1 is not installed\n" in page
    assert f"| claim | {name}, fixes off | {name}, fixes on |\n| --- | --- | --- |" in page
    assert "| [1](#claim-1). It fails | 1 of 2 right | right |\n" in page
    row = "| `by side`: one side \\| the other | **wrong-shape** | pass ≠ wrong-shape |"
    assert row in page
    assert f"* `by side` ({name} off): `said`\n" in page


def test_undeclared_results_are_reported(answers: Answers) -> None:
    assert claims_page.surprises(answers) == [
        f"by side on {own().name}, fixes on: pass (declared wrong-shape): said"
    ]


@pytest.mark.parametrize(
    ("name", "side", "verdict", "surprises"),
    [
        ("attention-window", "off", Verdict.OPAQUE_CRASH, False),
        ("attention-window", "on", Verdict.OPAQUE_CRASH, True),
        ("attention-window", "on", Verdict.PASS, False),
        ("by side", "off", Verdict.PASS, True),
    ],
)
def test_claims_without_a_declaration(
    answers: Answers, name: str, side: str, verdict: Verdict, surprises: bool
) -> None:
    """A case may fail without the fixes; of a check there has to be something declared."""
    (answer,) = answers.answers
    quiet = {
        "off": Cell(Verdict.PASS, "", Verdict.PASS),
        "on": Cell(Verdict.PASS, "", Verdict.PASS),
    }
    lines = tuple(
        replace(
            line, cells={own().name: {**quiet, side: Cell(verdict)} if line.name == name else quiet}
        )
        for line in answer.lines
    )
    new = replace(answers, answers=(replace(answer, lines=lines),))
    assert bool(claims_page.surprises(new)) == surprises
