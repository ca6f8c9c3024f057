"""Drawing programs for passes until each has changed enough of them.

To see that a pass changes a program, and that the module it returns holds, nothing need be
compiled: one program in a few is, so that the result is judged as well.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.core.case import AnyCase
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.passes import PASSES
from relaxcheck.generators.passes.family import PREFIX, families
from relaxcheck.harness.campaign.drawing import stream
from relaxcheck.harness.journal.journal import DRAWN, Journal
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.programs.support.passes import Tally
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.pool import Pool
from relaxcheck.harness.workers.protocol import Ask

PIPELINES = ("build", "default-pipeline")
"""The pipelines that compile the programs which are compiled."""

_TIMES = 6
"""Programs of a pass at most, for each that it is to change."""

_IDLE = 20
"""Of a pass that changes nothing by its record, one program for so many that were to change."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Programs that each of ``passes`` is to change; one in ``every`` is compiled and judged."""

    passes: tuple[str, ...]
    changed: int = 500
    every: int = 10
    seed: int = 1


@dataclass(slots=True)
class Row:
    """A pass, its ``tally`` so far, and its cases from the next one on.

    ``drawn`` of them are used up, also by an earlier run; ``running`` have no outcome yet.
    """

    family: Family
    cases: Iterator[AnyCase]
    tally: Tally
    changed: int
    most: int
    drawn: int = 0
    running: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def wants(self) -> bool:
        """True if it takes more programs, even where it changes all that run."""
        return self.tally.changed + self.running < self.changed and self.drawn < self.most

    @property
    def ended(self) -> bool:
        """True if it has changed enough, or had its most programs."""
        return not (self.running or self.wants)


Show = Callable[[Sequence[Row]], None]
"""Called with all rows as often as something ends."""


def changing(wanted: Wanted, pool: Pool, journal: Journal, show: Show) -> tuple[Row, ...]:
    """Draw programs for each pass, run them on ``pool``, and write them to ``journal``.

    The programs that the journal holds count; those without an outcome run again.

    Raises:
        PoolError: the workers cannot go on.
        JournalError: the journal cannot be written.
        KeyboardInterrupt: it is interrupted; the journal has what ended.
    """
    rows = {row.family.name: row for row in _rows(wanted)}
    left: list[Case] = []
    for recorded in journal.cases(DRAWN):
        case, row = recorded.case, rows.get(recorded.case.family)
        if row is None or not isinstance(case, Case):
            continue
        if recorded.outcome is not None:
            row.tally.count(case, recorded.outcome)
        else:
            left.append(case)
            row.running += 1
    jobs = [Job(case, alone=True, ask=Ask.APPLY) for case in left]

    def next_job() -> Job | None:
        if jobs:
            return jobs.pop()
        return next(filter(None, (_job(wanted, row, journal) for row in rows.values())), None)

    while True:
        while pool.running + pool.waiting < pool.appetite and (job := next_job()):
            pool.submit(job)
        if not (pool.running or pool.waiting):
            return tuple(rows.values())
        for job, outcome in pool.wait(0.2):
            row = rows[job.case.family]
            journal.end(job.case, outcome)
            row.running -= 1
            row.tally.count(job.case, outcome)
            if outcome.verdict is Verdict.HARNESS_ERROR:
                row.faults.append(f"{job.case.identifier}: {outcome.message.strip()}")
        show([*rows.values()])


def _rows(wanted: Wanted) -> Iterator[Row]:
    known = {family.name: family for family in families(PIPELINES)}
    for name in wanted.passes:
        family = known[PREFIX + name]
        cases = stream((family,), wanted.seed)
        few, many = -(-wanted.changed // _IDLE), _TIMES * wanted.changed
        yield Row(family, cases, Tally(name), wanted.changed, few if PASSES[name].idle else many)


def _job(wanted: Wanted, row: Row, journal: Journal) -> Job | None:
    """The next job of ``row``; None if it wants none."""
    while row.wants:
        case = next(row.cases)
        row.drawn += 1
        # An earlier run has had it, or it was drawn twice.
        if journal.start(case, DRAWN):
            row.running += 1
            if row.drawn % wanted.every == 0:
                return Job(case)
            return Job(case, alone=True, ask=Ask.APPLY)
    return None
