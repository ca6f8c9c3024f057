"""The outcomes of cases that TVM refuses, or does not lower."""

from typing import Any

from relaxcheck.generators.torch.case import TorchCase
from relaxcheck.harness.compiling.building import SilentBail, StageError
from relaxcheck.harness.compiling.late_linking import nameless
from relaxcheck.harness.compiling.legalization_log import SYMPTOM, reason, reason_line
from relaxcheck.harness.outcomes.appearance import PLACE, UNKNOWN, place_of
from relaxcheck.harness.outcomes.clock import Clock
from relaxcheck.harness.outcomes.errors import error_text, normalise
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.outcomes.sources import logged_at, raised_at
from relaxcheck.harness.torch import importing, refusals


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


def refused(case: TorchCase, error: StageError, clock: Clock, late: str | None) -> Outcome:
    """The outcome of an error of TVM's.

    Its place is that in an operator's lowering or rule, or else in the importer.
    """
    message = _nameless(error_text(error.cause), late)
    at_import = error.stage == importing.STAGE
    node = importing.node_at_fault(error.cause) if at_import else ""
    place = place_of(error.cause)
    if at_import:
        place = " > ".join(filter(None, (importing.place_in_frontend(error.cause), place)))
    details: dict[str, Any] = ({PLACE: place} if place else {}) | raised_at(error.cause)
    verdict, operator = refusals.classified(case, error.stage, message, node)
    if refusals.unsupported(message):
        # One line refuses all functions that it lacks, and their causes are many.
        details.pop(PLACE, None)
    if isinstance(error.cause, MemoryError) or "MemoryError: " in str(error.cause):
        verdict, details = Verdict.OUT_OF_MEMORY, {}
    return Outcome(verdict, error.stage, operator, message, seconds=clock.seconds, details=details)


def _nameless(message: str, late: str | None) -> str:
    return message if late is None else nameless(message, late)
