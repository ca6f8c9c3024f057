"""``relaxcheck torch regressions``: its exit codes, lines, JSON and files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner

from relaxcheck.cli import app
from relaxcheck.cli.actions.importers import regressions as action
from relaxcheck.harness.kinds import read
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.torch.table.regressing import Comparison, Ended, Subject

RUNNER = CliRunner()


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def ending(monkeypatch: pytest.MonkeyPatch) -> Any:
    def ends(off: Verdict, on: Verdict) -> None:
        def compared(wanted: Sequence[Subject], *_: object) -> Comparison:
            ended = tuple(
                Ended(
                    *(each.entry, each.label, each.form, "0.27", each.case.identifier),
                    *(off, on, "", "the reason"),
                )
                for each in wanted
            )
            regressions = tuple(each for each in ended if each.regresses)
            return Comparison({"0.27": "0.27.0"}, ended, regressions)

        monkeypatch.setattr(action, "compared", compared)

    return ends


def test_a_regression_is_named_and_its_case_can_be_replayed(ending: Any, tmp_path: Path) -> None:
    ending(Verdict.PASS, Verdict.WRONG_VALUE)
    arguments = ["torch", "regressions", "tanh", "--samples", "1", "--out", str(tmp_path / "new")]
    ended = RUNNER.invoke(app, arguments)
    assert ended.exit_code == 1, ended.output
    lines = [line for line in ended.output.splitlines() if line.startswith("tanh (")]
    assert len(lines) == 4
    assert "from_fx, TVM 0.27, case " in lines[2]
    assert lines[2].endswith("passes without the fixes; with them wrong-value: the reason")
    cases = [read(file) for file in (tmp_path / "new" / "0.27").iterdir()]
    assert {case.family for case in cases} == {"torch-tanh"}
    assert {case.identifier for case in cases} == {line.split("case ")[1][:16] for line in lines}


def test_a_known_regression_is_marked_and_no_failure(ending: Any, tmp_path: Path) -> None:
    ending(Verdict.PASS, Verdict.WRONG_VALUE)
    first, known = ["torch", "regressions", "tanh", "--samples", "1"], str(tmp_path / "first")
    RUNNER.invoke(app, [*first, "--out", known])
    ended = RUNNER.invoke(app, [*first, "--known", known])
    assert ended.exit_code == 0, ended.output
    lines = [line for line in ended.output.splitlines() if "tanh (" in line]
    assert len(lines) == 4
    assert all(line.startswith("known: ") for line in lines)
    # What is new comes first.
    more = ["torch", "regressions", "tanh", "sinh", "--samples", "1", "--known", known]
    ended = RUNNER.invoke(app, more)
    assert ended.exit_code == 1, ended.output
    lines = [line for line in ended.output.splitlines() if "nh (" in line]
    assert [line.partition(" (")[0] for line in lines] == ["sinh"] * 4 + ["known: tanh"] * 4


def test_a_folder_that_is_missing_is_one_line() -> None:
    ended = RUNNER.invoke(app, ["torch", "regressions", "tanh", "--known", "nowhere"])
    assert ended.exit_code == 2
    assert "--known nowhere: no such folder" in ended.output


def test_no_regression_ends_with_0(ending: Any) -> None:
    ending(Verdict.WRONG_VALUE, Verdict.PASS)
    ended = RUNNER.invoke(app, ["torch", "regressions", "tanh", "--format", "json"])
    assert ended.exit_code == 0, ended.output
    found = msgspec.json.decode(ended.stdout, type=Comparison)
    assert {each.entry for each in found.ended} == {"tanh"}


def test_a_fault_of_relaxcheck_has_a_code_of_its_own(ending: Any) -> None:
    ending(Verdict.PASS, Verdict.HARNESS_ERROR)
    ended = RUNNER.invoke(app, ["torch", "regressions", "tanh", "--samples", "1"])
    assert ended.exit_code == 3, ended.output
    assert "a fault of relaxcheck itself: tanh (" in ended.output


def test_an_unknown_entry_is_one_line() -> None:
    ended = RUNNER.invoke(app, ["torch", "regressions", "nothing"])
    assert ended.exit_code == 2
    assert "no entry with samples: nothing (see relaxcheck families)" in ended.output
