"""Checks of models in processes of their own: a crash or a hang of TVM is a result."""

import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

import msgspec

from relaxcheck.harness.models.job import Job, Known, Message
from relaxcheck.harness.models.report import Report, Verdict
from relaxcheck.harness.paths import WORKING
from relaxcheck.harness.releases.processes import running
from relaxcheck.harness.releases.releases import Release, environment

_MODULE = "relaxcheck.harness.models.child"
INTERRUPTION = "interrupted"
"""The message, or the beginning of a note, of a report that an interruption ended."""

_CHUNK = 1 << 16
_LAST = 12
"""The number of lines of standard error that say how a process failed."""


_EXPLAINED = ("nodes", "place", "traps", "failing", "piece", "near", "cure")
"""Fields of a report that explain a fault."""


class CheckError(Exception):
    """A fault of ours: the process of a check failed; the message is the end of its errors.

    ``report`` is the last one, if its verdict was known by then.
    """

    def __init__(self, message: str, report: Report | None = None) -> None:
        super().__init__(message)
        self.report = report


def checked(
    job: Job,
    release: Release,
    seconds: float,
    tell: Callable[[str, Report | None], None],
    module: Sequence[str] = (),
) -> Report:
    """The report on ``job`` by ``release``; ``tell`` gets each stage and the report until then.

    The process runs ``module``, with arguments behind its name; where there is none, the usual one.
    It has ``seconds`` altogether. An interruption ends it, and gives the last report. If TVM ends
    it, or does not come to an end, another one, of as many seconds, looks for the part of the model
    at which that happens.

    Raises:
        CheckError: the process failed by a fault of ours.
        OSError: it does not start.
    """
    report = _once(job, release, seconds, tell, module)
    if report.verdict not in (Verdict.DIED, Verdict.TIMEOUT):
        return report
    again = msgspec.structs.replace(job, again=True)

    def show(stage: str, later: Report | None) -> None:
        tell(stage, None)

    later = _once(again, release, seconds, show, module)
    cut_short = (later.message,) if later.verdict is Verdict.INTERRUPTED and later.message else ()
    explained: dict[str, Any] = {name: getattr(later, name) for name in _EXPLAINED}
    return msgspec.structs.replace(
        report, **explained, notes=(*report.notes, *later.notes, *cut_short)
    )


def _once(
    job: Job,
    release: Release,
    seconds: float,
    tell: Callable[[str, Report | None], None],
    module: Sequence[str],
) -> Report:
    """The report of a single process."""
    state = _State(Report(job.model, "", Verdict.INTERRUPTED, release.name, job.fixes), tell)
    variables = environment(release)
    # The user's modules are found from the user's folder.
    paths = [os.getcwd(), str(WORKING), variables.get("PYTHONPATH", "")]
    variables["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    command = [str(release.python), "-m", *(module or (_MODULE,))]
    with tempfile.TemporaryFile() as question, tempfile.TemporaryFile() as errors:
        question.write(msgspec.json.encode(job))
        question.seek(0)
        with running(command, variables, Path.cwd(), question, errors) as process:
            try:
                late = _follow(process, seconds, state)
            except KeyboardInterrupt:
                # Messages that are on their way already are known, too.
                _follow(process, 0, state)
                return state.ended(Verdict.INTERRUPTED, INTERRUPTION)
            if late:
                return state.ended(Verdict.TIMEOUT, f"no end after {seconds:g} s")
            status = process.wait()
        if status < 0:
            name = signal.Signals(-status).name
            return state.ended(Verdict.DIED, f"{name} ended the process")
        if status or not state.complete:
            errors.seek(0)
            known = state.report if state.report.verdict is not Verdict.INTERRUPTED else None
            raise CheckError(_end(errors) or f"the process ended with {status}", known)
    return state.report


class _State:
    """The messages until now: the stage that goes on, and the last report."""

    def __init__(self, report: Report, tell: Callable[[str, Report | None], None]) -> None:
        self.report, self.tell = report, tell
        self.stage, self.unread = "start", b""
        self.complete = False

    def take(self, message: Message) -> None:
        """Keep ``message``, and pass it on."""
        if isinstance(message, Known):
            release = self.report.release
            self.report = msgspec.structs.replace(message.report, release=release)
            self.complete = message.complete
            self.tell(self.stage, self.report)
        else:
            self.stage = message.stage
            self.tell(self.stage, None)

    def ended(self, verdict: Verdict, message: str) -> Report:
        """The last report, of a process that did not come to its end.

        A verdict that is known already stays: only the search for the place ended early.
        """
        if self.report.verdict is not Verdict.INTERRUPTED:
            notes = (*self.report.notes, f"{message}, in {self.stage}")
            return msgspec.structs.replace(self.report, notes=notes)
        return msgspec.structs.replace(
            self.report, verdict=verdict, stage=self.stage, message=message
        )


def _follow(process: "subprocess.Popen[bytes]", seconds: float, state: _State) -> bool:
    """Take the messages of ``process`` until it ends; True if it has not after ``seconds``."""
    assert process.stdout is not None
    pipe = process.stdout.fileno()
    decoder = msgspec.json.Decoder(Message)
    deadline = time.monotonic() + seconds
    while True:
        left = deadline - time.monotonic()
        ready, _, _ = select.select([pipe], [], [], max(0.0, left))
        if not ready:
            return True
        data = os.read(pipe, _CHUNK)
        if not data:
            return False
        *lines, state.unread = (state.unread + data).split(b"\n")
        for line in lines:
            state.take(decoder.decode(line))


def _end(errors: IO[bytes]) -> str:
    lines = errors.read().decode(errors="replace").strip().splitlines()
    return "\n".join(lines[-_LAST:])
