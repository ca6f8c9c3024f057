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
from collections.abc import Iterator
from functools import partial

import msgspec

from generators.cases import decode
from generators.program import Case, CaseError
from harness.conduct import conduct, conduct_together
from harness.marker import IDLE, mark, marked
from harness.outcome import Outcome, Verdict, blamed_on_us
from harness.protocol import Ask, Order


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
            for outcome in _answers(line, marker):
                connection.sendall(msgspec.json.encode(outcome) + b"\n")
            mark(marker, IDLE)


def _answers(line: bytes, marker: mmap.mmap) -> Iterator[Outcome]:
    mark(marker, "read")
    order = msgspec.json.decode(line, type=Order)
    answered, reason = 0, ""
    if len(order.cases) > 1:
        try:
            cases = [_program(bytes(case)) for case in order.cases]
            for outcome in conduct_together(cases, lambda n, stage: mark(marker, stage, n)):
                yield outcome
                answered += 1
        except Exception as error:
            # Whatever goes wrong among several comes again alone, where it is told apart.
            reason = f"{type(error).__name__}: {error}"
    for number in range(answered, len(order.cases)):
        mark(marker, "read", number)
        outcome = _answer(bytes(order.cases[number]), order, number, marker)
        yield msgspec.structs.replace(outcome, retried=reason)


def _answer(text: bytes, order: Order, number: int, marker: mmap.mmap) -> Outcome:
    def progress(stage: str) -> None:
        mark(marker, stage, number)

    try:
        given = decode(text)
        run = partial(conduct, given, progress, plain=order.plain)
        if order.tracing is not None:
            run = partial(run, tracing=order.tracing)
        if order.ask is Ask.RUN:
            return run()
        # The oracles are there already, unless this zygote conducts cases in a way of its own.
        from harness.vetting import vetted

        return vetted(given, progress, run if order.ask is Ask.VETTED else _nothing)
    except (CaseError, msgspec.DecodeError) as error:
        return Outcome(Verdict.HARNESS_ERROR, "read", None, str(error))
    except MemoryError as error:
        stage = marked(marker).stage
        verdict = blamed_on_us(stage) or Verdict.OUT_OF_MEMORY
        return Outcome(verdict, stage, None, f"MemoryError: {error}")
    except Exception:
        # Whatever is raised here is no fault of TVM's: those are caught where TVM is called.
        return Outcome(Verdict.HARNESS_ERROR, marked(marker).stage, None, traceback.format_exc())


def _program(text: bytes) -> Case:
    case = decode(text)
    if not isinstance(case, Case):
        raise CaseError("what is no program runs alone")
    return case


def _nothing() -> Outcome:
    return Outcome(Verdict.PASS)


def _limit_memory(growth: int) -> None:
    with open("/proc/self/statm") as statm:
        size = int(statm.read().split()[0]) * resource.getpagesize()
    # Address space, so that a wild allocation fails here instead of taking the machine down. More
    # than the engine allows: what grows step by step it is to see, and to end for what it is.
    most = size + 2 * growth
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
