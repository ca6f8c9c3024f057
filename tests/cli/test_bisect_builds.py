"""``relaxcheck bisect --builds``: what it says, and its exit codes."""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner, Result

from relaxcheck.cli import app
from relaxcheck.generators.core.case import AnyCase
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.releases.many import Candidate
from relaxcheck.harness.triage.bisection import by_build
from relaxcheck.harness.triage.bisection.by_build import ByBuild, OnBuild
from relaxcheck.harness.workers.jobs import Limits

ENTRY = "conv3d-transpose-convert-layout"


@pytest.fixture
def nights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of four builds; outcomes are kept beside it."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "nights"
    for number in range(1, 5):
        (folder / f"night-{number}" / "bin").mkdir(parents=True)
        (folder / f"night-{number}" / "bin" / "python").touch()
    return folder


def called(
    nights: Path,
    outcomes: Sequence[Verdict | None],
    monkeypatch: pytest.MonkeyPatch,
    *arguments: str,
) -> tuple[Result, list[AnyCase]]:
    """The result of the command where the builds have ``outcomes``; None: it cannot run."""
    cases = []

    def on(
        case: AnyCase, candidate: Candidate, limits: Limits, show: Callable[[str], None]
    ) -> OnBuild:
        cases.append(case)
        assert limits.seconds == 60
        verdict = outcomes[int(candidate.name[-1]) - 1]
        if verdict is None:
            return OnBuild(candidate.name, missing="it lacks [torch]")
        fails = verdict.is_failure
        words = "KeyError: [key]" if fails else ""
        commit = f"{candidate.name[-1]}" * 40
        stage = "Gradient" if fails else None
        return OnBuild(candidate.name, "0.28.dev0", commit, verdict, stage, words)

    monkeypatch.setattr(by_build, "_on", on)
    command = ["bisect", ENTRY, "--builds", str(nights), *arguments]
    return CliRunner().invoke(app, command), cases


def test_the_first_that_fails_is_named_with_its_commits(
    nights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes = [Verdict.PASS, Verdict.PASS, Verdict.OPAQUE_CRASH, Verdict.OPAQUE_CRASH]
    result, cases = called(nights, outcomes, monkeypatch)
    assert result.exit_code == 0, result.output
    out = result.stdout
    assert "first that fails (opaque-crash): night-3; night-2 before it passes" in out
    assert f"the commits: git log {'2' * 12}..{'3' * 12}" in out
    assert "KeyError: [key]" in out
    assert "night-1: pass" in result.stderr
    # What ran is kept.
    assert "Outcomes are kept in runs/builds.jsonl." in out
    again, cases = called(nights, outcomes, monkeypatch)
    assert (again.exit_code, cases) == (0, [])
    assert again.stdout == out
    assert "it ran before" in again.stderr


def test_the_first_that_passes_is_named_over_those_that_say_nothing(
    nights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes = [Verdict.WRONG_VALUE, None, Verdict.UNSUPPORTED, Verdict.PASS]
    result, cases = called(nights, outcomes, monkeypatch, "--fixes", "on")
    assert result.exit_code == 0, result.output
    out = result.stdout
    assert "first that passes: night-4; night-1 before it fails (wrong-value)" in out
    assert "between them, and of no help: night-2, night-3" in out
    assert "not run: it lacks [torch]" in out
    assert all(case.fixes for case in cases)


@pytest.mark.parametrize(
    ("outcomes", "code", "words"),
    [
        ([Verdict.PASS] * 4, 3, "no change: the oldest and the newest that ran, it passes on both"),
        ([None] * 4, 2, "no build says anything about the case"),
        ([None, Verdict.WRONG_VALUE, None, None], 3, "only night-2 says anything"),
    ],
)
def test_no_change_is_said(
    outcomes: list[Verdict | None],
    code: int,
    words: str,
    nights: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    result, _ = called(nights, outcomes, monkeypatch)
    assert result.exit_code == code, result.output
    assert words in result.stdout


def test_json_is_one_object(nights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = [Verdict.PASS, Verdict.WRONG_VALUE, Verdict.WRONG_VALUE, Verdict.WRONG_VALUE]
    result, _ = called(nights, outcomes, monkeypatch, "--format", "json")
    found = msgspec.json.decode(result.stdout, type=ByBuild)
    assert (found.before, found.after, found.of) == ("night-1", "night-2", 4)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--builds", "nowhere"), "--builds nowhere: No such file or directory"),
        (("--builds", "."), "there are no builds; put two or more there"),
        (("--builds", "nights", "--tvm", "0.26"), "leave --tvm out"),
    ],
)
def test_bad_input_is_one_line(
    arguments: tuple[str, ...], words: str, nights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (nights.parent / "file").touch()
    monkeypatch.setenv("COLUMNS", "200")
    result = CliRunner().invoke(app, ["bisect", ENTRY, *arguments])
    assert result.exit_code == 2
    assert words in result.stderr
