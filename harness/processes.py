"""The processes that cases run in, as the engine sees them: the zygote, and what it forks."""

import fcntl
import mmap
import os
import select
import signal
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import msgspec

from harness import marker as markers
from harness.marker import IDLE, Mark, mark, marked
from harness.protocol import SCRATCH, Command, Reply
from harness.releases import CHECKOUT, Release, environment

_LAST_WORDS = 2000
"""Bytes of what a process wrote last that are quoted."""
_LOG_BYTES = 64 << 20
"""What a worker may write to its standard output and error in a case; the rest is dropped."""
LONGEST_ANSWER = 64 << 20
"""Bytes of an answer; what is longer is none."""
_PARENT_SECONDS = 5.0
"""How long the zygote may take to end what is left of the workers."""

_GONE = (BrokenPipeError, ConnectionResetError)


class ZygoteGone(Exception):
    """The zygote ended."""


@dataclass(slots=True)
class Process:
    """A worker's process: ``descriptor`` refers to it, ``log`` takes its standard output and error.

    ``resident`` is how many bytes of memory it began with; ``received`` what it sent so far.
    """

    pid: int
    descriptor: int
    connection: socket.socket
    marker: mmap.mmap
    log: int
    resident: int
    received: bytearray = field(default_factory=bytearray)

    @property
    def mark(self) -> Mark:
        """What stands in its marker."""
        return marked(self.marker)

    @property
    def growth(self) -> int:
        """How many bytes of memory it has more than when it began."""
        return _resident(self.pid) - self.resident

    @property
    def last_words(self) -> str:
        """What its current case wrote last."""
        return _end_of(self.log, os.lseek(self.log, 0, os.SEEK_CUR))

    def send(self, message: bytes) -> bool:
        """Send ``message``; whether anybody is there."""
        try:
            self.connection.sendall(message)
        except _GONE:
            return False
        return True

    def receive(self) -> bool:
        """Take what it sent so far; whether its connection is closed."""
        while len(self.received) <= LONGEST_ANSWER:
            try:
                data = self.connection.recv(1 << 16, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return False
            except ConnectionResetError:
                return True
            if not data:
                return True
            self.received += data
        return False

    def ended(self, seconds: float = 0.0) -> bool:
        """Whether it has ended, or does within ``seconds``."""
        poll = select.poll()
        poll.register(self.descriptor, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def kill(self) -> None:
        """Kill it and what it started: a linker, say, that would outlive it."""
        for kill in (os.kill, os.killpg):
            with suppress(ProcessLookupError):
                kill(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """Give up everything that refers to it."""
        self.connection.close()
        self.marker.close()
        os.close(self.log)
        os.close(self.descriptor)


class Zygote:
    """The workers' parent: ``module`` run with ``arguments`` in the environment of ``release``.

    Workers die in the middle of things: their temporary files go with it.

    Raises:
        OSError: there is no place for temporary files.
        ZygoteGone: it does not start; its argument is the last line that was said. The methods
            raise it where it ended since.
    """

    def __init__(self, module: str, arguments: Sequence[str], release: Release):
        self._scratch = tempfile.TemporaryDirectory(
            prefix="relaxcheck-", ignore_cleanup_errors=True
        )
        self._control, theirs = socket.socketpair()
        self._replies = self._control.makefile("rb")
        # Not a pipe, which would have to be read while it runs.
        self._said: int | None = os.memfd_create("relaxcheck-zygote", os.MFD_CLOEXEC)
        self._last = "no message"
        self._process = subprocess.Popen(
            [str(release.python), "-m", module, str(theirs.fileno()), *arguments],
            pass_fds=[theirs.fileno()],
            env={
                **environment(release),
                "TMPDIR": self._scratch.name,
                SCRATCH: self._scratch.name,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._said,
            cwd=CHECKOUT,
        )
        theirs.close()
        try:
            self.environment = self._reply().environment
        except ZygoteGone:
            raise ZygoteGone(self.close()) from None
        except BaseException:
            self.close()
            raise

    def fork(self, memory_limit: int) -> Process:
        """A new worker, whose memory may grow by ``memory_limit`` bytes."""
        ours, theirs = socket.socketpair()
        marker = os.memfd_create("relaxcheck-marker", os.MFD_CLOEXEC)
        os.ftruncate(marker, markers.SIZE)
        log = os.memfd_create("relaxcheck-log", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(log, _LOG_BYTES)
        # Memory is taken only by what is written; without a bound, babble would take it all.
        fcntl.fcntl(log, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK)
        shared = mmap.mmap(marker, markers.SIZE)
        mark(shared, IDLE)
        command = msgspec.json.encode(Command("fork", memory_limit=memory_limit))
        try:
            with suppress(*_GONE):
                socket.send_fds(self._control, [command], [theirs.fileno(), marker, log])
            pid = self._reply().pid
            # Until it is reaped its number is nobody else's.
            return Process(pid, os.pidfd_open(pid), ours, shared, log, _resident(pid))
        except (ZygoteGone, ProcessLookupError) as error:
            ours.close()
            shared.close()
            os.close(log)
            raise ZygoteGone from error
        finally:
            theirs.close()
            os.close(marker)

    def reap(self, pid: int) -> Reply:
        """How the process ``pid``, which was killed or ended, did end."""
        with suppress(*_GONE):
            self._control.sendall(msgspec.json.encode(Command("reap", pid)))
        return self._reply()

    def close(self) -> str:
        """End it, and all that is left of its workers; the last line that it said.

        To close it once more does nothing: what it was restarted for may keep it from starting.
        """
        if self._said is None:
            return self._last
        self._replies.close()
        # It sees this, and ends them first.
        self._control.close()
        try:
            ended = self._process.wait(_PARENT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            ended = self._process.wait()
        said = _end_of(self._said, os.fstat(self._said).st_size)
        os.close(self._said)
        self._said = None
        self._scratch.cleanup()
        if said:
            self._last = said.splitlines()[-1]
        elif ended < 0:
            self._last = f"killed by signal {-ended}"
        return self._last

    def _reply(self) -> Reply:
        line = b""
        with suppress(*_GONE):
            line = self._replies.readline()
        if not line.endswith(b"\n"):
            raise ZygoteGone
        return msgspec.json.decode(line, type=Reply)


def _resident(pid: int) -> int:
    """Resident memory of the process, in bytes; 0 once it is gone."""
    try:
        with open(f"/proc/{pid}/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (FileNotFoundError, ProcessLookupError):
        return 0


def _end_of(file: int, size: int) -> str:
    """What was written to ``file`` last, of ``size`` bytes."""
    last = os.pread(file, min(size, _LAST_WORDS), max(0, size - _LAST_WORDS))
    return last.decode(errors="replace").strip()
