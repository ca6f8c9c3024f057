"""Running a bisection: each trial alone in a worker, which writes its trace into a file."""

import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path

from relaxcheck.generators.core.case import AnyCase
from relaxcheck.harness.kind import Tracing
from relaxcheck.harness.kinds import operators
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.triage.bisection.search import Bisected, Evidence, Traced, Trial, bisect
from relaxcheck.harness.triage.bisection.trace import read
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.rooms import Runs, by_chance, watched

NO_PROGRAM = "it is no program that passes are looked for in"
"""The reason that no pass is named for an expression."""


def bisected(
    pool: Runs, case: AnyCase, show: Callable[[int, Trial, Outcome], None] = lambda *_: None
) -> Bisected:
    """Bisect ``case``; call ``show`` with each trial that ended and its number, from 1.

    Nothing else may be running on ``pool``.
    """
    with tempfile.TemporaryDirectory(prefix="relaxcheck-") as folder:
        bisection = bisect(case)
        trial = next(bisection)
        for number in count(1):
            file = Path(folder, f"{number}.jsonl")
            tracing = Tracing(
                str(file),
                trial.without,
                trial.show,
                trial.fixed,
                trial.direct,
                trial.formed,
                trial.within,
                trial.held,
                trial.after,
            )
            pool.submit(Job(trial.case, fresh=trial.plain, alone=True, tracing=tracing))
            ((_, outcome),) = pool.drain()
            show(number, trial, outcome)
            if number == 1 and by_chance(outcome):
                looking = watched(pool, case, outcome)
                if looking is not pool:
                    return bisected(looking, case, show)
            try:
                trial = bisection.send(Traced(outcome, read(file)))
            except StopIteration as end:
                result: Bisected = end.value
                return result
    raise AssertionError("a bisection ends")


def ran(pool: Runs, case: AnyCase) -> Bisected:
    """Run ``case``, whose kind has no passes, in a new process.

    Nothing else may be running on ``pool``.
    """
    pool.submit(Job(case, fresh=True))
    ((_, outcome),) = pool.drain()
    return Bisected(
        case.identifier,
        outcome.verdict,
        outcome.stage,
        headline(outcome.message),
        None,
        Evidence.NONE,
        NO_PROGRAM,
        " + ".join(operators(case)),
    )
