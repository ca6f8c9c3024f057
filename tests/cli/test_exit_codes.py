"""Exit codes: what each command ends with, and that it is written down in one place."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import msgspec
import pytest
from typer.testing import CliRunner

from relaxcheck.cli import SUMMARIES, app
from relaxcheck.cli.actions import replay
from relaxcheck.cli.actions.campaign import exit_code
from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.case import Invalid, Valid, write
from relaxcheck.generators.families import family
from relaxcheck.harness.campaign.state import Side, State
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.known.status import FindingStatus
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.outcomes.severity import severity_of
from relaxcheck.harness.triage.finding import Reduced, finding_of, unreduced
from relaxcheck.harness.workers import pool
from relaxcheck.harness.workers.jobs import Job

MEMBER = family("conv1d_transpose", tuple(PIPELINES))
CASE = MEMBER.build(complete(MEMBER.axes, {}), 0)
FAILED = Outcome(Verdict.SILENT_BAIL, "LegalizeOps", "toy", "left")
FINDING = finding_of(Reduced(CASE, FAILED, {}))
OTHER = finding_of(Reduced(CASE, FAILED, {"groups": "2"}))
MESSAGE = unreduced(
    msgspec.structs.replace(CASE, expect=Invalid("toy", ("groups",))),
    Outcome(Verdict.OPAQUE_CRASH, "emit", "toy", "InternalError: Check failed: i < n"),
)


@pytest.mark.parametrize(
    ("verdicts", "new", "known", "code"),
    [
        ((Verdict.PASS, Verdict.REJECTED, Verdict.ORACLE_SPLIT), (), (), 0),
        # An error message alone makes no run red, beside anything else it does not matter.
        ((Verdict.OPAQUE_CRASH,), (MESSAGE,), (), 0),
        ((Verdict.OPAQUE_CRASH,), (MESSAGE,), (FINDING,), 0),
        ((Verdict.SILENT_BAIL,), (FINDING, MESSAGE), (), 1),
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
    verdicts: tuple[Verdict, ...], new: tuple[Any, ...], known: tuple[Any, ...], code: int
) -> None:
    expected = Invalid("toy", ("groups",)) if MESSAGE in new else Valid()
    severities = (severity_of(verdict, expected) for verdict in verdicts)
    state = State(
        counts={Side(False, False): Counter(verdicts)},
        severities=Counter(filter(None, severities)),
        findings={fingerprinted.fingerprint: fingerprinted for fingerprinted in new},
        known={fingerprinted.fingerprint: FindingStatus.STILL for fingerprinted in known},
    )
    assert exit_code(state) == code


def test_uninvestigated_failures_are_new_unless_like_expected_ones() -> None:
    state = State(
        counts={Side(False, False): Counter([Verdict.SILENT_BAIL])},
        findings={FINDING.fingerprint: FINDING},
        known={FINDING.fingerprint: FindingStatus.STILL},
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


def judged(verdict: Verdict, stage: str | None = None) -> Outcome:
    return Outcome(verdict, stage, None, "said")


@pytest.mark.parametrize(
    ("outcomes", "code", "message"),
    [
        ((judged(Verdict.PASS), judged(Verdict.REJECTED)), 0, "2 cases: 2 PASSES"),
        ((judged(Verdict.PASS), judged(Verdict.NO_ORACLE)), 0, "2 cases: 1 PASSES, 1 UNDECIDED"),
        ((judged(Verdict.PASS), FAILED), 1, "2 cases: 1 FAILS, 1 PASSES"),
        ((FAILED, judged(Verdict.HARNESS_ERROR, "read")), 2, "2 cases: 1 FAILS, 1 UNDECIDED"),
        ((FAILED, judged(Verdict.HARNESS_ERROR, "oracle")), 3, "2 cases: 1 FAILS, 1 UNDECIDED"),
        ((judged(Verdict.PASS), KeyboardInterrupt()), 130, "1 case: 1 PASSES; 1 not run"),
        ((pool.PoolError("no workers"),), 2, "relaxcheck: no workers"),
    ],
)
def test_replay_ends_with(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    outcomes: tuple[Outcome | BaseException, ...],
    code: int,
    message: str,
) -> None:
    for number in range(2):
        write(CASE, tmp_path / f"{number}.json")
    monkeypatch.setattr(replay, "Pool", FakePool)
    monkeypatch.setattr(FakePool, "outcomes", outcomes)
    ended = CliRunner().invoke(app, ["replay", str(tmp_path)])
    assert (ended.exit_code, ended.output.splitlines()[-1]) == (code, message), ended.output


def test_every_command_is_in_the_table_and_tells_of_its_exit_codes() -> None:
    page = Path(__file__).resolve().parents[2].joinpath("docs", "exit-codes.md").read_text()
    named = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`.*?) \|", page, re.M))))
    commands = [name for panel in SUMMARIES.values() for name in panel]
    assert set(commands) == named
    for command in commands:
        assert "Exit codes" in CliRunner().invoke(app, [command, "--help"]).output, command
