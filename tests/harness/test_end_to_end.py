"""What the analyzer gets wrong is compiled in every place, with wider ranges, and run."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import pytest
from msgspec import UNSET
from msgspec.structs import replace
from typer.testing import CliRunner

from generators.algebra_case import ExpressionCase
from generators.algebra_family import family
from generators.axes import complete
from generators.cases import read
from generators.expression_cases import ANALYZED, INDEX, SIZES, VALUE, Member
from generators.expression_text import parse
from generators.expressions import Expression, Variable, variable
from generators.grid_values import evaluate, everywhere
from generators.grids import grid
from harness.cli import app
from harness.cli import kernels as command
from harness.conduct import conduct
from harness.end_to_end import PLACES, Compiled, attempts, compile_all, of_the_analyzer
from harness.finding import Finding, Reduced, finding_of
from harness.jobs import Job
from harness.journal import Journal, Mode
from harness.outcome import Outcome, Verdict
from harness.pool import Pool

AXES = family().axes
LOOP = Variable("x", "int32", 0, 1)


def parsed(text: str, *variables: Variable) -> Expression:
    return parse(text, {one.name: variable(one) for one in variables}, variables[0].dtype)


def asked(subject: ExpressionCase) -> Member:
    at = dict(complete(AXES, {"position": ANALYZED, "told": "scope", "assumed": 1}))
    return Member(family="algebra", at=at, subject=subject, about="simplify")


def finding(case: Member, verdict: Verdict = Verdict.WRONG_VALUE) -> Finding:
    expression = str(case.subject.expression)
    outcome = Outcome(verdict, "analysis", "simplify", "it is wrong", cause=expression)
    return finding_of(Reduced(case, outcome, {"expression": expression}))


FALLING = asked(ExpressionCase((LOOP,), parsed("(1 - x) // 2", LOOP)))
RIGHT = asked(ExpressionCase((LOOP,), parsed("x + 1", LOOP)))
NEGATIVE = asked(ExpressionCase((), parsed("0 << (0 - 1)", LOOP)))


@pytest.fixture
def pool() -> Iterator[Pool]:
    with Pool(1) as started:
        yield started


def test_it_is_compiled_in_each_place_with_wider_ranges_too() -> None:
    for place in PLACES:
        tried = list(attempts(FALLING, place))
        assert {one.position for one in tried} == {place}
        assert {one.at["told"] for one in tried} == {"range"}
        assert all(one.about is UNSET for one in tried)
        ranges = [[(v.dtype, v.low, v.high) for v in one.subject.variables] for one in tried]
        dtype = "int64" if place in SIZES else "int32"
        # A size is never negative.
        below = [] if place in SIZES else [[(dtype, -2, 1)], [(dtype, -2, 9)]]
        assert ranges == [[(dtype, 0, 1)], [(dtype, 0, 3)], [(dtype, 0, 9)], *below]
    # And none is compiled for a variable that is always negative.
    negative = asked(ExpressionCase((Variable("x", "int32", -9, -3),), parsed("x + 9", LOOP)))
    (widest,) = attempts(negative, next(iter(SIZES)))
    assert [(v.low, v.high) for v in widest.subject.variables] == [(0, 5)]
    whole = Variable("x", "uint8", 0, 255)
    (alone,) = attempts(asked(ExpressionCase((whole,), parsed("x // 2", whole))), VALUE)
    assert alone.subject.variables == (whole,)


@pytest.mark.parametrize(
    ("expression", "other", "assumed", "right"),
    [
        ("x", None, ("x > 1", "x < 3"), [0, 0, 2, 0]),
        ("x % 2", "0", (), [1, 0, 1, 0]),
        ("x > 1", "x < 3", (), [0, 0, 1, 0]),
        ("x", "1", ("x < 2",), [0, 1, 0, 0]),
        ("x < 3", None, ("x > 1",), [0, 0, 1, 0]),
        # What keeps the divisor from zero is not put around it.
        ("6 // (x + 1)", None, ("x > 1",), [6, 3, 2, 1]),
        ("x % 2 // 2", None, ("x > 1",), [0, 0, 0, 0]),
    ],
)
def test_what_is_assumed_and_what_is_compared_become_part_of_it(
    expression: str, other: str | None, assumed: Sequence[str], right: list[int]
) -> None:
    x = Variable("x", "int32", 0, 3)
    subject = ExpressionCase(
        (x,),
        parsed(expression, x),
        tuple(parsed(one, x) for one in assumed),
        None if other is None else parsed(other, x),
    )
    first = next(attempts(asked(subject), VALUE)).subject
    assert (first.constraints, first.other) == ((), None)
    points = grid(first.variables)
    values = everywhere(evaluate(first.expression, points), points)
    assert [int(one) for one in values] == right


def test_a_condition_is_an_index_as_a_number() -> None:
    condition = asked(ExpressionCase((LOOP,), parsed("x < 1", LOOP)))
    assert str(next(attempts(condition, INDEX)).subject.expression) == "select(x < 1, 1, 0)"
    assert str(next(attempts(condition, VALUE)).subject.expression) == "x < 1"


class Played:
    """A pool in which ``outcome`` says what comes of a case, fresh or not; ``fresh`` ran so."""

    def __init__(self, outcome: Callable[[Member, bool], Verdict]):
        self._outcome = outcome
        self._jobs: list[Job] = []
        self.fresh: list[Member] = []

    def submit(self, *jobs: Job) -> None:
        self._jobs += jobs

    def drain(self) -> Iterator[tuple[Job, Outcome]]:
        jobs, self._jobs = self._jobs, []
        for job in reversed(jobs):
            assert isinstance(job.case, Member)
            self.fresh += [job.case] * job.fresh
            yield job, Outcome(self._outcome(job.case, job.fresh))


def test_what_fails_beside_others_alone_does_not_count() -> None:
    def outcome(case: Member, fresh: bool) -> Verdict:
        wide = case.position == VALUE and case.subject.variables[0].high > 1
        return Verdict.WRONG_VALUE if wide and not fresh else Verdict.PASS

    pool = Played(outcome)
    (one,) = found = of_the_analyzer([finding(FALLING)])
    compile_all(pool, found)  # type: ignore[arg-type]
    assert (one.failed, one.right) == ({}, set(PLACES))
    # One after the other: as long as none comes again the next may.
    assert [case.subject.variables[0].high for case in pool.fresh] == [3, 9, 9]


def test_what_passes_alone_is_right_where_all_fail_beside_others() -> None:
    def outcome(case: Member, fresh: bool) -> Verdict:
        together = case.position == VALUE and not fresh
        return Verdict.WRONG_VALUE if together else Verdict.PASS

    (one,) = found = of_the_analyzer([finding(FALLING)])
    compile_all(Played(outcome), found)  # type: ignore[arg-type]
    assert (one.failed, one.right) == ({}, set(PLACES))


def test_the_first_that_comes_again_counts() -> None:
    def outcome(case: Member, fresh: bool) -> Verdict:
        if case.position == INDEX:
            return Verdict.NO_ORACLE
        if case.position == VALUE and case.subject.variables[0].high == 1:
            return Verdict.HARNESS_ERROR if not fresh else Verdict.PASS
        return Verdict.TIMEOUT if case.position == VALUE else Verdict.PASS

    (one,) = found = of_the_analyzer([finding(FALLING)])
    compile_all(Played(outcome), found)  # type: ignore[arg-type]
    case, ended = one.failed.pop(VALUE)
    assert (case.subject.variables[0].high, ended.verdict) == (3, Verdict.TIMEOUT)
    assert (one.failed, one.right) == ({}, set(SIZES))


def test_only_what_the_analyzer_was_asked_counts() -> None:
    compiled = finding(replace(FALLING, at={**FALLING.at, "position": INDEX}))
    found = of_the_analyzer([compiled, finding(FALLING)])
    assert [one.case for one in found] == [FALLING]


def test_a_wrong_index_is_found_where_the_range_is_wider(pool: Pool) -> None:
    found = of_the_analyzer([finding(FALLING), finding(RIGHT), finding(NEGATIVE)])
    compile_all(pool, found)
    falling, right, negative = found
    case, outcome = falling.failed.pop(INDEX)
    assert case.subject.variables == (replace(LOOP, high=3),)
    assert outcome.verdict is Verdict.WRONG_VALUE
    # It comes again in this process.
    assert conduct(case, lambda _: None).verdict is Verdict.WRONG_VALUE
    assert (falling.failed, falling.right) == ({}, set(PLACES) - {INDEX})
    assert (right.failed, right.right) == ({}, set(PLACES))
    assert (set(negative.failed), negative.right) == (set(), set())


def campaign(folder: Path, *findings: Finding) -> Path:
    with Journal(folder, Mode.NEW) as journal:
        for one in findings:
            journal.write_finding(one.fingerprint, msgspec.json.encode(one))
    return folder


def test_the_command_says_which_and_writes_their_cases(tmp_path: Path) -> None:
    runs = campaign(tmp_path / "runs", finding(FALLING), finding(RIGHT))
    out = tmp_path / "new" / "cases"
    ended = CliRunner().invoke(app, ["algebra", "kernels", str(runs), "--out", str(out)])
    assert ended.exit_code == 0, ended.output
    assert "2 of 2 findings about the analyzer compiled, of which 2 are wrong" in ended.output
    assert "wrong for 1 of these, and fails otherwise for 0 of all" in ended.output
    assert "(1 - x) // 2 at x = 1 is -1, and should be 0" in ended.output
    assert "x + 1" not in ended.output
    (file,) = out.iterdir()
    case = read(file)
    assert isinstance(case, Member)
    assert case.position == INDEX
    assert file.stem == case.identifier


def test_what_is_ours_is_told_apart_from_what_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ours(pool: Pool, found: Sequence[Compiled]) -> None:
        for one in found:
            one.failed[VALUE] = one.case, Outcome(Verdict.HARNESS_ERROR, message="of ours")

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


def test_interrupted_it_tells_what_was_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = compile_all

    turns = []

    def second_interrupted(pool: Pool, found: Sequence[Compiled]) -> None:
        turns.append(found)
        if len(turns) == 2:
            raise KeyboardInterrupt
        compiled(pool, found)

    monkeypatch.setattr(command, "compile_all", second_interrupted)
    monkeypatch.setattr(command, "_LOT", 1)
    runs = campaign(tmp_path / "runs", finding(FALLING), finding(RIGHT))
    ended = CliRunner().invoke(app, ["algebra", "kernels", str(runs)])
    assert ended.exit_code == 130
    assert "1 of 2 findings about the analyzer compiled" in ended.output
