"""Outcomes of cases with passes: what these did, and the checks that they fail."""

from msgspec.structs import replace

from relaxcheck.harness.compiling.passes.applying import Log
from relaxcheck.harness.compiling.passes.details import BROKEN, CHANGED, RAN
from relaxcheck.harness.outcomes.errors import normalise
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict


def with_passes(outcome: Outcome, log: Log) -> Outcome:
    """``outcome`` with what the passes in ``log`` did.

    One that is no failure becomes a ``broken-module`` where one of them broke the module. A failure
    is worse, and stays.
    """
    if not log.ran:
        return outcome
    details = {**outcome.details, RAN: list(log.ran), CHANGED: list(log.changed)}
    if log.broken:
        details[BROKEN] = [str(each) for each in log.broken]
    if not log.broken or outcome.verdict.is_failure:
        return replace(outcome, details=details)
    first = log.broken[0]
    return replace(
        outcome,
        verdict=Verdict.BROKEN_MODULE,
        stage=first.name,
        operator=None,
        message="\n".join(details[BROKEN]),
        cause=normalise(f"{first.check}: {first.reason}"),
        details=details,
    )
