"""Running a bisection: each trial alone in a worker, which writes its trace into a file."""

import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path

from generators.program import Case
from harness.bisection.search import Bisected, Traced, Trial, bisect
from harness.bisection.trace import read
from harness.jobs import Job
from harness.outcome import Outcome
from harness.pool import Pool
from harness.protocol import Tracing


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
