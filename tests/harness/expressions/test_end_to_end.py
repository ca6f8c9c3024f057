"""Faults of the analyzer are compiled in every place, with wider ranges, and run."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import pytest
from msgspec import UNSET
from msgspec.structs import replace
from typer.testing import CliRunner

from relaxcheck.cli import app
from relaxcheck.cli.actions.algebra import kernels as command
from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.expressions.cases import ANALYZED, INDEX, SIZES, VALUE, ExpressionCase
from relaxcheck.generators.expressions.family import family
from relaxcheck.generators.expressions.grid_values import evaluate, everywhere
from relaxcheck.generators.expressions.grids import grid
from relaxcheck.generators.expressions.language import Expression, Variable, variable
from relaxcheck.generators.expressions.subject import Problem
from relaxcheck.generators.expressions.text import parse
from relaxcheck.harness.expressions.end_to_end import (
    PLACES,
    Compiled,
    attempts,
    compile_all,
    of_the_analyzer,
)
from relaxcheck.harness.journal.journal import Journal, Mode
from relaxcheck.harness.kinds import of, read
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.finding import Finding, Reduced, finding_of
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.pool import Pool

AXES = family().axes
LOOP = Variable("x", "int32", 0, 1)


def parsed(text: str, *variables: Variable) -> Expression:
    return parse(text, {each.name: variable(each) for each in variables}, variables[0].dtype)


def asked(subject: Problem) -> ExpressionCase:
    at = dict(complete(AXES, {"position": ANALYZED, "told": "scope", "assumed": 1}))
    return ExpressionCase(family="algebra", at=at, subject=subject, about="simplify")


def finding(case: ExpressionCase, verdict: Verdict = Verdict.WRONG_VALUE) -> Finding:
    expression = str(case.subject.expression)
    outcome = Outcome(verdict, "analysis", "simplify", "it is wrong", cause=expression)
    return finding_of(Reduced(case, outcome, {"expression": expression}))


FALLING = asked(Problem((LOOP,), parsed("(1 - x) // 2", LOOP)))
RIGHT = asked(Problem((LOOP,), parsed("x + 1", LOOP)))
NEGATIVE = asked(Problem((), parsed("0 << (0 - 1)", LOOP)))


@pytest.fixture
def pool() -> Iterator[Pool]:
    with Pool(1) as started:
        yield started


def test_it_is_compiled_in_each_place_with_wider_ranges_too() -> None:
    for place in PLACES:
        tried = list(attempts(FALLING, place))
        assert {trial.position for trial in tried} == {place}
        assert {trial.at["told"] for trial in tried} == {"range"}
        assert all(trial.about is UNSET for trial in tried)
        ranges = [[(v.dtype, v.low, v.high) for v in trial.subject.variables] for trial in tried]
        dtype = "int64" if place in SIZES else "int32"
        # A size is never negative.
        below = [] if place in SIZES else [[(dtype, -2, 1)], [(dtype, -2, 9)]]
        assert ranges == [[(dtype, 0, 1)], [(dtype, 0, 3)], [(dtype, 0, 9)], *below]
    # And none is compiled for a variable that is always negative.
    negative = asked(Problem((Variable("x", "int32", -9, -3),), parsed("x + 9", LOOP)))
    (widest,) = attempts(negative, next(iter(SIZES)))
    assert [(v.low, v.high) for v in widest.subject.variables] == [(0, 5)]
    whole = Variable("x", "uint8", 0, 255)
    (alone,) = attempts(asked(Problem((whole,), parsed("x // 2", whole))), VALUE)
    assert alone.subject.variables == (whole,)


@pytest.mark.parametrize(
    ("expression", "other", "assumed", "right"),
    [
        ("x", None, ("x > 1", "x < 3"), [0, 0, 2, 0]),
        ("x % 2", "0", (), [1, 0, 1, 0]),
        ("x > 1", "x < 3", (), [0, 0, 1, 0]),
        ("x", "1", ("x < 2",), [0, 1, 0, 0]),
        ("x < 3", None, ("x > 1",), [0, 0, 1, 0]),
        # The condition that keeps the divisor from zero is not put around it.
        ("6 // (x + 1)", None, ("x > 1",), [6, 3, 2, 1]),
        ("x % 2 // 2", None, ("x > 1",), [0, 0, 0, 0]),
    ],
)
def test_assumptions_and_comparands_become_part_of_it(
    expression: str, other: str | None, assumed: Sequence[str], right: list[int]
) -> None:
    x = Variable("x", "int32", 0, 3)
    subject = Problem(
        (x,),
        parsed(expression, x),
        tuple(parsed(each, x) for each in assumed),
        None if other is None else parsed(other, x),
    )
    first = next(attempts(asked(subject), VALUE)).subject
    assert (first.constraints, first.other) == ((), None)
    points = grid(first.variables)
    values = everywhere(evaluate(first.expression, points), points)
    assert [int(each) for each in values] == right


def test_a_condition_is_an_index_as_a_number() -> None:
    condition = asked(Problem((LOOP,), parsed("x < 1", LOOP)))
    assert str(next(attempts(condition, INDEX)).subject.expression) == "select(x < 1, 1, 0)"
    assert str(next(attempts(condition, VALUE)).subject.expression) == "x < 1"


class Played:
    """A pool in which ``outcome`` says what comes of a case, fresh or not; ``fresh`` ran so."""

    def __init__(self, outcome: Callable[[ExpressionCase, bool], Verdict]):
        self._outcome = outcome
        self._jobs: list[Job] = []
        self.fresh: list[ExpressionCase] = []

    def submit(self, *jobs: Job) -> None:
        self._jobs += jobs

    def drain(self) -> Iterator[tuple[Job, Outcome]]:
        jobs, self._jobs = self._jobs, []
        for job in reversed(jobs):
            assert isinstance(job.case, ExpressionCase)
            self.fresh += [job.case] * job.fresh
            yield job, Outcome(self._outcome(job.case, job.fresh))


def test_failures_beside_others_alone_do_not_count() -> None:
    def outcome(case: ExpressionCase, fresh: bool) -> Verdict:
        wide = case.position == VALUE and case.subject.variables[0].high > 1
        return Verdict.WRONG_VALUE if wide and not fresh else Verdict.PASS

    pool = Played(outcome)
    (compiled,) = result = of_the_analyzer([finding(FALLING)])
    compile_all(pool, result)  # type: ignore[arg-type]
    assert (compiled.failed, compiled.right) == ({}, set(PLACES))
    # One after the other: as long as none comes again the next may.
    assert [case.subject.variables[0].high for case in pool.fresh] == [3, 9, 9]


def test_expressions_that_pass_alone_are_right_where_all_fail_beside_others() -> None:
    def outcome(case: ExpressionCase, fresh: bool) -> Verdict:
        together = case.position == VALUE and not fresh
        return Verdict.WRONG_VALUE if together else Verdict.PASS

    (compiled,) = result = of_the_analyzer([finding(FALLING)])
    compile_all(Played(outcome), result)  # type: ignore[arg-type]
    assert (compiled.failed, compiled.right) == ({}, set(PLACES))


def test_the_first_that_comes_again_counts() -> None:
    def outcome(case: ExpressionCase, fresh: bool) -> Verdict:
        if case.position == INDEX:
            return Verdict.NO_ORACLE
        if case.position == VALUE and case.subject.variables[0].high == 1:
            return Verdict.HARNESS_ERROR if not fresh else Verdict.PASS
        return Verdict.TIMEOUT if case.position == VALUE else Verdict.PASS

    (compiled,) = result = of_the_analyzer([finding(FALLING)])
    compile_all(Played(outcome), result)  # type: ignore[arg-type]
    case, ended = compiled.failed.pop(VALUE)
    assert (case.subject.variables[0].high, ended.verdict) == (3, Verdict.TIMEOUT)
    assert (compiled.failed, compiled.right) == ({}, set(SIZES))


def test_only_what_the_analyzer_was_asked_counts() -> None:
    compiled = finding(replace(FALLING, at={**FALLING.at, "position": INDEX}))
    result = of_the_analyzer([compiled, finding(FALLING)])
    assert [answer.case for answer in result] == [FALLING]


def test_a_wrong_index_is_found_where_the_range_is_wider(pool: Pool) -> None:
    result = of_the_analyzer([finding(FALLING), finding(RIGHT), finding(NEGATIVE)])
    compile_all(pool, result)
    falling, right, negative = result
    case, outcome = falling.failed.pop(INDEX)
    assert case.subject.variables == (replace(LOOP, high=3),)
    assert outcome.verdict is Verdict.WRONG_VALUE
    # It comes again in this process.
    assert of(case).execute(case, lambda _: None).verdict is Verdict.WRONG_VALUE
    assert (falling.failed, falling.right) == ({}, set(PLACES) - {INDEX})
    assert (right.failed, right.right) == ({}, set(PLACES))
    assert (set(negative.failed), negative.right) == (set(), set())


def campaign(folder: Path, *findings: Finding) -> Path:
    with Journal(folder, Mode.NEW) as journal:
        for finding in findings:
            journal.write_finding(finding.fingerprint, msgspec.json.encode(finding))
    return folder


@pytest.mark.tvm
def test_the_command_says_which_and_writes_their_cases(tmp_path: Path) -> None:
    runs = campaign(tmp_path / "runs", finding(FALLING), finding(RIGHT))
    out = tmp_path / "new" / "cases"
    ended = CliRunner().invoke(app, ["algebra", "kernels", str(runs), "--out", str(out)])
    assert ended.exit_code == 0, ended.output
    assert "Compiled 2 of 2 findings about the analyzer, 2 of them wrong" in ended.output
    assert "wrong for 1 of these, and fails in another way for 0 of all" in ended.output
    assert "(1 - x) // 2 at x = 1 is -1, and should be 0" in ended.output
    assert "x + 1" not in ended.output
    (file,) = out.iterdir()
    case = read(file)
    assert isinstance(case, ExpressionCase)
    assert case.position == INDEX
    assert file.stem == case.identifier


@pytest.mark.tvm
def test_failures_of_relaxcheck_are_distinguished_from_those_of_tvm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ours(pool: Pool, results: Sequence[Compiled]) -> None:
        for result in results:
            result.failed[VALUE] = result.case, Outcome(Verdict.HARNESS_ERROR, message="of ours")

    monkeypatch.setattr(command, "compile_all", ours)
    runs = campaign(tmp_path / "runs", finding(FALLING))
    out = tmp_path / "file"
    out.touch()
    ended = CliRunner().invoke(app, ["algebra", "kernels", str(runs), "--out", str(out)])
    assert ended.exit_code == 2
    ended = CliRunner().invoke(app, ["algebra", "kernels", str(runs)])
    assert ended.exit_code == 3
    assert "of ours" in ended.output
    ended = CliRunner().invoke(app, ["algebra", "kernels", str(runs), "--tvm", "0.1"])
    assert ended.exit_code == 2


def test_without_anything_to_compile_it_says_so(tmp_path: Path) -> None:
    runs = campaign(tmp_path / "runs")
    ended = CliRunner().invoke(app, ["algebra", "kernels", str(runs)])
    assert ended.exit_code == 2
    assert "has no finding about the analyzer" in " ".join(ended.output.split())
    ended = CliRunner().invoke(app, ["algebra", "kernels", str(tmp_path / "nowhere")])
    assert ended.exit_code == 2


@pytest.mark.tvm
def test_an_interruption_reports_the_compiled_expressions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = compile_all

    turns = []

    def second_interrupted(pool: Pool, results: Sequence[Compiled]) -> None:
        turns.append(results)
        if len(turns) == 2:
            raise KeyboardInterrupt
        compiled(pool, results)

    monkeypatch.setattr(command, "compile_all", second_interrupted)
    monkeypatch.setattr(command, "_LOT", 1)
    runs = campaign(tmp_path / "runs", finding(FALLING), finding(RIGHT))
    ended = CliRunner().invoke(app, ["algebra", "kernels", str(runs)])
    assert ended.exit_code == 130
    assert "Compiled 1 of 2 findings about the analyzer" in ended.output
