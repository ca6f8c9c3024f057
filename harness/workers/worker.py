"""The worker: takes cases as JSON lines on a socket, answers outcomes as JSON lines.

It runs in a process of its own, forked from the zygote, and never receives an array. It writes its
stage into a shared marker, which outlives it.
"""

import mmap
import os
import resource
import signal
import socket
import traceback
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import msgspec

from relaxcheck.generators.core.case import AnyCase, CaseError
from relaxcheck.harness.kind import Kind, Progress
from relaxcheck.harness.kinds import decode, of
from relaxcheck.harness.outcomes.outcome import (
    INSTALLING,
    Outcome,
    Reference,
    Verdict,
    blamed_on_us,
)
from relaxcheck.harness.workers.marker import IDLE, mark, marked
from relaxcheck.harness.workers.protocol import Ask, Order


def serve(connection: socket.socket, marker: mmap.mmap, log: int, memory_limit: int) -> None:
    """Answer cases until the connection closes.

    ``log`` is the file descriptor of standard error; it holds the output of the current case.
    ``memory_limit`` are the bytes that the process may grow by.
    """
    _limit_memory(memory_limit)
    with connection.makefile("rb") as lines:
        for line in lines:
            # All writers share the offset: it is the number of bytes that this case wrote.
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
            cases = [decode(bytes(case)) for case in order.cases]
            kind = of(cases[0])
            for outcome in kind.execute_together(cases, lambda n, stage: mark(marker, stage, n)):
                yield outcome
                answered += 1
        except Exception as error:
            # A failure that several cases share is traced to one of them by running each alone.
            reason = f"{type(error).__name__}: {error}"
    for number in range(answered, len(order.cases)):
        mark(marker, "read", number)
        outcome = _answer(bytes(order.cases[number]), order, number, marker)
        yield msgspec.structs.replace(outcome, retried=reason)


def _answer(text: bytes, order: Order, number: int, marker: mmap.mmap) -> Outcome:
    def progress(stage: str) -> None:
        mark(marker, stage, number)

    try:
        case = decode(text)
        kind = of(case)
        run = partial(kind.execute, case, progress, plain=order.plain)
        if order.tracing is not None:
            run = partial(run, tracing=order.tracing)
        with _only(order.fixes, progress):
            if order.ask is Ask.APPLY:
                return kind.apply(case, progress)
            if order.ask is Ask.RUN:
                return run()
            return vetted(kind, case, progress, run if order.ask is Ask.VETTED else _nothing)
    except (CaseError, msgspec.DecodeError) as error:
        return Outcome(Verdict.HARNESS_ERROR, "read", None, str(error))
    except MemoryError as error:
        stage = marked(marker).stage
        verdict = blamed_on_us(stage) or Verdict.OUT_OF_MEMORY
        return Outcome(verdict, stage, None, f"MemoryError: {error}")
    except Exception:
        # An exception here is no fault of TVM's: those are caught where TVM is called.
        return Outcome(Verdict.HARNESS_ERROR, marked(marker).stage, None, traceback.format_exc())


def _only(fixes: Collection[str], progress: Progress) -> AbstractContextManager[None]:
    """Have no fix on but those of ``fixes``; none: the case says which."""
    if not fixes:
        return nullcontext()
    progress(INSTALLING)
    # It imports TVM, which a zygote of the tests does without.
    from relaxcheck.harness.workers.switching import only_fixes

    return only_fixes(fixes)


def vetted(
    kind: Kind[Any], case: AnyCase, progress: Progress, run: Callable[[], Outcome]
) -> Outcome:
    """The outcome of ``run()`` with the reference's view; ``harness-error`` if that contradicts.

    TVM does not see a case that the reference contradicts: that it refuses an invalid program, in
    whatever words, is no failure.
    """
    try:
        reference, contradiction = kind.validate(case, progress)
    except MemoryError as error:
        contradiction = f"too large for the reference: {error}".rstrip(": ")
        reference = Reference(contradiction, unknown=True)
    if contradiction:
        return Outcome(Verdict.HARNESS_ERROR, "oracle", None, contradiction, reference=reference)
    return msgspec.structs.replace(run(), reference=reference)


def _nothing() -> Outcome:
    return Outcome(Verdict.PASS)


def _limit_memory(growth: int) -> None:
    with open("/proc/self/statm") as statm:
        size = int(statm.read().split()[0]) * resource.getpagesize()
    # A limit of address space, so that a wild allocation fails here instead of taking the machine
    # down. It is above the engine's limit, which is for memory that grows step by step.
    most = size + 2 * growth
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    # Drivers of devices need more: ``harness.native.devices`` lifts it.
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
