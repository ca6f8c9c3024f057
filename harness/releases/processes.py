"""Processes that this one waits for, each with all that it starts.

An interruption reaches the main thread alone, whichever thread waits for them.
"""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

_RUNNING: "set[subprocess.Popen[bytes]]" = set()


@contextmanager
def running(
    command: Sequence[str],
    environment: Mapping[str, str],
    folder: Path | str,
    standard_input: int | IO[bytes] = subprocess.DEVNULL,
    errors: int | IO[bytes] = subprocess.PIPE,
) -> "Iterator[subprocess.Popen[bytes]]":
    """``command`` in ``folder``, its output piped; killed at the end of the block if it still runs.

    ``errors`` is its standard error.

    Raises:
        OSError: it does not start.
    """
    process = subprocess.Popen(
        command,
        stdin=standard_input,
        stdout=subprocess.PIPE,
        stderr=errors,
        env=environment,
        cwd=folder,
        # A process group of its own, which is killed as one.
        start_new_session=True,
    )
    _RUNNING.add(process)
    try:
        with process:
            try:
                yield process
            finally:
                _end(process)
    finally:
        _RUNNING.discard(process)


def end_all() -> None:
    """Kill all that are running, in whichever thread."""
    for process in tuple(_RUNNING):
        _end(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
