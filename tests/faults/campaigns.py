"""A campaign as a process of its own, what it left in its journal, and whom it left running."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pytest
from typer.testing import CliRunner, Result

from relaxcheck.cli import app
from relaxcheck.cli.actions import campaign as running
from relaxcheck.harness.journal.journal import DRAWN, FILE_NAME, TRIAL, Journal, Mode
from relaxcheck.harness.kinds import decode_record
from relaxcheck.harness.triage.finding import Finding
from tests.faults.command import pool

T = TypeVar("T")
TOKEN = "RELAXCHECK_FAULT_TEST"
FAMILY = "conv1d_transpose"
PATIENCE = 120.0
"""Seconds for what a busy machine takes long to do."""


@dataclass
class Campaigns:
    """Runs the command ``module``; a token marks everything that it starts."""

    module: str = "tests.faults.command"
    environment: dict[str, str] = field(default_factory=dict)
    token: str = field(default_factory=lambda: uuid.uuid4().hex)
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(self, *arguments: object, **environment: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-m", self.module, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, **self.environment, **environment, TOKEN: self.token},
        )
        self.processes.append(process)
        return process

    def run(self, *arguments: object, **environment: str) -> "subprocess.CompletedProcess[str]":
        process = self.start(*arguments, **environment)
        out, err = process.communicate(timeout=300)
        assert process.returncode is not None
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def within(
        self, monkeypatch: pytest.MonkeyPatch, *arguments: object, **environment: str
    ) -> Result:
        """As ``run``, but that the engine is this process: it starts sooner."""
        with monkeypatch.context() as patch:
            patch.setattr(running, "Pool", pool)
            for name, value in {**self.environment, **environment, TOKEN: self.token}.items():
                patch.setenv(name, value)
            ended = CliRunner().invoke(app, list(map(str, arguments)))
        assert ended.exception is None or isinstance(ended.exception, SystemExit)
        return ended

    def left(self) -> list[int]:
        """The processes that are there and were started, by whatever way, from here."""
        processes = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal():
                try:
                    if self.token.encode() in (entry / "environ").read_bytes():
                        processes.append(int(entry.name))
                except OSError:
                    continue
        return processes

    def zygotes(self) -> list[int]:
        """The processes whose parent is an engine."""
        engines = {process.pid for process in self.processes}
        return [pid for pid in self.left() if _parent(pid) in engines]

    def workers(self) -> list[int]:
        """The processes whose parent is a zygote."""
        zygotes = self.zygotes()
        return [pid for pid in self.left() if _parent(pid) in zygotes]


def end(started: Campaigns) -> None:
    """End what is running; fails if anything was left by what has ended."""
    for process in started.processes:
        if process.poll() is None:
            process.kill()
            process.wait()
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            stream.close()
    left = until(started.left, lambda pids: not pids)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left, f"left running: {left}"


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


def until(look: Callable[[], T], wanted: Callable[[T], bool], seconds: float = PATIENCE) -> T:
    """Poll ``look`` until its result is ``wanted``; return the last one at the end of the time."""
    end = time.monotonic() + seconds
    while not wanted(seen := look()) and time.monotonic() < end:
        time.sleep(0.05)
    return seen


def ended(folder: Path) -> int:
    """The number of drawn cases that have ended in the campaign that runs in ``folder``."""
    if not (folder / FILE_NAME).is_file():
        return 0
    with Journal(folder, Mode.READ) as journal:
        return sum(journal.counts(DRAWN).values())


def answered(folder: Path) -> int:
    """The number of cases that have ended in ``folder``, drawn or run to find a cause."""
    with Journal(folder, Mode.READ) as journal:
        return sum(sum(journal.counts(purpose).values()) for purpose in (DRAWN, TRIAL))


Summary = tuple[list[tuple[str, str, str | None]], dict[str, tuple[int, bool | None]]]


def summary(folder: Path) -> Summary:
    """The result of a campaign: each case, its verdict and finding; each finding's count."""
    with Journal(folder, Mode.READ) as journal:
        cases = [
            (entry.case.identifier, str(entry.outcome and entry.outcome.verdict), entry.finding)
            for entry in journal.cases(DRAWN)
        ]
        findings = [decode_record(finding, Finding) for finding in journal.findings()]
    return sorted(cases), {
        finding.fingerprint: (finding.count, finding.confirmed) for finding in findings
    }


def check_whole(folder: Path) -> None:
    """The database is whole, and every case that began has ended."""
    database = sqlite3.connect(folder / FILE_NAME)
    assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    database.close()
    with Journal(folder, Mode.READ) as journal:
        assert journal.unfinished() == 0
        for purpose in (DRAWN, TRIAL):
            assert all(entry.outcome is not None for entry in journal.cases(purpose))


def arguments(cases: int = 100) -> Sequence[object]:
    """The arguments of the campaign that all of these tests run.

    Its cases end it, not the minutes, however slow the machine is.
    """
    return ("fuzz", FAMILY, "--cases", cases, "--minutes", 20, "--seed", 5, "--workers", 2)


def resuming(folder: Path, cases: int = 100) -> Sequence[object]:
    """The arguments that resume it."""
    return ("fuzz", "--resume", folder, "--cases", cases, "--minutes", 20, "--workers", 2)
