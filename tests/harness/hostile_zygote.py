"""A zygote whose workers really die, hang, grow or babble, as the case's family name says."""

import ctypes
import os
import signal
import time

import harness.worker
from generators.program import Case
from harness import zygote
from harness.conduct import Progress
from harness.outcome import Outcome, Verdict


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
        case "allocate":
            bytearray(1 << 40)
        case "babble":
            os.write(1, b'{"verdict": "pass"}\n' * 1000)
        case "raise":
            raise RuntimeError("a fault of the harness")
    return Outcome(Verdict.PASS)


if __name__ == "__main__":
    harness.worker.conduct = misbehave
    zygote.main()
