"""``relaxcheck onnx suite``: its exit codes, its JSON, its drafts of rows."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from relaxcheck.cli import app
from relaxcheck.cli.actions.importers import onnx as action
from relaxcheck.harness.onnx.suite.expectations import Expectation
from relaxcheck.harness.onnx.suite.measuring import Measured
from relaxcheck.harness.onnx.suite.results import Result, failed, passed
from relaxcheck.harness.onnx.suite.tests import SuiteTest
from relaxcheck.harness.onnx.suite.worker import Job, selected
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.releases.releases import own

RUNNER = CliRunner()
CRASH = "InternalError: never seen before"


def measuring(result: Callable[[SuiteTest, bool], Result]) -> Callable[..., Measured]:
    """``measured``, where ``result`` says how a test ends with the fixes or without."""

    def measures(job: Job, release: object, show: Callable[[int, int], None]) -> Measured:
        return Measured(
            {test.name: result(test, job.fixes) for test in selected(job)}, {"Abs": (1,)}
        )

    return measures


@pytest.fixture(autouse=True)
def _without_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(action, "read", lambda: ())


def ends(monkeypatch: pytest.MonkeyPatch, off: Verdict, on: Verdict) -> None:
    def result(test: SuiteTest, fixes: bool) -> Result:
        verdict = on if fixes else off
        return passed(test) if verdict is Verdict.PASS else failed(test, verdict, "import", CRASH)

    monkeypatch.setattr(action, "measured", measuring(result))


@pytest.mark.parametrize(
    ("off", "on", "code", "says"),
    [
        (Verdict.PASS, Verdict.PASS, 0, "pass"),
        (Verdict.OPAQUE_CRASH, Verdict.PASS, 0, "opaque-crash"),
        (Verdict.OPAQUE_CRASH, Verdict.OPAQUE_CRASH, 1, f"test_abs: opaque-crash: {CRASH}"),
        (Verdict.PASS, Verdict.OPAQUE_CRASH, 1, "test_abs passes without the fixes; with them: o"),
        (Verdict.PASS, Verdict.HARNESS_ERROR, 3, "a fault of relaxcheck itself: test_abs, fixes"),
    ],
)
def test_the_exit_code_says_if_something_is_wrong(
    off: Verdict, on: Verdict, code: int, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends(monkeypatch, off, on)
    ended = RUNNER.invoke(app, ["onnx", "suite", "test_abs"])
    assert ended.exit_code == code
    assert says in ended.output


def test_json_has_the_table_the_results_and_the_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    ends(monkeypatch, Verdict.PASS, Verdict.OPAQUE_CRASH)
    ended = RUNNER.invoke(app, ["onnx", "suite", "test_abs", "--format", "json"])
    record = json.loads(ended.stdout)
    (release,) = record["results"]
    assert record["results"][release]["on"]["test_abs"]["verdict"] == "opaque-crash"
    assert len(record["problems"]) == 2
    row = next(
        each for each in record["rows"] if (each["operator"], each["version"]) == ("Abs", 13)
    )
    assert row["cells"][release]["off"] == {"converter": 1, "tests": {"pass": 1}, "bodies": {}}


def test_drafts_of_rows_are_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    ends(monkeypatch, Verdict.PASS, Verdict.OPAQUE_CRASH)
    ended = RUNNER.invoke(app, ["onnx", "suite", "test_abs", "--propose"])
    (draft,) = json.loads(ended.stdout)
    assert (draft["message"], draft["operators"], draft["why"]) == (CRASH, ["Abs"], "")


def test_the_page_is_written_to_the_checkout(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ends(monkeypatch, Verdict.OPAQUE_CRASH, Verdict.PASS)
    monkeypatch.setattr(action, "CHECKOUT", tmp_path)
    (tmp_path / "docs").mkdir()
    assert RUNNER.invoke(app, ["onnx", "suite", "--docs"]).exit_code == 0
    text = (tmp_path / "docs" / "onnx.md").read_text()
    assert "| `Abs` | 13 | 1 | 0, 1 crash → 1 |" in text.splitlines()


def test_rows_are_lowered_to_the_tests_that_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    ends(monkeypatch, Verdict.PASS, Verdict.PASS)
    row = Expectation(
        name="crash",
        why="It crashes.",
        verdict=Verdict.OPAQUE_CRASH,
        message=CRASH,
        releases={own().name: 3, "0.1": 1},
    )
    monkeypatch.setattr(action, "read", lambda: (row,))
    written: list[tuple[Expectation, ...]] = []
    monkeypatch.setattr(action, "write", written.append)
    # What it was lowered to is as expected.
    assert RUNNER.invoke(app, ["onnx", "suite", "--lower"]).exit_code == 0
    ((left,),) = written
    assert left.releases == {"0.1": 1}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["test_nothing"], "no test of ONNX is named test_nothing"),
        (["test_abs", "--docs"], "--docs is for a checkout, and for all tests"),
        (["--docs", "--fixes", "on"], "--docs is for a checkout, and for all tests"),
        (["test_abs", "--lower"], "--lower is for a checkout, and for all tests"),
        (["--lower", "--fixes", "off"], "--lower is for a checkout, and for all tests"),
        (
            ["test_abs", "--propose", "--fixes", "off"],
            "--propose is for failures with the fixes on",
        ),
        (["--tvm", "0.1"], "no release '0.1'"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], says: str) -> None:
    ended = RUNNER.invoke(app, ["onnx", "suite", *arguments])
    assert ended.exit_code == 2
    assert says in " ".join(ended.output.split())
