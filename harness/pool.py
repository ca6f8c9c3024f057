"""The engine's side of the workers: give them cases, get outcomes, survive whatever they do.

A worker that dies, hangs or outgrows its memory is replaced, and the case it was on gets the
verdict that says so, with the stage from the shared marker.
"""

import mmap
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from generators.program import Case, encode
from harness import marker as markers
from harness.environment import single_threaded
from harness.marker import mark, marked
from harness.outcome import Outcome, Verdict, blamed_on_us
from harness.protocol import Command, Order, Reply

_POLL_SECONDS = 0.2
_LAST_WORDS = 2000
"""Bytes of what a dead worker wrote last that its outcome quotes."""


class PoolError(RuntimeError):
    """The workers cannot be started, in one line that says why."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a case may use: wall-clock seconds, and bytes of memory the worker may grow by.

    A worker is replaced after ``cases`` cases, so that nothing accumulates.
    """

    seconds: float = 60.0
    memory: int = 4 << 30
    cases: int = 1000


@dataclass(frozen=True, slots=True)
class Job:
    """A case to run.

    ``fresh``: in a worker that has run nothing and is not used again, and without any shortcut.
    """

    case: Case
    tag: object = None
    fresh: bool = False


@dataclass(slots=True)
class _Worker:
    pid: int
    connection: socket.socket
    marker: mmap.mmap
    log: int
    resident: int
    done: int = 0
    job: Job | None = None
    deadline: float = 0.0
    received: bytearray = field(default_factory=bytearray)
    kill_reason: Verdict | None = None


class Pool:
    """``size`` workers forked from one zygote. Use as a context manager.

    ``zygote`` is the module that the workers' parent runs: ``harness.zygote``, or one that patches
    something before it calls that module's ``main`` (a planted bug), as ``arguments`` say.

    Raises:
        PoolError: the zygote does not start (TVM or an oracle cannot be imported).
    """

    def __init__(
        self,
        size: int,
        limits: Limits | None = None,
        zygote: str = "harness.zygote",
        arguments: Sequence[str] = (),
    ):
        self.size = size
        self.limits = limits or Limits()
        self._waiting: deque[Job] = deque()
        self._workers: list[_Worker] = []
        self._selector = selectors.DefaultSelector()
        # Workers die in the middle of things: their temporary files go with the pool.
        self._scratch = tempfile.TemporaryDirectory(
            prefix="relaxcheck-", ignore_cleanup_errors=True
        )
        ours, theirs = socket.socketpair()
        self._zygote = subprocess.Popen(
            [sys.executable, "-m", zygote, str(theirs.fileno()), *arguments],
            pass_fds=[theirs.fileno()],
            env={**single_threaded(), "TMPDIR": self._scratch.name},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=Path(__file__).resolve().parent.parent,
        )
        theirs.close()
        self._control = ours
        self._replies = ours.makefile("rb")
        self.environment = self._reply().environment

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def running(self) -> int:
        """How many cases are being run."""
        return sum(worker.job is not None for worker in self._workers)

    @property
    def waiting(self) -> int:
        """How many cases wait for a worker."""
        return len(self._waiting)

    @property
    def pids(self) -> tuple[int, ...]:
        """The process of each worker that is there."""
        return tuple(worker.pid for worker in self._workers)

    @property
    def busy(self) -> tuple[str, ...]:
        """What each worker does: its case's family and stage, or ``idle``."""
        return tuple(
            f"{worker.job.case.family}: {marked(worker.marker)}" if worker.job else "idle"
            for worker in self._workers
        )

    def submit(self, job: Job, *, first: bool = False) -> None:
        """Queue ``job``; it starts as soon as a worker is free (``first``: before all others)."""
        if first:
            self._waiting.appendleft(job)
        else:
            self._waiting.append(job)
        self._feed()

    def wait(self, timeout: float) -> Iterator[tuple[Job, Outcome]]:
        """The jobs that ended within ``timeout`` seconds, as soon as there is one at least."""
        end = time.monotonic() + timeout
        while True:
            ended = list(self._poll(min(_POLL_SECONDS, max(0.0, end - time.monotonic()))))
            self._feed()
            yield from ended
            if ended or time.monotonic() >= end or not self.running:
                return

    def drain(self) -> Iterator[tuple[Job, Outcome]]:
        """Every job that is queued or running, as each ends."""
        while self.running or self._waiting:
            yield from self.wait(_POLL_SECONDS)

    def close(self) -> None:
        """End all workers and the zygote, whatever they are doing."""
        for worker in self._workers:
            self._release(worker)
            with suppress(ProcessLookupError):
                os.kill(worker.pid, signal.SIGKILL)
        self._workers.clear()
        self._stop_zygote()

    def _release(self, worker: _Worker) -> None:
        self._selector.unregister(worker.connection)
        worker.connection.close()
        worker.marker.close()
        os.close(worker.log)

    def _stop_zygote(self) -> str:
        """End the zygote; what it wrote to standard error."""
        self._zygote.kill()
        _, said = self._zygote.communicate()
        self._replies.close()
        self._control.close()
        self._selector.close()
        self._scratch.cleanup()
        return said.decode(errors="replace").strip()

    def _feed(self) -> None:
        while self._waiting:
            fresh = self._waiting[0].fresh
            worker = self._free_worker(fresh)
            if worker is None:
                return
            job = self._waiting.popleft()
            worker.job = job
            worker.deadline = time.monotonic() + self.limits.seconds
            mark(worker.marker, "read")
            try:
                order = Order(msgspec.Raw(encode(job.case)), plain=job.fresh)
                worker.connection.sendall(msgspec.json.encode(order) + b"\n")
            except BrokenPipeError:
                # It died while idle: that is nobody's verdict, so the case goes to another.
                worker.job = None
                self._discard(worker)
                self._waiting.appendleft(job)

    def _free_worker(self, fresh: bool) -> _Worker | None:
        for worker in self._workers:
            if worker.job is None and not (fresh and worker.done):
                return worker
        if len(self._workers) >= self.size:
            idle = next((worker for worker in self._workers if worker.job is None), None)
            if idle is None:
                return None
            self._discard(idle)
        return self._fork()

    def _fork(self) -> _Worker:
        ours, theirs = socket.socketpair()
        marker = os.memfd_create("relaxcheck-marker")
        os.ftruncate(marker, markers.SIZE)
        log = os.memfd_create("relaxcheck-log", os.MFD_CLOEXEC)
        command = Command("fork", memory_limit=self.limits.memory)
        with suppress(BrokenPipeError):
            # A zygote that is gone shows in the reply, with what it said last.
            socket.send_fds(
                self._control, [msgspec.json.encode(command)], [theirs.fileno(), marker, log]
            )
        theirs.close()
        pid = self._reply().pid
        worker = _Worker(pid, ours, mmap.mmap(marker, markers.SIZE), log, _resident(pid))
        os.close(marker)
        self._workers.append(worker)
        self._selector.register(ours, selectors.EVENT_READ, worker)
        return worker

    def _poll(self, timeout: float) -> Iterator[tuple[Job, Outcome]]:
        for key, _ in self._selector.select(timeout):
            worker: _Worker = key.data
            try:
                data = worker.connection.recv(1 << 16)
            except ConnectionResetError:
                data = b""
            worker.received += data
            if worker.received.endswith(b"\n"):
                yield self._finish(worker)
            elif not data:
                dead = self._bury(worker)
                if dead is not None:
                    yield dead
        self._enforce_limits()

    def _finish(self, worker: _Worker) -> tuple[Job, Outcome]:
        job = worker.job
        assert job is not None
        try:
            outcome = msgspec.json.decode(worker.received, type=Outcome)
        except msgspec.DecodeError as error:
            outcome = Outcome(
                Verdict.HARNESS_ERROR, marked(worker.marker), None, f"unreadable answer: {error}"
            )
        worker.received.clear()
        worker.job = None
        worker.done += 1
        # A worker that is being killed may still answer; it takes no other case with it.
        if job.fresh or worker.done >= self.limits.cases or worker.kill_reason is not None:
            self._discard(worker)
        return job, outcome

    def _bury(self, worker: _Worker) -> tuple[Job, Outcome] | None:
        """Replace a worker that is gone; the outcome of the case it was on, if it had one."""
        job, reason = worker.job, worker.kill_reason
        stage = marked(worker.marker)
        size = os.fstat(worker.log).st_size
        said = os.pread(worker.log, _LAST_WORDS, max(0, size - _LAST_WORDS))
        ended = self._discard(worker)
        if job is None:
            return None
        how = f"signal {ended.signal}" if ended.signal else f"exit code {ended.exit_code}"
        if ended.signal:
            with suppress(ValueError):
                how = signal.Signals(ended.signal).name
        if reason is Verdict.TIMEOUT:
            message = f"still in {stage} after {self.limits.seconds:g} s"
        elif reason is Verdict.OUT_OF_MEMORY:
            message = f"grew by more than {self.limits.memory >> 20} MiB in {stage}"
        else:
            last = said.decode(errors="replace").strip()
            message = f"worker ended with {how} in {stage}" + (f": {last}" if last else "")
        verdict = blamed_on_us(stage) or reason or Verdict.PROCESS_DEATH
        return job, Outcome(verdict, stage, None, message)

    def _discard(self, worker: _Worker) -> Reply:
        self._workers.remove(worker)
        self._release(worker)
        # Harmless to one that is dead, and nobody waits for one that only closed its socket.
        with suppress(ProcessLookupError):
            os.kill(worker.pid, signal.SIGKILL)
        with suppress(BrokenPipeError):
            self._control.sendall(msgspec.json.encode(Command("reap", worker.pid)))
        return self._reply()

    def _enforce_limits(self) -> None:
        now = time.monotonic()
        for worker in self._workers:
            if worker.job is None or worker.kill_reason is not None:
                continue
            if now > worker.deadline:
                worker.kill_reason = Verdict.TIMEOUT
            elif _resident(worker.pid) - worker.resident > self.limits.memory:
                worker.kill_reason = Verdict.OUT_OF_MEMORY
            else:
                continue
            with suppress(ProcessLookupError):
                os.kill(worker.pid, signal.SIGKILL)

    def _reply(self) -> Reply:
        line = self._replies.readline()
        if not line:
            last = self._stop_zygote().splitlines()[-1:] or ["no message"]
            raise PoolError(f"the workers' parent process ended: {last[0]}")
        return msgspec.json.decode(line, type=Reply)


def _resident(pid: int) -> int:
    """Resident memory of the process, in bytes; 0 once it is gone."""
    try:
        with open(f"/proc/{pid}/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (FileNotFoundError, ProcessLookupError):
        return 0
