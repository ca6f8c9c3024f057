"""The outcomes of cases that TVM refuses."""

from typing import Any

from relaxcheck.generators.torch.case import TorchCase
from relaxcheck.harness.compiling.ending import lacked_memory, message_of
from relaxcheck.harness.compiling.passes.stages import StageError
from relaxcheck.harness.outcomes.appearance import PLACE, place_of
from relaxcheck.harness.outcomes.clock import Clock
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.outcomes.sources import raised_at
from relaxcheck.harness.torch import importing, refusals


def refused(case: TorchCase, error: StageError, clock: Clock, late: str | None) -> Outcome:
    """The outcome of an error of TVM's.

    Its place is that in an operator's lowering or rule, or else in the importer.
    """
    message = message_of(error, late)
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
    if lacked_memory(error):
        verdict, details = Verdict.OUT_OF_MEMORY, {}
    return Outcome(verdict, error.stage, operator, message, seconds=clock.seconds, details=details)
