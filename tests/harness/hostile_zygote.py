"""A zygote whose workers really die, hang, grow or babble, as the case's family name says."""

import ctypes
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import harness.worker
from generators.program import Case
from harness import zygote
from harness.conduct import Progress
from harness.outcome import Outcome, Verdict

KEPT: list[bytearray] = []


def misbehave(case: Case, progress: Progress, *, plain: bool) -> Outcome:
    where, _, how = case.family.rpartition("-")
    progress(where or "LambdaLift")
    match how:
        case "segfault":
            ctypes.string_at(0)
        case "abort":
            os.write(2, b"terminate called after throwing an instance of 'std::logic_error'\n")
            os.abort()
        case "exit":
            os._exit(3)
        case "hang":
            # In C, with the interpreter's lock held: no Python signal handler could end it.
            ctypes.PyDLL(None).sleep(3600)
        case "sleep":
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
    return Outcome(Verdict.PASS)


def misbehave_together(
    cases: Sequence[Case], progress: Callable[[int | None, str], None]
) -> Iterator[Outcome]:
    """Begin all, share a step (``link-abort`` fails there), end all (``run-abort`` there)."""
    for number, case in enumerate(cases):
        if not case.family.startswith(("link-", "run-")):
            misbehave(case, partial(progress, number), plain=False)
    progress(None, "link")
    for case in cases:
        if case.family.startswith("link-"):
            misbehave(case, partial(progress, None), plain=False)
    for number, case in enumerate(cases):
        if case.family.startswith("run-"):
            misbehave(case, partial(progress, number), plain=False)
        yield Outcome(Verdict.PASS)


if __name__ == "__main__":
    harness.worker.conduct = misbehave
    harness.worker.conduct_together = misbehave_together
    zygote.main()
