"""A zygote whose workers judge at once without TVM, and do what ``MISBEHAVE`` says on some cases.

``JUDGE_SECONDS`` is how long a case takes. Misbehaving are the cases whose seed ``CHOSEN`` divides.
"""

import ctypes
import os
import signal
import socket
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import ModuleType
from typing import Any

from relaxcheck.generators.core.case import Valid
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.families import families
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.kind import Tracing
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.programs.kind import Programs
from tests.harness.toy_zygote import judged

CHOSEN = 5
STAGE = "LambdaLift"


def chosen(case: Case) -> bool:
    return isinstance(case.expect, Valid) and case.seed % CHOSEN == 0


def answer(case: Case, progress: Callable[[str], None]) -> Outcome:
    progress(STAGE)
    time.sleep(float(os.environ.get("JUDGE_SECONDS", "0")))
    if chosen(case):
        misbehave(os.environ.get("MISBEHAVE", ""))
    return judged(case)


def answers(cases: Sequence[Case], progress: Callable[[int, str], None]) -> Iterator[Outcome]:
    for number, case in enumerate(cases):
        yield answer(case, partial(progress, number))


def misbehave(how: str) -> None:
    match how:
        case "hang":
            # In C, with the interpreter's lock held.
            ctypes.PyDLL(None).sleep(3600)
        case "hoard":
            kept = []
            while True:
                kept.append(bytearray(b"x" * (1 << 20)))
        case "hoard-in-c":
            libc = ctypes.CDLL(None)
            libc.malloc.restype = ctypes.c_void_p
            while True:
                # Touched, or it would be no memory.
                place = libc.malloc(1 << 20)
                if place is not None:
                    ctypes.memset(place, 1, 1 << 20)
        case "babble":
            for descriptor in (1, 2):
                os.write(descriptor, os.urandom(1 << 20))
        case "babble-without-end":
            # In C, where nobody looks at whether it was written.
            text = b"x" * (1 << 20)
            while True:
                ctypes.CDLL(None).write(1, text, len(text))
        case "garbage":
            os.write(connection(), os.urandom(100) + b"\n")
        case "segfault":
            ctypes.string_at(0)
        case "fork":
            leave_a_child(new_session=False)
        case "fork-session":
            leave_a_child(new_session=True)
        case "fork-segfault":
            leave_a_child(new_session=False)
            ctypes.string_at(0)


def leave_a_child(*, new_session: bool) -> None:
    """A child that lives on with everything that the worker has open."""
    if os.fork():
        return
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if new_session:
        os.setsid()
    time.sleep(3600)


def connection() -> int:
    """The descriptor on which the worker answers."""
    for name in os.listdir("/proc/self/fd"):
        descriptor = int(name)
        try:
            kind = os.fstat(descriptor).st_mode
        except OSError:
            continue
        if stat.S_ISSOCK(kind):
            return descriptor
    raise AssertionError("a worker has a socket")


def crash_after_the_answer(worker: ModuleType) -> None:
    """Have workers crash when a chosen case is behind them, before the next begins."""
    mark = worker.mark
    answered = [False]

    def marking(marker: object, stage: str, *number: object) -> None:
        mark(marker, stage, *number)
        if stage == "idle" and answered[0]:
            ctypes.string_at(0)

    class Remembering(Answered):
        def execute(self, case: Case, *others: Any, **options: Any) -> Outcome:
            answered[0] = chosen(case)
            return super().execute(case, *others, **options)

        def execute_together(self, cases: Sequence[Case], *others: Any) -> Iterator[Outcome]:
            answered[0] = any(map(chosen, cases))
            yield from super().execute_together(cases, *others)

    worker.mark = marking  # type: ignore[attr-defined]
    global KIND
    KIND = Remembering()


def crash_at_exit(worker: ModuleType) -> None:
    """Have workers crash when they are to end."""
    original = worker.serve

    def serve(connection: socket.socket, *others: object) -> None:
        original(connection, *others)
        ctypes.string_at(0)

    worker.serve = serve  # type: ignore[attr-defined]


class Answered(Programs):
    """Programs that are answered at once."""

    def prepare(self) -> None:
        # Here, that not each worker makes them.
        families(tuple(PIPELINES))

    def execute(
        self,
        case: Case,
        progress: Callable[[str], None],
        *,
        plain: bool = False,
        tracing: Tracing | None = None,
    ) -> Outcome:
        return answer(case, progress)

    def execute_together(
        self, cases: Sequence[Case], progress: Callable[[int | None, str], None]
    ) -> Iterator[Outcome]:
        return answers(cases, progress)


KIND: Programs = Answered()

if __name__ == "__main__":
    from relaxcheck.harness import kinds
    from relaxcheck.harness.workers import worker, zygote

    if os.environ.get("MISBEHAVE") == "segfault-between":
        crash_after_the_answer(worker)
    if os.environ.get("MISBEHAVE") == "segfault-at-exit":
        crash_at_exit(worker)
    kinds.PATHS = (__name__,)
    zygote.main()
