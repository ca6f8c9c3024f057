"""Devices other than the CPU: their presence, and the end of a process whose device is lost.

An illegal memory access poisons a CUDA context: every later call in the process fails. A worker
then ends with the error as its last words, which is the verdict of the case that it ran.
"""

import os
import resource
import sys
from functools import cache
from typing import Any

import tvm


@cache
def device(name: str) -> Any:
    """The first device that TVM calls ``name``; None where there is none.

    Asking starts the driver, which no process may fork after; so only workers ask.
    """
    if not name or name == "cpu":
        return None
    limit, most = resource.getrlimit(resource.RLIMIT_AS)
    # Drivers map far more addresses than they use.
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    found = tvm.device(name, 0)
    if found.exist:
        return found
    resource.setrlimit(resource.RLIMIT_AS, (limit, most))
    return None


def is_lost(used: Any) -> bool:
    """True if the device ``used`` answers no more in this process."""
    try:
        tvm.runtime.empty((1,), "uint8", used)
        used.sync()
    except Exception:
        return True
    return False


def end_process(error: BaseException) -> None:
    """Abort this process, with the first line of ``error`` as its last words."""
    lines = [line for line in str(error).splitlines() if "CUDA" in line or "rror" in line]
    print((lines or [str(error)])[-1].strip(), file=sys.stderr, flush=True)
    os.abort()
