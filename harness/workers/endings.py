"""The outcome of a case whose worker ended without an answer."""

import signal

from relaxcheck.harness.outcomes.errors import corrupts_heap
from relaxcheck.harness.outcomes.outcome import Ending, Outcome, Verdict, blamed_on_us
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.harness.workers.protocol import Reply

_RUN = "run"
"""The stage in which a compiled program runs."""

_COMPARE = "compare"
"""The stage of Python's that follows it: the program's results are all that is new there."""

_FAULTS = (signal.SIGSEGV, signal.SIGBUS)


def may_be_spoilt(stage: str, ended: Reply | None, words: str) -> bool:
    """True of an end in ``stage`` that memory which something else overwrote may explain.

    TVM's programs write to memory, relaxcheck's Python does not.
    """
    faulted = ended is not None and ended.signal in _FAULTS and blamed_on_us(stage) is not None
    return faulted or corrupts_heap(words)


def outcome_of(
    stage: str, limits: Limits, reason: Verdict | None, ended: Reply | None, words: str
) -> Outcome:
    """The outcome of the case that a worker was on in ``stage``.

    ``reason`` is the limit that it was killed for, None if for none; ``ended`` is its exit, None if
    it did no more than close its connection; ``words`` are what it wrote last.
    """
    if reason is Verdict.TIMEOUT:
        ending = Ending(seconds=limits.seconds)
        message = f"still in {stage} after {limits.seconds:g} s"
    elif reason is Verdict.OUT_OF_MEMORY:
        ending = Ending(grown=limits.memory)
        message = f"grew by more than {limits.memory >> 20} MiB in {stage}"
    elif ended is None:
        ending = Ending()
        message = f"worker ended with a closed connection in {stage}"
    else:
        ending = Ending(_signal_name(ended.signal), ended.exit_code)
        how = ending.signal or f"exit code {ended.exit_code}"
        message = f"worker ended with {how} in {stage}"
    if words and reason is None:
        message += f": {words}"
    spoilt = corrupts_heap(words) or (stage == _COMPARE and may_be_spoilt(stage, ended, words))
    at = _RUN if reason is None and spoilt and blamed_on_us(stage) else stage
    verdict = blamed_on_us(at) or reason or Verdict.PROCESS_DEATH
    return Outcome(verdict, at, None, message, ending=ending)


def _signal_name(number: int | None) -> str:
    if number is None:
        return ""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
