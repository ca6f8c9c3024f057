"""What workers are given to do, what they may use for it, and what each is on."""

from collections import deque
from dataclasses import dataclass, field, replace

from generators.cases import AnyCase
from generators.program import Case
from harness.outcome import Verdict
from harness.processes import Process
from harness.protocol import Ask, Tracing


@dataclass(frozen=True, slots=True)
class Limits:
    """What a case may use: wall-clock seconds, and bytes of memory the worker may grow by.

    A worker is replaced after ``cases`` cases, or once it keeps more than ``kept`` bytes, so that
    nothing accumulates. It is given up to ``together`` cases at a time, whose native code is
    generated and linked at once.
    """

    seconds: float = 60.0
    memory: int = 4 << 30
    kept: int = 1 << 30
    cases: int = 1000
    together: int = 8


@dataclass(frozen=True, slots=True)
class Job:
    """A case to run.

    ``fresh``: in a worker that has run nothing and is not used again, and without any shortcut;
    ``alone``: not together with others, as everything has to be that the reference is asked about;
    ``tracing``: only of one that is either; ``releases``: where it runs, of several TVM releases
    that there are workers of (by name; none: on all of them).
    """

    case: AnyCase
    tag: object = None
    fresh: bool = False
    alone: bool = False
    ask: Ask = Ask.RUN
    tracing: Tracing | None = None
    releases: tuple[str, ...] = ()

    @property
    def joins(self) -> bool:
        """Whether it may run together with others: what is no program has no code to share."""
        return isinstance(self.case, Case) and not (self.alone or self.fresh)


@dataclass(frozen=True, slots=True)
class Queued:
    """A job, and how many workers it was given to before."""

    job: Job
    starts: int = 0


@dataclass(slots=True, eq=False)
class Worker:
    """``unanswered`` are what is left of the ``given`` jobs; ``number`` is of the one it was on."""

    process: Process
    done: int = 0
    unanswered: deque[Queued] = field(default_factory=deque)
    given: int = 0
    number: int | None = 0
    deadline: float = 0.0
    kill_reason: Verdict | None = None

    @property
    def on(self) -> Queued | None:
        """What it is on, the first of those that are left where it is on all; None if idle."""
        if not self.unanswered:
            return None
        answered = self.given - len(self.unanswered)
        return self.unanswered[max(0, (self.process.mark.number or 0) - answered)]

    @property
    def left(self) -> list[Queued]:
        """What is left to be given to another; it has been started only where it was on it."""
        on = self.on
        return [
            one if one is on else replace(one, starts=one.starts - 1) for one in self.unanswered
        ]
