"""The outcomes of cases that end while TVM compiles them."""

from typing import Any

from relaxcheck.harness.compiling.late_linking import nameless
from relaxcheck.harness.compiling.legalization_log import SYMPTOM, reason, reason_line
from relaxcheck.harness.compiling.passes.stages import SilentBail, StageError
from relaxcheck.harness.outcomes.appearance import UNKNOWN
from relaxcheck.harness.outcomes.clock import Clock
from relaxcheck.harness.outcomes.errors import error_text, normalise
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.outcomes.sources import logged_at


def message_of(error: StageError, late: str | None) -> str:
    """The text of ``error``, without the name ``late`` that late linking gave the program."""
    return _nameless(error_text(error.cause), late)


def lacked_memory(error: StageError) -> bool:
    """True if memory ran out.

    An error that NumPy raised inside a legalization comes back through TVM as another class.
    """
    return isinstance(error.cause, MemoryError) or "MemoryError: " in str(error.cause)


def built(checked: str, clock: Clock) -> Outcome:
    """The outcome of code that cannot run here; ``checked`` says how it was checked."""
    return Outcome(Verdict.BUILT, None, None, checked, seconds=clock.seconds)


def left(bail: SilentBail, clock: Clock, late: str | None) -> Outcome:
    """The outcome of a high-level call that LegalizeOps left."""
    calls = _nameless("left after LegalizeOps: " + "; ".join(bail.calls), late)
    why = _nameless(reason(bail.operators[0], bail.logged), late)
    details: dict[str, Any] = {UNKNOWN: bail.unknown} if bail.unknown else {}
    if bail.symptom is not None:
        details[SYMPTOM] = _nameless(error_text(bail.symptom), late)
    return Outcome(
        Verdict.SILENT_BAIL,
        bail.stage,
        bail.operators[0].removeprefix("relax."),
        f"{calls}\n{why}" if why else calls,
        seconds=clock.seconds,
        cause=normalise(why),
        details=details | logged_at(reason_line(bail.operators[0], bail.logged)),
    )


def _nameless(message: str, late: str | None) -> str:
    return message if late is None else nameless(message, late)
