"""Runs jobs in forked processes, one after the other, whose death or hang is a result."""

import os
import pickle
import resource
import select
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

_CHUNK = 1 << 16
_PATIENCE = 10
"""The time until the next result, as a multiple of the processor's time for all."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A process ended before its job did: by the ``cause``, a signal's name or the deadline."""

    cause: str
    late: bool


class ChildError(Exception):
    """The job raised; the message is the traceback."""


def in_child(job: Callable[[], Iterator[Any]], seconds: float) -> Iterator[Any]:
    """Yield the results of ``job`` in a process of its own, and ``Ended`` if that ends before it.

    The process has ``seconds`` of the processor's time; on a busy machine each result may take
    ``_PATIENCE`` times as long.

    Raises:
        ChildError: the job raised.
    """
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        os.close(reading)
        _limit(seconds)
        _serve(job, writing)
    os.close(writing)
    unread = bytearray()
    deadline = time.monotonic() + _PATIENCE * seconds
    try:
        while True:
            ready, _, _ = select.select([reading], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)
                yield _late(seconds)
                return
            data = os.read(reading, _CHUNK)
            if not data:
                break
            unread += data
            while len(unread) >= 4 and len(unread) >= (end := 4 + int.from_bytes(unread[:4])):
                value = pickle.loads(unread[4:end])
                del unread[:end]
                if isinstance(value, ChildError):
                    raise value
                yield value
                deadline = time.monotonic() + _PATIENCE * seconds
        _, status = os.waitpid(process, 0)
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
            yield _late(seconds)
        elif os.WIFSIGNALED(status):
            yield Ended(signal.Signals(os.WTERMSIG(status)).name, late=False)
        elif code := os.waitstatus_to_exitcode(status):
            yield Ended(f"exit status {code}", late=False)
    finally:
        os.close(reading)


def _late(seconds: float) -> Ended:
    return Ended(f"no end after {seconds:g} s", late=True)


def _limit(seconds: float) -> None:
    """Have the kernel end this process by SIGXCPU after ``seconds`` of the processor's time."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (max(1, round(seconds)), hard))


def _serve(job: Callable[[], Iterator[Any]], writing: int) -> NoReturn:
    code = 0
    try:
        # Importers and native code print to both.
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        try:
            for value in job():
                _write(writing, value)
        except Exception:
            _write(writing, ChildError(traceback.format_exc()))
    except BaseException:
        code = 70
        raise
    finally:
        os._exit(code)


def _write(pipe: int, value: Any) -> None:
    data = pickle.dumps(value)
    left = memoryview(len(data).to_bytes(4) + data)
    while left:
        left = left[os.write(pipe, left) :]
