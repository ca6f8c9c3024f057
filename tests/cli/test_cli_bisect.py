"""``relaxcheck bisect``: what it says, and its exit codes."""

import io
import re
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from relaxcheck.cli import app
from relaxcheck.cli.actions import bisect as command
from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.case import AnyCase, write
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.expressions.family import family as algebra
from relaxcheck.harness.known.corpus import entry
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.releases.releases import Release
from relaxcheck.harness.triage.bisection.search import Bisected, Ending, Evidence, Trial, Tried
from relaxcheck.harness.triage.bisection.trace import OnRelease, Step
from relaxcheck.harness.workers.jobs import Job, Limits

ENTRY = "conv3d-transpose-convert-layout"
CONVERT, LEGALIZE = (Step(name, name, True) for name in ("ConvertLayout", "LegalizeOps"))
CULPRIT = Bisected(
    case="0123456789abcdef",
    verdict=Verdict.SILENT_BAIL,
    stage="LegalizeOps",
    message="left after LegalizeOps: [y]",
    culprit="ConvertLayout",
    evidence=Evidence.PREFIX,
    why="silent-bail with the passes up to it",
    operator="nn.op",
    node=Ending("y", "nn.op", Verdict.SILENT_BAIL),
    prefixes=(
        Tried(None, Verdict.PASS, None, ""),
        Tried(CONVERT, Verdict.SILENT_BAIL, "LegalizeOps", "left"),
        Tried(LEGALIZE, Verdict.SILENT_BAIL, "LegalizeOps", "left", needed=True),
    ),
    ablations=(Tried(CONVERT, Verdict.PASS, None, ""),),
    before="old",
    after="new",
    difference="--- before\n+++ after\n-old\n+new",
)
UNKNOWN = msgspec.structs.replace(
    CULPRIT, culprit=None, evidence=Evidence.NONE, why="any of [them]", before="", difference=""
)
FINE = Bisected(
    CULPRIT.case, Verdict.PASS, None, "", None, Evidence.NONE, "every output is right", "nn.op"
)
BROKEN = msgspec.structs.replace(
    FINE, verdict=Verdict.HARNESS_ERROR, stage="oracle", message="KeyError: [it]"
)


class FakePool:
    def __init__(self, size: int, limits: Limits, release: Release) -> None:
        assert (size, limits.seconds) == (1, 7)
        assert release == command.own()

    def __enter__(self) -> "FakePool":
        return self

    def __exit__(self, *_: object) -> None:
        pass


def called(
    result: Bisected, monkeypatch: pytest.MonkeyPatch, *arguments: str
) -> tuple[Result, list[Case]]:
    seen: list[Case] = []

    def bisected(pool: object, case: Case, report: object) -> Bisected:
        seen.append(case)
        report(1, SimpleNamespace(), SimpleNamespace())  # type: ignore[operator]
        return result

    def run_on(names: list[str], *_: object) -> list[OnRelease]:
        return [OnRelease(name, missing=f"TVM {name} is not installed") for name in names]

    monkeypatch.setattr(command, "known", lambda: ("0.1", command.own().name))
    monkeypatch.setattr(command, "run_on", run_on)
    monkeypatch.setattr(command, "Pool", FakePool)
    monkeypatch.setattr(command, "bisected", bisected)
    ended = CliRunner().invoke(app, ["bisect", ENTRY, "--case-seconds", "7", *arguments])
    return ended, seen


@pytest.mark.parametrize(
    ("result", "code", "message"),
    [
        (CULPRIT, 0, "culprit: ConvertLayout: silent-bail with the passes up to it"),
        (FINE, 2, "The case does not fail, so there is no pass to find: every output is right"),
        (UNKNOWN, 3, "culprit: unknown: any of [them]"),
        (BROKEN, 3, "harness-error in oracle"),
        (BROKEN, 3, "KeyError: [it]"),
    ],
)
def test_the_exit_code_says_whether_a_culprit_is_named(
    result: Bisected, code: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended, _ = called(result, monkeypatch)
    assert ended.exit_code == code
    assert message in ended.output


def test_tables_and_difference_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    ended, _ = called(CULPRIT, monkeypatch)
    rows = [line.replace("│", " ").split() for line in ended.output.splitlines()]
    assert ["(none)", "pass"] in rows
    assert ["ConvertLayout", "silent-bail", "LegalizeOps"] in rows
    assert ["LegalizeOps", "needed"] in rows
    assert ["ConvertLayout", "pass"] in rows
    assert ["-old"] in rows
    assert "left after LegalizeOps: [y]" in ended.output


def test_json_is_the_result_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    ended, _ = called(CULPRIT, monkeypatch, "--format", "json")
    result = msgspec.json.decode(ended.stdout, type=Bisected)
    assert result.by_release is not None
    own = command.own().name
    assert [release.release for release in result.by_release.releases] == ["0.1", own]
    # With one release, none is the first that fails.
    assert (result.by_release.first_bad, result.by_release.good_again) == (None, None)
    assert msgspec.structs.replace(result, by_release=None) == CULPRIT


def test_releases_are_listed_and_missing_ones_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = command.own().name
    ended, _ = called(CULPRIT, monkeypatch)
    # With one release, none is the first that fails.
    assert f"by release: {own} silent-bail\n" in ended.output
    assert "not run: TVM 0.1 is not installed" in ended.output
    ended, _ = called(FINE, monkeypatch)
    assert f"by release: {own} pass\n" in ended.output


@pytest.mark.parametrize(
    ("here", "before", "code", "message"),
    [
        (Verdict.OPAQUE_CRASH, Verdict.PASS, 0, "first that fails: {own}; first that"),
        (Verdict.PASS, Verdict.WRONG_VALUE, 0, "known to pass; first that passes again: {own}\n"),
        (
            Verdict.OPAQUE_CRASH,
            Verdict.WRONG_VALUE,
            0,
            "{own} opaque-crash; fails on every release",
        ),
        (Verdict.PASS, Verdict.PASS, 2, "by release: 0.1 pass, {own} pass\n"),
        (Verdict.HARNESS_ERROR, Verdict.PASS, 3, "harness-error in compiled"),
    ],
)
def test_an_expression_runs_on_each_release_and_no_pass_is_looked_for(
    here: Verdict, before: Verdict, code: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs: list[Job] = []

    class Answering(FakePool):
        def submit(self, job: Job) -> None:
            jobs.append(job)

        def drain(self) -> list[tuple[Job, Outcome]]:
            return [(job, Outcome(here, "compiled", "shape", "it [said]")) for job in jobs]

    def run_on(names: list[str], case: AnyCase, *_: object) -> list[OnRelease]:
        assert case == jobs[0].case
        return [OnRelease(name, before, "compiled") for name in names]

    own = command.own().name
    monkeypatch.setattr(command, "known", lambda: ("0.1", own))
    monkeypatch.setattr(command, "run_on", run_on)
    monkeypatch.setattr(command, "Pool", Answering)
    called = ["bisect", "size-if-then-else", "--case-seconds", "7", "--fixes", "on"]
    ended = CliRunner().invoke(app, called)
    assert ended.exit_code == code
    assert message.format(own=own) in ended.output
    assert "position shape, fixes on" in ended.output
    assert "it [said]" in ended.output
    assert not re.search("culprit|pass to find", ended.output)
    (job,) = jobs
    assert job.fresh
    assert job.case.fixes


def test_a_block_of_expressions_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "block.json"
    write(algebra().build(complete(algebra().axes, {}), 0), path)
    ended = CliRunner().invoke(app, ["bisect", str(path)])
    assert (ended.exit_code, ended.output.split(": ", 1)[1]) == (
        2,
        f"{path} is a batch; give one of its cases\n",
    )


@pytest.mark.parametrize(("switch", "fixes"), [("on", True), ("off", False)])
def test_the_fixes_are_as_asked(switch: str, fixes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    _, (case,) = called(CULPRIT, monkeypatch, "--fixes", switch)
    assert case.fixes is fixes


def test_on_a_terminal_each_run_overwrites_the_line_of_the_one_before() -> None:
    written = io.StringIO()
    case = entry(ENTRY).case
    watcher = command._Progress(Console(file=written, force_terminal=True, width=40), case)
    watcher.trial(1, Trial(case), Outcome(Verdict.SILENT_BAIL))
    watcher.trial(2, Trial(case, ("LegalizeOps",)), Outcome(Verdict.OPAQUE_CRASH))
    watcher.end()
    clear = "\r\x1b[0K"
    assert written.getvalue().split(clear) == [
        "",
        "run 1: silent-bail, the whole pipeline",
        "run 2: opaque-crash, without LegalizeOp",
        "",
    ]
