"""The cases of a conformance run, and running them through both pipelines."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from relaxcheck.generators.core.case import AnyCase, CaseError, encode
from relaxcheck.harness.conforming.cases import cases
from relaxcheck.harness.conforming.comparing import Cell, Standing
from relaxcheck.harness.conforming.running import Comparison, by, compared, looked_into
from relaxcheck.harness.outcomes.keeping import Kept
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.workers.jobs import Job

TVMS, THEIRS = "default-pipeline", "mine:passes"


class Instant:
    """A pool that computes nothing: ``wrong`` says which cases are wrong; ``ran`` are all."""

    def __init__(self, wrong: dict[str, set[str]]) -> None:
        self.environment = {"apache-tvm": "0.27.0"}
        self._wrong, self._jobs, self.ran = wrong, [], []  # type: ignore[var-annotated]

    def submit(self, *jobs: Job, first: bool = False) -> None:
        self._jobs += jobs

    def drain(self) -> Iterator[tuple[Job, Outcome]]:
        while self._jobs:
            job = self._jobs.pop(0)
            self.ran.append(job.case)
            wrong = job.case.family in self._wrong[job.case.pipeline]
            yield job, Outcome(Verdict.WRONG_VALUE if wrong else Verdict.PASS, "compare")


def comparison(folder: Path, theirs_sources: str = "1") -> Comparison:
    kept = [
        Kept(folder / "yours.jsonl", Cell, theirs_sources),
        Kept(folder / "tvms.jsonl", Cell, "ours"),
    ]
    return Comparison(THEIRS, TVMS, "0.27", *kept)


def chosen(*names: str, most: int | None = None) -> list[AnyCase]:
    return [by(case, THEIRS) for case in cases(names, TVMS, fixes=False, most=most)]


def test_every_family_comes_before_any_comes_again() -> None:
    first = cases(None, TVMS, fixes=True, most=300)
    assert len(first) == 300
    often = Counter(case.family for case in first)
    assert max(often.values()) == 2
    assert all(case.fixes and case.pipeline == TVMS for case in first)  # type: ignore[attr-defined]


def test_the_corpus_is_a_part() -> None:
    names = {case.family for case in cases(None, TVMS, fixes=False, most=None)}
    assert {"onnx-Resize", "dynamic", "softmax"} <= names
    assert "kvcache" not in names


@pytest.mark.parametrize(
    ("name", "message"),
    [("kvcache", "the family kvcache is compiled by no pipeline"), ("softmix", "no family")],
)
def test_a_family_that_has_no_pipeline_is_bad_input(name: str, message: str) -> None:
    with pytest.raises(CaseError, match=message):
        chosen(name)


def test_both_pipelines_run_every_case_and_what_ran_is_kept(tmp_path: Path) -> None:
    wanted = chosen("exp", "tanh", most=8)
    pool = Instant({THEIRS: {"exp"}, TVMS: set()})
    shown = []
    pairs = list(compared(comparison(tmp_path), wanted, pool, lambda *each: shown.append(each)))  # type: ignore[arg-type]
    assert [pair.case for pair in pairs] == wanted
    assert {pair.case.family: pair.standing for pair in pairs} == {
        "exp": Standing.WORSE,
        "tanh": Standing.RIGHT,
    }
    assert {encode(case) for case in pool.ran} == {
        encode(by(case, name)) for case in wanted for name in (THEIRS, TVMS)
    }
    assert shown[-1] == ("cases", 8, 8)
    again = comparison(tmp_path)
    idle = Instant({})
    assert list(compared(again, wanted, idle, lambda *_: None)) == pairs  # type: ignore[arg-type]
    assert (idle.ran, again.kept_theirs.reused, again.kept_tvms.reused) == ([], 8, 8)


def test_a_changed_pipeline_runs_again_and_tvms_does_not(tmp_path: Path) -> None:
    wanted = chosen("exp", most=4)
    first = Instant({THEIRS: {"exp"}, TVMS: set()})
    list(compared(comparison(tmp_path), wanted, first, lambda *_: None))  # type: ignore[arg-type]
    mended = Instant({THEIRS: set(), TVMS: set()})
    pairs = list(compared(comparison(tmp_path, "2"), wanted, mended, lambda *_: None))  # type: ignore[arg-type]
    assert {pair.standing for pair in pairs} == {Standing.RIGHT}
    assert mended.ran == wanted


def test_what_was_compared_before_an_interruption_stands(tmp_path: Path) -> None:
    wanted = chosen("exp", most=6)
    pool = Instant({THEIRS: set(), TVMS: set()})
    for pair in compared(comparison(tmp_path), wanted, pool, lambda *_: None):  # type: ignore[arg-type]
        assert pair.case == wanted[0]
        break
    rest = Instant({THEIRS: set(), TVMS: set()})
    assert len(list(compared(comparison(tmp_path), wanted, rest, lambda *_: None))) == 6  # type: ignore[arg-type]
    assert 0 < len(rest.ran) < 12
    assert wanted[0] not in rest.ran


def test_a_failure_that_does_not_come_again_is_not_looked_into(tmp_path: Path) -> None:
    wanted = chosen("exp", most=2)
    pool = Instant({THEIRS: {"exp"}, TVMS: set()})
    made = comparison(tmp_path)
    pairs = list(compared(made, wanted, pool, lambda *_: None))  # type: ignore[arg-type]
    steady = Instant({THEIRS: set(), TVMS: set()})
    (only,) = looked_into(made, pairs, steady, lambda *_: None)  # type: ignore[arg-type]
    assert (only.culprit, only.why) == ("", "it ended otherwise when it ran again")
    assert only.example in wanted
