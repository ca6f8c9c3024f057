"""The worker: takes cases as JSON lines on a socket, answers outcomes as JSON lines.

It runs in a process of its own, forked from the zygote, and never sees an array from outside. The
stage it is in stands in a shared marker, which outlives it.
"""

import mmap
import os
import resource
import signal
import socket
import traceback

import msgspec

from generators.program import CaseError, decode
from harness.conduct import conduct
from harness.marker import IDLE, mark, marked
from harness.outcome import Outcome, Verdict, blamed_on_us
from harness.protocol import Order


def serve(connection: socket.socket, marker: mmap.mmap, log: int, memory_limit: int) -> None:
    """Answer cases until the connection closes.

    ``log`` is the file descriptor that standard error goes to; it holds what the current case
    wrote. ``memory_limit`` is how many bytes the process may grow by.
    """
    _limit_memory(memory_limit)
    with connection.makefile("rb") as lines:
        for line in lines:
            # The offset is shared with whoever writes there: it says how much this case wrote.
            os.lseek(log, 0, os.SEEK_SET)
            connection.sendall(msgspec.json.encode(_answer(line, marker)) + b"\n")
            mark(marker, IDLE)


def _answer(line: bytes, marker: mmap.mmap) -> Outcome:
    mark(marker, "read")
    try:
        order = msgspec.json.decode(line, type=Order)
        return conduct(
            decode(bytes(order.case)), lambda stage: mark(marker, stage), plain=order.plain
        )
    except (CaseError, msgspec.DecodeError) as error:
        return Outcome(Verdict.HARNESS_ERROR, "read", None, str(error))
    except MemoryError as error:
        verdict = blamed_on_us(marked(marker)) or Verdict.OUT_OF_MEMORY
        return Outcome(verdict, marked(marker), None, f"MemoryError: {error}")
    except Exception:
        # Whatever is raised here is no fault of TVM's: those are caught where TVM is called.
        return Outcome(Verdict.HARNESS_ERROR, marked(marker), None, traceback.format_exc())


def _limit_memory(growth: int) -> None:
    with open("/proc/self/statm") as statm:
        size = int(statm.read().split()[0]) * resource.getpagesize()
    # Address space, so that a wild allocation fails here instead of taking the machine down.
    resource.setrlimit(resource.RLIMIT_AS, (size + growth, size + growth))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
