"""The command line as a user meets it: real processes, exit codes, one line for bad input."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.case import encode, write
from relaxcheck.generators.families import family
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.journal.journal import Journal, Mode
from relaxcheck.harness.kinds import decode_record
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.workers.jobs import Limits

pytestmark = pytest.mark.tvm

COMMAND = [sys.executable, "-m", "relaxcheck"]

CAMPAIGN = ("conv1d_transpose", "--cases", 12, "--minutes", 3, "--seed", 5)
"""A short campaign that finds something."""


def run(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path.cwd()), *sys.path])}
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env=environment,
        timeout=300,
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("replay", "no-such-thing"), "no case 'no-such-thing'"),
        (("replay", "bad.json"), "bad.json: not JSON"),
        (("replay", "other.json"), "other.json: format 99 is unknown; this version reads 1"),
        (("replay", "missing.json"), "missing.json: No such file"),
        (("replay", "pipeline.json"), "pipeline 'fastest' is unknown; known are"),
        (("replay", "operator.json"), "this TVM has no operator 'nn.nothing'"),
        (("replay", "mode.json"), "mode.json: exec_mode 'quick' is unknown"),
        (("replay", "dtype.json"), "dtype 'float99' is unknown"),
        (("fuzz", "conv9d_transpose", "--minutes", "1"), "did you mean conv3d_transpose, conv2d_"),
        (("fuzz", "--out", "bad.json/inside", "--minutes", "1"), "cannot write to bad.json/inside"),
    ],
)
def test_bad_input_is_one_clear_line(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "other.json").write_text('{"format": 99}')
    member = family("conv1d_transpose", tuple(PIPELINES))
    text = encode(member.build(complete(member.axes, {}), 0)).decode()
    for name, old, new in (
        ("pipeline", '"pipeline":"build"', '"pipeline":"fastest"'),
        ("operator", '"nn.conv1d_transpose"', '"nn.nothing"'),
        ("mode", '"bytecode"', '"quick"'),
        ("dtype", '"float32"', '"float99"'),
    ):
        assert old in text
        (tmp_path / f"{name}.json").write_text(text.replace(old, new))
    ended = run(*arguments, cwd=tmp_path)
    assert ended.returncode == 2
    assert message in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1, ended.stderr


def test_help_teaches() -> None:
    top = run("--help")
    assert {"fuzz", "replay", "families"} <= set(re.findall(r"\w+", top.stdout))
    text = run("fuzz", "--help").stdout
    assert "Exit codes" in text
    assert "--dry-run" in text


@pytest.mark.parametrize(
    ("options", "limits"),
    [
        ((), "5 minutes"),
        (("--cases", "900"), "900 cases"),
        (("--cases", "900", "--minutes", "2"), "2 minutes or 900 cases"),
    ],
)
def test_where_only_the_cases_are_given_there_is_no_other_end(
    tmp_path: Path, options: tuple[str, ...], limits: str
) -> None:
    ended = run("fuzz", "conv1d_transpose", "--dry-run", "--seed", "3", *options, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert f"seed 3, {limits}; " in ended.stdout


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    ended = run("fuzz", "conv1d_transpose", "--dry-run", "--seed", 3, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("nn.conv1d_transpose") == 10
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short campaign with fixes off: whatever it finds is in the folder."""
    folder = tmp_path_factory.mktemp("campaign") / "out"
    ended = run(
        *("fuzz", *CAMPAIGN, "--workers", 1, "--out", folder),
    )
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "silent-bail" in ended.stdout
    assert "nn.conv1d_transpose" in ended.stdout
    assert "python -m relaxcheck replay" in ended.stdout
    return folder


def test_every_case_that_was_started_is_accounted_for(campaign: Path) -> None:
    with Journal(campaign, Mode.READ) as journal:
        drawn = list(journal.cases("drawn"))
        assert len(drawn) == sum(journal.counts("drawn").values()) == 12
        assert journal.description["seed"] == "5"
        assert journal.description["apache-tvm"]
        assert Verdict.HARNESS_ERROR not in journal.counts("drawn")


def test_the_same_seed_draws_the_same_cases(campaign: Path, tmp_path: Path) -> None:
    run("fuzz", *CAMPAIGN, "--workers", 2, "--out", tmp_path / "again")
    with Journal(campaign, Mode.READ) as journal, Journal(tmp_path / "again", Mode.READ) as two:
        first = {recorded.case.identifier for recorded in journal.cases("drawn")}
        assert first == {recorded.case.identifier for recorded in two.cases("drawn")}


def test_a_finding_replays_with_the_same_verdict(campaign: Path) -> None:
    with Journal(campaign, Mode.READ) as journal:
        findings = [decode_record(finding, Finding) for finding in journal.findings()]
    assert findings
    finding = findings[0]
    assert finding.confirmed
    again = run("replay", finding.case.identifier[:8], "--dir", campaign)
    assert again.returncode == 0, again.stdout + again.stderr
    last = again.stdout.splitlines()[-1]
    assert last.startswith(f"STILL FAILS {finding.case.identifier}: {finding.verdict}")


def test_a_case_file_can_be_replayed_with_fixes_on(tmp_path: Path) -> None:
    member = family("conv1d_transpose", tuple(PIPELINES))
    case = member.build(complete(member.axes, {"data_layout": "NWC"}), 0)
    write(case, tmp_path / "case.json")
    off = run("replay", tmp_path / "case.json")
    assert (off.returncode, "silent-bail" in off.stdout) == (1, True)
    on = run("replay", tmp_path / "case.json", "--fixes", "on")
    assert (on.returncode, "verdict: pass" in on.stdout) == (0, True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_campaign_ends_well(tmp_path: Path, number: signal.Signals) -> None:
    folder = tmp_path / "out"
    process = subprocess.Popen(
        [*COMMAND, "fuzz", "conv1d_transpose", "--minutes", "5", "--out", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + 60
    while time.monotonic() < end and not _cases(folder):
        time.sleep(0.2)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "Written to" in out
    with Journal(folder, Mode.READ) as journal:
        assert sum(journal.counts("drawn").values()) > 0


def test_a_campaign_whose_engine_is_killed_keeps_every_case(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    process = subprocess.Popen(
        [*COMMAND, "fuzz", "conv1d_transpose", "--minutes", "5", "--out", str(folder)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + 60
    while time.monotonic() < end and _cases(folder) < 10:
        time.sleep(0.2)
    process.kill()
    process.wait()
    with Journal(folder, Mode.READ) as journal:
        cases = list(journal.cases("drawn"))
        assert len(cases) >= 10
        ended = sum(recorded.outcome is not None for recorded in cases)
        # At most what two workers had been given, and as much again, had not ended yet.
        assert len(cases) - ended <= 2 * 2 * Limits().together
        assert all(encode(recorded.case) for recorded in cases)


@pytest.mark.slow
def test_a_killed_campaign_goes_on_and_ends_as_if_nothing_had_been(
    campaign: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    process = subprocess.Popen(
        [*COMMAND, "fuzz", *map(str, CAMPAIGN), "--out", str(folder), "--workers", "1"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + 60
    while time.monotonic() < end and _cases(folder) < 4:
        time.sleep(0.05)
    # However slow the second one is to start: the first is not to end before.
    process.send_signal(signal.SIGSTOP)
    refused = run("fuzz", "--resume", folder)
    assert (refused.returncode, "a campaign is running in" in refused.stderr) == (2, True)
    process.kill()
    process.wait()
    ended = run("fuzz", "--resume", folder, "--cases", 12, "--minutes", 3, "--workers", 1)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "before this run" in ended.stdout
    with Journal(campaign, Mode.READ) as journal, Journal(folder, Mode.READ) as two:
        assert [(each.case, each.finding) for each in journal.cases("drawn")] == [
            (each.case, each.finding) for each in two.cases("drawn")
        ]
        assert two.unfinished() == 0


def test_a_campaign_that_cannot_be_resumed_is_one_line(campaign: Path, tmp_path: Path) -> None:
    for arguments, message in (
        (("--resume", tmp_path), "holds no campaign"),
        (("--resume", campaign, "--seed", 3), "leave out --seed"),
    ):
        ended = run("fuzz", *arguments)
        assert ended.returncode == 2
        assert message in ended.stderr
        assert len(ended.stderr.strip().splitlines()) == 1


def _cases(folder: Path) -> int:
    if not (folder / "campaign.sqlite").is_file():
        return 0
    with Journal(folder, Mode.READ) as journal:
        return sum(journal.counts("drawn").values())
