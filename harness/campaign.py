"""A campaign: draw cases, run them on the workers, turn failures into findings.

The campaign emits its state; it prints nothing. Whoever shows it reads ``State``.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from generators.axes import Family
from generators.program import Case, Valid
from harness.drawing import stream
from harness.finding import Finding
from harness.gaps import Gap, Met
from harness.investigation import Investigations
from harness.journal import DRAWN, Journal, JournalError
from harness.outcome import Outcome, Verdict
from harness.pool import Job, Pool

SPECIAL_REGIME = "special"
"""The regime of infinities, NaN and their like, whose verdicts are counted apart."""
_QUEUE_PER_WORKER = 2


@dataclass(frozen=True, slots=True)
class Plan:
    """What a campaign does: families, seed, its end (seconds or number of cases), fixes.

    ``grace`` is how many seconds it then still looks into what it found. ``uniform`` says that
    drawing is not steered (see ``harness.drawing``).
    """

    families: tuple[Family, ...]
    seed: int
    seconds: float
    fixes: bool
    most_cases: int | None = None
    grace: float = 45.0
    uniform: bool = False


@dataclass(slots=True)
class State:
    """Where a campaign stands, for whoever shows it.

    ``verdicts`` counts those of drawn cases, but for the special regime, which ``special`` counts.
    ``taken_up`` of the ``cases`` ran before, in the campaign that this one goes on with.
    """

    started: float = field(default_factory=time.monotonic)
    cases: int = 0
    taken_up: int = 0
    checks: int = 0
    trials: int = 0
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    special: Counter[Verdict] = field(default_factory=Counter)
    gaps: Met = field(default_factory=Met)
    oracle_counts: Counter[int] = field(default_factory=Counter)
    cells: set[tuple[str, str, str]] = field(default_factory=set)
    findings: dict[str, Finding] = field(default_factory=dict)
    busy: tuple[str, ...] = ()
    investigating: int = 0
    phase: str = "running"

    @property
    def elapsed(self) -> float:
        """Seconds since the campaign began."""
        return time.monotonic() - self.started


class Campaign:
    """Runs ``plan`` on ``pool``, writing everything to ``journal``.

    What the journal holds already, of a campaign that ended early, is taken up: no case runs again
    but those that never ended. Call ``run`` once; it returns when the plan is fulfilled, or raises
    ``KeyboardInterrupt`` through after everything found has been written.
    """

    def __init__(self, plan: Plan, pool: Pool, journal: Journal, gaps: Sequence[Gap]):
        self.plan = plan
        self.pool = pool
        self.journal = journal
        self.gaps = gaps
        self.state = State()
        self._families = {family.name: family for family in plan.families}
        self._started = 0
        self._investigations = Investigations(
            plan.families, journal, self.state.findings, lambda job: pool.submit(job, first=True)
        )
        self._cases: Iterator[Case] = stream(plan.families, plan.seed, uniform=plan.uniform)

    def run(self, show: Callable[[State], None]) -> State:
        """Run to the end of the plan; ``show`` is given the state several times a second."""
        try:
            self._take_up(show)
            while not self._over():
                self._top_up()
                self._collect(show)
            self.state.phase = "finishing"
            end = time.monotonic() + self.plan.grace
            while (self.pool.running or self.pool.waiting) and time.monotonic() < end:
                self._collect(show)
        finally:
            self.state.phase = "ended"
            self.state.investigating = self._investigations.unfinished
            self._investigations.save()
        return self.state

    def _take_up(self, show: Callable[[State], None]) -> None:
        """Go on where the journal ends."""
        state = self.state
        drawn: set[str] = set()
        for record in self.journal.findings():
            finding = msgspec.structs.replace(msgspec.json.decode(record, type=Finding), count=0)
            state.findings[finding.fingerprint] = finding
        for one in self.journal.cases(DRAWN):
            self._started += 1
            drawn.add(one.case.identifier)
            if one.outcome is None:
                self.pool.submit(Job(one.case))
                continue
            gap = self._tally(one.case, one.outcome)
            if gap != one.gap:
                self.journal.end(one.case, one.outcome, gap)
            if gap is None and one.finding in state.findings:
                self._investigations.add(one.finding)
            elif gap is None:
                self._investigations.look_into(one.case, one.outcome)
        self._investigations.confirm_all()
        state.taken_up = state.cases
        self._pass_over(drawn, show)

    def _pass_over(self, drawn: set[str], show: Callable[[State], None]) -> None:
        """Draw the cases ``drawn`` again, with which every campaign of this plan begins."""
        self.state.phase = "passing over the cases that were drawn before"
        left = set(drawn)
        while left:
            case = self._next_case()
            if case.identifier not in drawn:
                raise JournalError(
                    f"{self.journal.path} was drawn by another version of relaxcheck: this one "
                    "draws other cases; start a new campaign"
                )
            left.discard(case.identifier)
            show(self.state)
        self.state.phase = "running"
        self.state.started = time.monotonic()

    def _next_case(self) -> Case:
        return msgspec.structs.replace(next(self._cases), fixes=self.plan.fixes)

    def _over(self) -> bool:
        most = self.plan.most_cases
        if most is not None and self._started >= most:
            return True
        return self.state.elapsed >= self.plan.seconds

    def _top_up(self) -> None:
        wanted = _QUEUE_PER_WORKER * self.pool.size
        while self.pool.running + self.pool.waiting < wanted and not self._over():
            case = self._next_case()
            if self.journal.start(case, DRAWN):
                self._started += 1
                self.pool.submit(Job(case))

    def _collect(self, show: Callable[[State], None]) -> None:
        for job, outcome in self.pool.wait(0.1):
            if job.tag is None:
                self._drawn(job.case, outcome)
            else:
                self.state.trials += 1
                self._investigations.advance(job, outcome)
        self.state.busy = self.pool.busy
        self.state.investigating = self._investigations.active
        show(self.state)

    def _drawn(self, case: Case, outcome: Outcome) -> None:
        gap = self._tally(case, outcome)
        self.journal.end(case, outcome, gap)
        if gap is None:
            self._investigations.look_into(case, outcome)

    def _tally(self, case: Case, outcome: Outcome) -> str | None:
        """Count the outcome of a drawn case; the known gap that it falls into, if any."""
        state = self.state
        state.cases += 1
        state.checks += len(outcome.checks)
        point = self._families[case.family].point(case) if isinstance(case.expect, Valid) else {}
        state.cells.update((case.family, axis, str(value)) for axis, value in point.items())
        if outcome.checks:
            state.oracle_counts[len(outcome.oracles)] += 1
        gap = state.gaps.meet(self.gaps, case, point, outcome, self.pool.environment)
        if gap is None:
            counts = state.special if case.regime == SPECIAL_REGIME else state.verdicts
            counts[outcome.verdict] += 1
        return gap
