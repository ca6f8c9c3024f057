"""A zygote whose workers really die, hang, grow or babble, as the case's family name says."""

import ctypes
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from relaxcheck.generators.core.program import Case
from relaxcheck.harness import kinds
from relaxcheck.harness.kind import Progress, Tracing
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs.kind import Programs
from relaxcheck.harness.workers import zygote

KEPT: list[bytearray] = []
SPOILT: list[bool] = []


def misbehave(case: Case, progress: Progress) -> Outcome:
    where, _, how = case.family.rpartition("-")
    progress(where or "LambdaLift")
    match how:
        case "segfault":
            ctypes.string_at(0)
        case "abort":
            os.write(2, b"terminate called after throwing an instance of 'std::logic_error'\n")
            os.abort()
        case "corrupted":
            os.write(2, b"free(): invalid next size (fast)\n")
            os.abort()
        case "spoil":
            SPOILT.append(True)
        case "spoilt" if SPOILT:
            os.write(2, b"malloc(): memory corruption\n")
            os.abort()
        case "unreadable" if SPOILT:
            ctypes.string_at(0)
        case "exit":
            os._exit(3)
        case "hang":
            # In C, with the interpreter's lock held: no Python signal handler could end it.
            ctypes.PyDLL(None).sleep(3600)
        case "sleep":
            time.sleep(3600)
        case "slow":
            time.sleep(1)
        case "late":
            time.sleep(0.6)
            progress("LambdaLift")
            time.sleep(3600)
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "grow":
            hoard = [bytearray(1 << 20) for _ in range(1 << 12)]
            time.sleep(len(hoard))
        case "keep":
            # Written to, so that it is there.
            KEPT.append(bytearray(os.urandom(1 << 20)) * 64)
        case "allocate":
            bytearray(1 << 40)
        case "babble":
            os.write(1, b'{"verdict": "pass"}\n' * 1000)
        case "raise":
            raise RuntimeError("a fault of the harness")
        case "warmed":
            return Outcome(Verdict.PASS, None, None, f"{_WARMED} {os.getpid()}")
    return Outcome(Verdict.PASS)


def misbehave_together(
    cases: Sequence[Case], progress: Callable[[int | None, str], None]
) -> Iterator[Outcome]:
    """Begin all, share a step (``link-abort`` fails there), end all (``run-abort`` there)."""
    for number, case in enumerate(cases):
        if not case.family.startswith(("link-", "run-")):
            misbehave(case, partial(progress, number))
    progress(None, "link")
    for case in cases:
        if case.family.startswith("link-"):
            misbehave(case, partial(progress, None))
    for number, case in enumerate(cases):
        if case.family.startswith("run-"):
            misbehave(case, partial(progress, number))
        yield Outcome(Verdict.PASS)


_WARMED: list[int] = []
"""The processes that warmed the kind, in order."""


class Hostile(Programs):
    """Programs whose execution is ``misbehave``."""

    def prepare(self) -> None:
        pass

    def warm(self) -> None:
        _WARMED.append(os.getpid())

    def execute(
        self, case: Case, progress: Progress, *, plain: bool = False, tracing: Tracing | None = None
    ) -> Outcome:
        return misbehave(case, progress)

    def execute_together(
        self, cases: Sequence[Case], progress: Callable[[int | None, str], None]
    ) -> Iterator[Outcome]:
        return misbehave_together(cases, progress)


KIND = Hostile()

if __name__ == "__main__":
    kinds.PATHS = (__name__,)
    zygote.main()
