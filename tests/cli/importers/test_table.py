"""``relaxcheck torch table``: its exit codes, its JSON, its page."""

from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from relaxcheck.cli import app
from relaxcheck.cli.actions.importers import torch as action
from relaxcheck.harness.torch.table.counting import Table
from relaxcheck.harness.torch.table.selecting import DECOMPOSED, FORMS, Subject
from relaxcheck.reports.torch.table import page
from tests.reports.torch.test_table import TABLE

RUNNER = CliRunner()


@pytest.fixture(autouse=True)
def _without_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    subjects = tuple(Subject(row.kind, row.name, {}) for row in TABLE.rows)
    monkeypatch.setattr(action, "subjects", lambda families: subjects)
    monkeypatch.setattr(action, "counted", lambda *arguments: TABLE)


def test_what_fails_with_the_fixes_alone_is_named_and_an_error() -> None:
    ended = RUNNER.invoke(app, ["torch", "table"])
    assert ended.exit_code == 1, ended.output
    assert "Linear, dynamic, TVM 0.27: pass → crash" in ended.output


def test_a_table_without_regressions_ends_with_0(monkeypatch: pytest.MonkeyPatch) -> None:
    right = msgspec.structs.replace(TABLE, rows=TABLE.rows[:1])
    monkeypatch.setattr(action, "counted", lambda *arguments: right)
    ended = RUNNER.invoke(app, ["torch", "table", "--format", "json"])
    assert ended.exit_code == 0, ended.output
    assert msgspec.json.decode(ended.stdout, type=Table) == right
    assert tuple(right.rows[0].cells) == FORMS
    assert DECOMPOSED in FORMS


def test_a_fault_of_relaxcheck_has_a_code_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = msgspec.structs.replace(TABLE, faults=("torch.add on 0.27, fixes off: why",))
    monkeypatch.setattr(action, "counted", lambda *arguments: broken)
    ended = RUNNER.invoke(app, ["torch", "table"])
    assert ended.exit_code == 3
    assert "fixes off: why" in ended.output


def test_the_page_and_its_figures_are_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "docs").mkdir()
    monkeypatch.setattr(action, "CHECKOUT", tmp_path)
    RUNNER.invoke(app, ["torch", "table", "--docs"])
    assert (tmp_path / "docs" / "torch.md").read_text() == page(TABLE)
    data = (tmp_path / "docs" / "torch.json").read_bytes()
    assert msgspec.json.decode(data, type=Table) == TABLE


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nothing.default"], "no layer: nothing.default"),
        (["Linear", "--docs"], "--docs is for a checkout"),
    ],
)
def test_wrong_names_are_one_line(arguments: list[str], says: str) -> None:
    ended = RUNNER.invoke(app, ["torch", "table", *arguments])
    assert ended.exit_code == 2
    assert says in " ".join(ended.output.split())
