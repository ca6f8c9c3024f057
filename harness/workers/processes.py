"""The processes that cases run in, as the engine sees them: the zygote and its workers."""

import fcntl
import mmap
import os
import re
import select
import signal
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import msgspec

from relaxcheck.extensions.entry_points import Broken
from relaxcheck.harness.paths import WORKING
from relaxcheck.harness.releases.releases import Release, environment
from relaxcheck.harness.workers import marker as markers
from relaxcheck.harness.workers.marker import IDLE, Mark, mark, marked
from relaxcheck.harness.workers.protocol import SCRATCH, BundledFix, Command, Reply

_LAST_WORDS = 2000
"""The characters of a process's last output that are quoted, at most."""
_LAST_BYTES = 1 << 20
"""The bytes of its output that are read for that."""
_INTERPRETER = r"(?:Objects|Python|Modules|\./Modules|\./Include|\./signal)/"
_FRAME_OF_PYTHON = re.compile(
    rf'\s*File "(?:{_INTERPRETER}[^"]*", line \d+, in |<unknown>", line 0, in (?:_start|0x|_?Py))'
)
"""A line of a native stack trace that is CPython's own, or libc's, and says nothing of TVM."""
_LOG_BYTES = 64 << 20
"""The bytes that a worker may write to standard output and error in a case."""
LONGEST_ANSWER = 64 << 20
"""The most bytes of an answer."""
_PARENT_SECONDS = 5.0
"""The time that the zygote may take to end its workers."""

_GONE = (BrokenPipeError, ConnectionResetError)


class ZygoteGone(Exception):
    """The zygote ended."""


@dataclass(slots=True)
class Process:
    """A worker's process: ``descriptor`` refers to it, ``log`` takes its standard output and error.

    ``resident`` are its bytes of memory at the start; ``received`` are the bytes that it sent and
    that were not decoded yet.
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
        """The content of its marker."""
        return marked(self.marker)

    @property
    def growth(self) -> int:
        """The bytes of memory that it grew by."""
        return _resident(self.pid) - self.resident

    @property
    def last_words(self) -> str:
        """The last output of its current case."""
        return _end_of(self.log, os.lseek(self.log, 0, os.SEEK_CUR))

    def send(self, message: bytes) -> bool:
        """Send ``message``; False if the process is gone."""
        try:
            self.connection.sendall(message)
        except _GONE:
            return False
        return True

    def receive(self) -> bool:
        """Take the bytes that it sent; True if its connection is closed."""
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
        """True if it has ended, or ends within ``seconds``."""
        poll = select.poll()
        poll.register(self.descriptor, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def kill(self) -> None:
        """Kill it and its children: a linker, say, that would outlive it."""
        for kill in (os.kill, os.killpg):
            with suppress(ProcessLookupError):
                kill(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """Close all descriptors that refer to it."""
        self.connection.close()
        self.marker.close()
        os.close(self.log)
        os.close(self.descriptor)


class Zygote:
    """The workers' parent: ``module`` run with ``arguments`` in the environment of ``release``.

    Workers die without cleaning up: their temporary files are removed with the zygote's.
    ``environment``, ``fixes`` and ``broken`` are known once it is ``ready``.

    Raises:
        OSError: there is no place for temporary files.
        ZygoteGone: (its methods) it has ended.
    """

    environment: dict[str, str]
    fixes: tuple[BundledFix, ...]
    broken: tuple[Broken, ...]

    def __init__(self, module: str, arguments: Sequence[str], release: Release):
        self._scratch = tempfile.TemporaryDirectory(
            prefix="relaxcheck-", ignore_cleanup_errors=True
        )
        self._control, theirs = socket.socketpair()
        self._replies = self._control.makefile("rb")
        # Not a pipe, which would have to be read while it runs.
        self._stderr: int | None = os.memfd_create("relaxcheck-zygote", os.MFD_CLOEXEC)
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
            stderr=self._stderr,
            cwd=WORKING,
        )
        theirs.close()

    def ready(self) -> None:
        """Wait until it has imported everything, which takes seconds.

        Raises:
            ZygoteGone: it does not start; the message is its last line of output.
        """
        try:
            first = self._reply()
            self.environment, self.fixes = first.environment, first.fixes
            self.broken = first.broken
        except ZygoteGone:
            raise ZygoteGone(self.close()) from None
        except BaseException:
            self.close(at_once=True)
            raise

    def fork(self, memory_limit: int, kinds: Sequence[str]) -> Process:
        """A new worker for cases of ``kinds``; its memory may grow by ``memory_limit`` bytes."""
        ours, theirs = socket.socketpair()
        marker = os.memfd_create("relaxcheck-marker", os.MFD_CLOEXEC)
        os.ftruncate(marker, markers.SIZE)
        log = os.memfd_create("relaxcheck-log", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(log, _LOG_BYTES)
        # Only written bytes take memory; without a bound, endless output would take it all.
        fcntl.fcntl(log, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK)
        shared = mmap.mmap(marker, markers.SIZE)
        mark(shared, IDLE)
        command = msgspec.json.encode(Command("fork", 0, memory_limit, tuple(kinds)))
        try:
            with suppress(*_GONE):
                socket.send_fds(self._control, [command], [theirs.fileno(), marker, log])
            pid = self._reply().pid
            # Its number is not reused until it is reaped.
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
        """The exit of the process ``pid``, which was killed or ended."""
        with suppress(*_GONE):
            self._control.sendall(msgspec.json.encode(Command("reap", pid)))
        return self._reply()

    def close(self, *, at_once: bool = False) -> str:
        """End it with all of its workers; returns its last line of output.

        ``at_once``: without time to end workers, of which it has none while it imports. Closing it
        twice does nothing: the cause of a restart may keep the next one from starting.
        """
        if self._stderr is None:
            return self._last
        self._replies.close()
        # The zygote sees this, and ends its workers first.
        self._control.close()
        if at_once:
            self._process.kill()
        try:
            ended = self._process.wait(_PARENT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            ended = self._process.wait()
        words = _end_of(self._stderr, os.fstat(self._stderr).st_size)
        os.close(self._stderr)
        self._stderr = None
        self._scratch.cleanup()
        if words:
            self._last = words.splitlines()[-1]
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
    """The end of ``file``, which has ``size`` bytes, without frames of the interpreter.

    It begins with a whole line, or with an ellipsis where one line is longer than what is quoted.
    """
    start = max(0, size - _LAST_BYTES)
    text = os.pread(file, size - start, start).decode(errors="replace")
    whole = text.partition("\n")[2] if start and "\n" in text else text
    lines = [line for line in whole.splitlines() if not _FRAME_OF_PYTHON.match(line)]
    last = "\n".join(lines).strip()
    if len(last) <= _LAST_WORDS:
        return last
    cut = last[-_LAST_WORDS:]
    rest = cut.partition("\n")[2]
    # A long line is quoted in part rather than lost.
    return rest if len(rest) > _LAST_WORDS // 2 else f"…{cut[1:]}"
