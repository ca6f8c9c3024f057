"""Runs groups of tests in forked processes, several at a time, whose death or hang is a verdict."""

import os
import resource
import select
import signal
import struct
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

import msgspec

from relaxcheck.harness.onnx.suite.results import Result, failed
from relaxcheck.harness.onnx.suite.tests import SuiteTest
from relaxcheck.harness.outcomes.outcome import Verdict

Group = Sequence[SuiteTest]
Execute = Callable[[Group], Iterable[Result]]
"""Gives the result of each test of a group, in order."""

_HEADER = struct.Struct("<I")
"""The length of a result, which precedes it."""
_CHUNK = 1 << 16
_PATIENCE = 10
"""The time until the next result, as a multiple of the processor's time for a test."""


@dataclass(slots=True, eq=False)
class _Child:
    """A process with its group: the tests of it that ended, and bytes of the next result.

    ``closed``: it has closed its end of the pipe."""

    group: Group
    process: int
    pipe: int
    deadline: float
    ended: int = 0
    closed: bool = False
    unread: bytearray = field(default_factory=bytearray)

    @property
    def left(self) -> Group:
        return self.group[self.ended :]

    def taken(self, data: bytes) -> Iterator[Result]:
        """The results that ``data`` completes."""
        self.unread += data
        while len(self.unread) >= _HEADER.size:
            end = _HEADER.size + _HEADER.unpack_from(self.unread)[0]
            if len(self.unread) < end:
                return
            result = msgspec.json.decode(self.unread[_HEADER.size : end], type=Result)
            del self.unread[:end]
            if result.verdict is Verdict.HARNESS_ERROR and len(self.group) > 1:
                # Its tests run alone, and the error comes again where it belongs.
                return
            self.ended += 1
            yield result


def in_children(
    groups: Iterable[Group], execute: Execute, workers: int, seconds: float
) -> Iterator[Result]:
    """The results of all ``groups``, as they come, by at most ``workers`` processes at a time.

    The tests of a group that does not end run alone. A test may take ``seconds`` of the processor's
    time, and a group twice as many; on a busy machine they may last ``_PATIENCE`` times as long.
    """
    waiting = deque(groups)
    running: dict[int, _Child] = {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                child = _started(waiting.popleft(), execute, seconds)
                running[child.pipe] = child
            first = min(child.deadline for child in running.values())
            ready, _, _ = select.select(list(running), [], [], max(0.0, first - time.monotonic()))
            for pipe in ready:
                child = running[pipe]
                data = os.read(pipe, _CHUNK)
                child.closed = not data
                child.deadline = time.monotonic() + _PATIENCE * seconds
                yield from child.taken(data)
            now = time.monotonic()
            for child in [each for each in running.values() if each.closed or now > each.deadline]:
                del running[child.pipe]
                death = _end(child)
                if len(child.group) > 1:
                    waiting.extendleft([test] for test in reversed(child.left))
                elif child.left and death in ("", signal.SIGXCPU.name):
                    late = f"no end after {seconds:g} s"
                    yield failed(child.left[0], Verdict.TIMEOUT, "", late)
                elif child.left:
                    yield failed(child.left[0], Verdict.PROCESS_DEATH, "", death)
    finally:
        for child in running.values():
            _end(child)


def _started(group: Group, execute: Execute, seconds: float) -> _Child:
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        os.close(reading)
        _limit(seconds * min(len(group), 2))
        _serve(group, execute, writing)
    os.close(writing)
    return _Child(group, process, reading, time.monotonic() + _PATIENCE * seconds)


def _limit(seconds: float) -> None:
    """Have the kernel end this process by SIGXCPU after ``seconds`` of the processor's time."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (max(1, round(seconds)), hard))


def _end(child: _Child) -> str:
    """End ``child``, and wait for it; the signal that killed it, empty if that was ours."""
    os.close(child.pipe)
    if not child.closed:
        os.kill(child.process, signal.SIGKILL)
    _, status = os.waitpid(child.process, 0)
    if not child.closed:
        return ""
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return f"exit status {os.waitstatus_to_exitcode(status)}"


def _serve(group: Group, execute: Execute, writing: int) -> NoReturn:
    """Write the results of ``group`` as they come, and end the process.

    An exception is one of ours: TVM's are results.
    """
    ended = 0
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            for result in execute(group):
                _write(writing, result)
                ended += 1
        except Exception:
            error = traceback.format_exc()
            _write(writing, failed(group[ended], Verdict.HARNESS_ERROR, "", error))
    finally:
        os._exit(0)


def _write(pipe: int, result: Result) -> None:
    text = msgspec.json.encode(result)
    left = memoryview(_HEADER.pack(len(text)) + text)
    while left:
        left = left[os.write(pipe, left) :]
