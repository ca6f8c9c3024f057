"""Running a bisection: each trial alone in a worker, which writes its trace into a file."""

import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path

from generators.cases import AnyCase, operators
from generators.program import Case
from harness.bisection.search import Bisected, Evidence, Traced, Trial, bisect
from harness.bisection.trace import read
from harness.errors import headline
from harness.jobs import Job
from harness.outcome import Outcome
from harness.pool import Pool
from harness.protocol import Tracing

NO_PROGRAM = "it is no program that passes are looked for in"
"""Why no pass is named for an expression."""


def bisected(
    pool: Pool, case: Case, told: Callable[[int, Trial, Outcome], None] = lambda *_: None
) -> Bisected:
    """Where ``case`` breaks. ``told`` hears of each trial that ended, by its number from 1.

    Nothing else may be running on ``pool``.
    """
    with tempfile.TemporaryDirectory(prefix="relaxcheck-") as folder:
        bisection = bisect(case)
        trial = next(bisection)
        for number in count(1):
            file = Path(folder, f"{number}.jsonl")
            tracing = Tracing(str(file), trial.without, trial.show, trial.fixed, trial.direct)
            pool.submit(Job(trial.case, fresh=trial.plain, alone=True, tracing=tracing))
            ((_, outcome),) = pool.drain()
            told(number, trial, outcome)
            try:
                trial = bisection.send(Traced(outcome, read(file)))
            except StopIteration as end:
                result: Bisected = end.value
                return result
    raise AssertionError("a bisection ends")


def ran(pool: Pool, case: AnyCase) -> Bisected:
    """What comes of ``case``, which is no program, in a new process: no pass is looked for.

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
