"""Exit codes: what each command ends with, and that it is written down in one place."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest
from typer.testing import CliRunner

from generators.axes import complete
from generators.families import family
from generators.program import write
from harness import pool
from harness.cli import app, replay
from harness.cli.running import exit_code
from harness.fates import Fate
from harness.finding import Reduced, finding_of
from harness.jobs import Job
from harness.outcome import Outcome, Verdict
from harness.pipelines import PIPELINES
from harness.state import Side, State

MEMBER = family("conv1d_transpose", tuple(PIPELINES))
CASE = MEMBER.build(complete(MEMBER.axes, {}), 0)
FAILED = Outcome(Verdict.SILENT_BAIL, "LegalizeOps", "toy", "left")
FINDING = finding_of(Reduced(CASE, FAILED, {}))
OTHER = finding_of(Reduced(CASE, FAILED, {"groups": "2"}))


@pytest.mark.parametrize(
    ("verdicts", "found", "known", "code"),
    [
        ((Verdict.PASS, Verdict.REJECTED, Verdict.ORACLE_SPLIT), (), (), 0),
        ((Verdict.SILENT_BAIL,), (), (), 1),
        ((Verdict.SILENT_BAIL,), (FINDING,), (), 1),
        ((Verdict.SILENT_BAIL,), (FINDING,), (FINDING,), 0),
        ((Verdict.SILENT_BAIL,), (FINDING, OTHER), (FINDING,), 1),
        # Nothing that was drawn met it, but its case still fails, and it has expired.
        ((Verdict.PASS,), (FINDING,), (), 1),
        ((Verdict.SILENT_BAIL, Verdict.HARNESS_ERROR), (FINDING,), (), 3),
    ],
)
def test_a_campaign_ends_with(
    verdicts: tuple[Verdict, ...], found: tuple[Any, ...], known: tuple[Any, ...], code: int
) -> None:
    state = State(
        counts={Side(False, False): Counter(verdicts)},
        findings={one.fingerprint: one for one in found},
        known={one.fingerprint: Fate.STILL for one in known},
    )
    assert exit_code(state) == code


def test_what_was_not_looked_into_is_new_unless_it_fails_like_what_is_known() -> None:
    state = State(
        counts={Side(False, False): Counter([Verdict.SILENT_BAIL])},
        findings={FINDING.fingerprint: FINDING},
        known={FINDING.fingerprint: Fate.STILL},
        investigating=2,
    )
    assert exit_code(state) == 0
    state.unexplained = 1
    assert exit_code(state) == 1


class FakePool:
    """Answers each case in turn with the next of ``outcomes``; then it is interrupted."""

    environment = {"apache-tvm": "0.27.0"}  # noqa: RUF012
    outcomes: tuple[Outcome | BaseException, ...] = ()

    def __init__(self, *_: object, **__: object):
        self.jobs: list[Job] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def submit(self, *jobs: Job) -> None:
        self.jobs.extend(jobs)

    def drain(self) -> Iterator[tuple[Job, Outcome]]:
        jobs, self.jobs = self.jobs, []
        for job, outcome in zip(jobs, self.outcomes, strict=False):
            if isinstance(outcome, BaseException):
                raise outcome
            yield job, outcome


def told(verdict: Verdict, stage: str | None = None) -> Outcome:
    return Outcome(verdict, stage, None, "said")


@pytest.mark.parametrize(
    ("outcomes", "code", "said"),
    [
        ((told(Verdict.PASS), told(Verdict.REJECTED)), 0, "2 cases: 2 PASSES"),
        ((told(Verdict.PASS), told(Verdict.NO_ORACLE)), 0, "2 cases: 1 PASSES, 1 UNDECIDED"),
        ((told(Verdict.PASS), FAILED), 1, "2 cases: 1 FAILS, 1 PASSES"),
        ((FAILED, told(Verdict.HARNESS_ERROR, "read")), 2, "2 cases: 1 FAILS, 1 UNDECIDED"),
        ((FAILED, told(Verdict.HARNESS_ERROR, "oracle")), 3, "2 cases: 1 FAILS, 1 UNDECIDED"),
        ((told(Verdict.PASS), KeyboardInterrupt()), 130, "1 case: 1 PASSES; 1 not run"),
        ((pool.PoolError("no workers"),), 2, "relaxcheck: no workers"),
    ],
)
def test_replay_ends_with(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    outcomes: tuple[Outcome | BaseException, ...],
    code: int,
    said: str,
) -> None:
    for number in range(2):
        write(CASE, tmp_path / f"{number}.json")
    monkeypatch.setattr(replay, "Pool", FakePool)
    monkeypatch.setattr(FakePool, "outcomes", outcomes)
    ended = CliRunner().invoke(app, ["replay", str(tmp_path)])
    assert (ended.exit_code, ended.output.splitlines()[-1]) == (code, said), ended.output


def test_every_command_is_in_the_table_and_tells_of_its_exit_codes() -> None:
    page = Path(__file__).resolve().parents[2].joinpath("docs", "exit-codes.md").read_text()
    named = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`.*?) \|", page, re.M))))
    commands = [one.name or one.callback.__name__ for one in app.registered_commands]  # type: ignore[union-attr]
    groups = [str(one.name) for one in app.registered_groups]
    assert {*commands, *groups} == named
    for command in (*commands, *groups):
        assert "Exit codes" in CliRunner().invoke(app, [command, "--help"]).output, command
