"""Running the case of an export in a new process."""

from relaxcheck.generators.core.case import AnyCase, CaseError
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.reduction.search import was_refused
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.rooms import Runs


class FaultError(CaseError):
    """relaxcheck itself failed on a case, in one line."""


def again(case: AnyCase, pool: Runs, called: str) -> Outcome:
    """The outcome of ``case`` in a new process, without any shortcut.

    Raises:
        CaseError: it cannot be read.
        FaultError: relaxcheck itself fails on it.
    """
    plain = Job(case, fresh=True)
    pool.submit(plain)
    return ours_apart(next(outcome for job, outcome in pool.drain() if job is plain), called)


def ours_apart(outcome: Outcome, called: str) -> Outcome:
    """``outcome``, unless relaxcheck itself failed. Raises as ``again``."""
    if outcome.verdict is not Verdict.HARNESS_ERROR:
        return outcome
    text = f"{called}: {headline(outcome.message)}"
    bad = outcome.stage == "read" or was_refused(outcome)
    raise CaseError(text) if bad else FaultError(text)
