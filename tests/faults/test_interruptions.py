"""Ctrl-C and its like: the record is finished, the summary is there, the exit code is 130."""

import os
import signal
import time
from pathlib import Path

import pytest

from relaxcheck.harness.events import EventType
from relaxcheck.harness.journal.journal import FILE_NAME, Journal, Mode
from tests.faults.campaigns import (
    Campaigns,
    Summary,
    arguments,
    check_whole,
    ended,
    resuming,
    summary,
    until,
)


@pytest.mark.parametrize(
    ("number", "to_all", "times"),
    [
        pytest.param(signal.SIGINT, True, 6, id="ctrl-c-again-and-again"),
        pytest.param(signal.SIGTERM, True, 1, id="sigterm-to-all"),
        pytest.param(signal.SIGHUP, False, 2, id="sighup", marks=pytest.mark.slow),
    ],
)
def test_an_interrupted_campaign_ends_well_and_goes_on(
    campaigns: Campaigns,
    undisturbed: Summary,
    tmp_path: Path,
    number: signal.Signals,
    to_all: bool,
    times: int,
) -> None:
    folder = tmp_path / "out"
    process = campaigns.start(*arguments(), "--out", folder, JUDGE_SECONDS="0.02")
    until(lambda: ended(folder) > 10, bool)
    for _ in range(times):
        # As a terminal does it: to the engine, the workers' parent and whoever else is there.
        (os.killpg if to_all else os.kill)(process.pid, number)
        time.sleep(0.05)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, ""), out + err
    assert "Written to" in out
    assert f"interrupted by {number.name} after" in out
    assert not until(campaigns.left, lambda pids: not pids)
    page = (folder / "findings.md").read_text()
    assert f"interrupted by {number.name} after" in page
    with Journal(folder, Mode.READ) as journal:
        # No verdict comes of a signal that was meant for all.
        assert {event.type for event in journal.events()} == {EventType.INTERRUPTED}
    assert not (folder / (FILE_NAME + "-wal")).exists()
    last = campaigns.run(*resuming(folder))
    assert last.returncode == 1, last.stdout + last.stderr
    assert f"interrupted by {number.name} after" in last.stdout
    assert "resumed once" in last.stdout
    check_whole(folder)
    assert summary(folder) == undisturbed


def test_an_interruption_during_the_start_is_one_line(campaigns: Campaigns, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    process = campaigns.start(*arguments(), "--out", folder)
    until(campaigns.zygotes, bool)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, out + err
    assert err.count("\n") == (0 if "Written to" in out else 1), err
    assert campaigns.run(*resuming(folder, 3)).returncode in (0, 1)


@pytest.mark.parametrize(
    "how",
    [
        pytest.param((), id="tables", marks=pytest.mark.slow),
        pytest.param(("--format", "jsonl"), id="json"),
    ],
)
def test_an_output_that_is_closed_costs_nothing(
    campaigns: Campaigns, undisturbed: Summary, tmp_path: Path, how: tuple[str, ...]
) -> None:
    folder = tmp_path / "out"
    process = campaigns.start(*arguments(), *how, "--out", folder, JUDGE_SECONDS="0.01")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    errors = process.stderr.read()
    assert process.wait(60) in (1, 2)
    assert errors == ""
    assert campaigns.run(*resuming(folder)).returncode == 1
    check_whole(folder)
    assert summary(folder) == undisturbed
