"""The command that measures: what it keeps, what it merges, how it ends."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.measure.quality import __main__ as command
from tests.measure.quality import campaigns, record
from tests.measure.quality.record import Measured, Record, RecordError
from tests.measure.quality.section import Figures, Section, Show
from tests.measure.quality.sections import MissingSection


def standing_in(name: str) -> Section:
    def measure(share: float, workers: int, show: Show) -> Figures:
        show("measuring", 0.5)
        if name == "planted":
            raise KeyboardInterrupt
        return {"share": share, "workers": workers}

    return Section(
        name=name,
        title=f"About {name}",
        measure=measure,
        markdown=lambda figures: f"{name} measured on {figures['workers']} processes",
        missed=lambda figures: ["too slow"] if name == "coverage" else [],
    )


@pytest.fixture(autouse=True)
def sections(monkeypatch: pytest.MonkeyPatch) -> None:
    def section_or_missing(name: str) -> Section:
        if name == "mutation":
            raise MissingSection("section mutation is missing")
        return standing_in(name)

    monkeypatch.setattr(command, "section", section_or_missing)
    monkeypatch.setattr(record, "section", section_or_missing)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command.app, list(arguments))


def test_a_later_run_keeps_what_an_earlier_one_measured(tmp_path: Path) -> None:
    out = str(tmp_path / "report")
    assert run("tvm", "--workers", "2", "--share", "0.5", "--out", out).exit_code == 0
    assert run("false-alarms", "--workers", "3", "--out", out).exit_code == 0
    kept = record.read(tmp_path / "report").sections
    assert {name: section.figures["workers"] for name, section in kept.items()} == {
        "tvm": 2,
        "false-alarms": 3,
    }
    assert kept["tvm"].share == 0.5
    page = (tmp_path / "report" / "QUALITY.md").read_text()
    assert "tvm measured on 2 processes" in page
    assert "| planted | not measured |" in page


def test_a_missed_target_ends_with_1_and_stands_on_top(tmp_path: Path) -> None:
    result = run("coverage", "tvm", "--out", str(tmp_path))
    assert result.exit_code == 1
    assert "missed: coverage: too slow" in result.output
    assert "| coverage | **missed**: too slow |" in (tmp_path / "QUALITY.md").read_text()


def test_a_missing_section_is_one_line_and_the_others_are_measured(tmp_path: Path) -> None:
    result = run("mutation", "tvm", "--out", str(tmp_path))
    assert result.exit_code == 1
    assert "section mutation is missing" in result.output
    assert set(record.read(tmp_path).sections) == {"tvm"}


def test_an_interrupt_keeps_what_was_measured(tmp_path: Path) -> None:
    assert run("tvm", "planted", "coverage", "--out", str(tmp_path)).exit_code == 130
    assert set(record.read(tmp_path).sections) == {"tvm"}


@pytest.mark.parametrize("arguments", [("nothing",), ("tvm", "--share", "2"), ("--workers", "0")])
def test_bad_usage_ends_with_2(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert run(*arguments, "--out", str(tmp_path)).exit_code == 2
    assert not (tmp_path / "quality.json").exists()


@pytest.mark.parametrize("text", ["{", '{"format": 9}', '{"sections": 3, "format": 1}'])
def test_a_record_that_cannot_be_read_is_left_alone(tmp_path: Path, text: str) -> None:
    (tmp_path / "quality.json").write_text(text)
    with pytest.raises(RecordError):
        record.read(tmp_path)
    assert run("tvm", "--out", str(tmp_path)).exit_code == 2
    assert (tmp_path / "quality.json").read_text() == text


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    measured = Measured(
        "2026-01-01", 0.5, 2, 1.5, {"python": "3"}, {"workers": [{"x": None}]}, ("a",)
    )
    whole = Record().with_section("tvm", measured)
    record.write(whole, tmp_path)
    assert record.read(tmp_path) == whole


CLEAN: dict[str, Any] = {
    **{"cases": 10, "invalid": 2, "checks": 9, "failures": 0, "seed": 1, "fixes": True},
    **{"elapsed": 3.0, "cpu_seconds": {"tvm": 1.0}, "verdicts": {"pass": 8, "rejected": 2}},
    **{"by": {"family x": {"pass": 8, "rejected": 2}}, "judged_by_oracles": {"2": 8}},
    **{"largest_error_by_bound": {"family x": 0.5}, "splits_outside_as_well": 0, "gaps": {}},
    **{"not_looked_into": 0, "findings": [], "wanted": 10, "unended": 0, "all_unconstrained": 0},
}
GOOD = {"pass": 8, "rejected": 2}
SPLIT = {"verdict": "oracle-split", "operator": "a.b", "count": 2, "unexplained": []}


@pytest.mark.parametrize(
    ("changed", "lines"),
    [
        ({}, []),
        ({"failures": 1}, ["failures: 1 of 10, not 0"]),
        ({"verdicts": {"rejected": 1}}, ["invalid programs refused: 1 of 2"]),
        ({"verdicts": {"rejected": 2, "harness-error": 3}}, ["harness errors: 3, not 0"]),
        ({"cases": 9}, ["cases with a verdict: 9 of 10"]),
        ({"unended": 1}, ["cases that never ended: 1, not 0"]),
        ({"not_looked_into": 4}, ["failures not looked into: 4, not 0"]),
        ({"verdicts": {**GOOD, "no-oracle": 2}}, ["cases without an oracle: 2, not 0"]),
        ({"verdicts": {**GOOD, "no-oracle": 2}, "all_unconstrained": 2}, []),
        (
            {"verdicts": {**GOOD, "no-oracle": 3}, "all_unconstrained": 2},
            ["cases without an oracle: 1, not 0"],
        ),
        ({"verdicts": {**GOOD, "oracle-split": 2}}, ["oracle splits in findings: 0 of 2"]),
        ({"verdicts": {**GOOD, "oracle-split": 2}, "findings": [SPLIT]}, []),
        (
            {
                "verdicts": {**GOOD, "oracle-split": 2},
                "findings": [{**SPLIT, "unexplained": ["pytorch"]}],
            },
            ["oracle split of pytorch without an explanation: a.b, 2 cases"],
        ),
    ],
)
def test_the_targets_of_a_campaign(changed: Figures, lines: list[str]) -> None:
    assert campaigns.missed({**CLEAN, **changed}) == lines


def test_the_page_of_a_campaign_shows_its_counts_and_findings() -> None:
    finding = {"count": 4, "verdict": "wrong-value", "operator": "a.b", "blame": {"x": "1"}}
    by = {**CLEAN["by"], "regime special": {"pass": 9, "timeout": 1}}
    page = campaigns.markdown({**CLEAN, "by": by, "findings": [{**finding, "message": "a|b"}]})
    assert "| family x | 8 | 2 |" in page
    assert "By regime: special 1 of 10." in page
    assert "| 4 | wrong-value | a.b | x=1 | a\\|b |" in page


def test_the_commit_is_reported_where_there_is_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("tests/measure/quality", "reports/quality", "reports/tables"):
        (tmp_path / place).mkdir(parents=True)
    monkeypatch.setattr(record, "__file__", str(tmp_path / "tests/measure/quality/record.py"))
    assert record.commit() == ""

    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=x", "-c", "user.email=x@y.example")
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True)

    measured, source = (
        tmp_path / "reports/quality/QUALITY.md",
        tmp_path / "reports/tables/markdown.py",
    )
    measured.write_text("before")
    source.write_text("before")
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "-m", "all")
    head = record.commit()
    assert 7 <= len(head) <= 12
    measured.write_text("after")
    assert record.commit() == head
    source.write_text("after")
    assert record.commit() == f"{head}+"
