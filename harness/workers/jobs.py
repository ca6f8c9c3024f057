"""Jobs of workers, their limits, and the state of each worker."""

from collections import deque
from dataclasses import dataclass, field, replace

from relaxcheck.generators.core.case import AnyCase, target_of
from relaxcheck.harness.kind import Tracing
from relaxcheck.harness.kinds import of
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.workers.marker import IDLE, Mark
from relaxcheck.harness.workers.processes import Process
from relaxcheck.harness.workers.protocol import Ask
from relaxcheck.harness.workers.spending import Spending


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a case: seconds, and bytes of memory that the worker may grow by.

    Seconds are counted as in ``workers.spending``. A worker is replaced after ``cases`` cases, or
    when it keeps more than ``kept`` bytes, so that nothing accumulates. It gets up to ``together``
    cases at a time that share one compilation. ``fresh_seconds`` are those of a fresh job (None: as
    of any): a case that only took long must not be confirmed as one that hangs. A worker has
    ``installing_seconds`` besides to put the fixes on.
    """

    seconds: float = 60.0
    fresh_seconds: float | None = None
    installing_seconds: float = 600.0
    memory: int = 4 << 30
    kept: int = 1 << 30
    cases: int = 1000
    together: int = 16


def limits_of(outcome: Outcome, otherwise: Limits) -> Limits:
    """The limits of ``outcome`` as far as it has them, else ``otherwise``.

    A timeout has its deadline: with another one the case may well end.
    """
    if outcome.ending is None or outcome.ending.seconds is None:
        return otherwise
    return replace(otherwise, seconds=outcome.ending.seconds, fresh_seconds=None)


@dataclass(frozen=True, slots=True)
class Job:
    """A case to run.

    ``fresh``: in a worker that has run nothing and is not used again, and without any shortcut.
    ``alone``: not together with others; jobs with another ``ask`` than to run must be. ``tracing``
    requires one of both. ``releases``: names of the TVM releases to run on (none: on all that have
    workers). ``fixes``: names of the fixes that are on, of a case with the fixes on that runs alone
    (none: every one that the release needs).
    """

    case: AnyCase
    tag: object = None
    fresh: bool = False
    alone: bool = False
    ask: Ask = Ask.RUN
    tracing: Tracing | None = None
    releases: tuple[str, ...] = ()
    fixes: tuple[str, ...] = ()

    @property
    def joins(self) -> str:
        """The kind and target of jobs that it may run together with; empty if it runs alone."""
        together = of(self.case).runs_together and not (self.alone or self.fresh)
        return f"{self.case.kind} {target_of(self.case)}" if together else ""


def limits_for(job: Job, limits: Limits, mark: Mark) -> Limits:
    """``limits`` with the seconds that ``job`` has at ``mark``."""
    if mark.installs:
        return replace(limits, seconds=limits.installing_seconds)
    if not job.fresh or limits.fresh_seconds is None:
        return limits
    return replace(limits, seconds=limits.fresh_seconds)


def seconds_of(job: Job, limits: Limits, mark: Mark) -> float:
    """The time that ``job`` has at ``mark`` (see ``workers.spending``).

    A stage that several cases share has three times as long.
    """
    seconds = limits_for(job, limits, mark).seconds
    return 3 * seconds if mark.number is None else seconds


@dataclass(frozen=True, slots=True)
class Queued:
    """A job, and the number of workers that it was given to before."""

    job: Job
    starts: int = 0


@dataclass(slots=True, eq=False)
class Worker:
    """A worker; ``unanswered`` are left of ``assigned`` jobs.

    From its mark ``since`` on it may take ``seconds``, and ``spending`` counts them.
    """

    process: Process
    done: int = 0
    unanswered: deque[Queued] = field(default_factory=deque)
    assigned: int = 0
    since: Mark = field(default_factory=lambda: Mark(IDLE))
    seconds: float = 0.0
    spending: Spending | None = None
    kill_reason: Verdict | None = None

    def begin(self, mark: Mark, limits: Limits) -> None:
        """Begin to count the time from ``mark`` on."""
        self.since, self.spending = mark, Spending(self.process.pid)
        self.seconds = seconds_of(self.unanswered[0].job, limits, mark)

    def follow(self, limits: Limits) -> None:
        """Begin anew where its mark is of another case, of all of them, or of no case's time."""
        now = self.process.mark
        if (now.number, now.installs) != (self.since.number, self.since.installs):
            self.begin(now, limits)

    @property
    def is_late(self) -> bool:
        """True if it takes longer than it may."""
        return self.spending is not None and self.spending.look() > self.seconds

    @property
    def on(self) -> Queued | None:
        """The job that it works on, the first one if it works on all; None if idle."""
        if not self.unanswered:
            return None
        answered = self.assigned - len(self.unanswered)
        return self.unanswered[max(0, (self.process.mark.number or 0) - answered)]

    @property
    def left(self) -> list[Queued]:
        """The jobs to give to another worker; only the current one counts as started."""
        on = self.on
        return [
            queued if queued is on else replace(queued, starts=queued.starts - 1)
            for queued in self.unanswered
        ]
