"""A campaign: draw cases, run them on the workers, turn failures into findings.

The campaign emits its state; it prints nothing. Whoever shows it reads ``State``.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import isinf

import msgspec

from generators.axes import Family
from generators.cases import AnyCase
from generators.steering import possible
from harness.company import Company, is_part
from harness.differential import by_release, marked, passed, seen_on, worst
from harness.drawing import WHOLE, Shard, stream
from harness.errors import headline
from harness.events import Event, What
from harness.fates import Fate, fates_by_release
from harness.finding import Finding
from harness.gaps import Gap, place_of
from harness.investigation import Investigations
from harness.jobs import Job
from harness.journal import DRAWN, TRIAL, Journal, JournalError
from harness.met import Met
from harness.outcome import Outcome
from harness.parts import drawn_as, parts_of
from harness.pool import Pool
from harness.pools import Pools
from harness.state import State, tally

_COVERAGE_SECONDS = 10.0
"""How far the journal's coverage may be behind; going on counts it again from the cases."""

_LEFT = object()
"""The tag of a trial that had not ended when the campaign did; whoever asked for it is gone."""

_MOST_LOST = 100
"""Cases that a damaged journal may have lost for each that it kept."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a campaign does: families, seed, its end (seconds, perhaps infinite, or cases), fixes.

    What is drawn runs without the fixes, with them, or both, as ``fixes`` lists. ``grace`` is how
    many seconds it then still looks into what it found. ``uniform`` says that drawing is not
    steered, ``shard`` which part is drawn (see ``harness.drawing``). ``grids`` are the families
    with all the values that a failure is reduced along, where ``families`` draw only some of them.
    The cases of ``known`` findings run first; with ``until_new`` the first confirmed failure that
    is none of them is the end.
    """

    families: tuple[Family, ...]
    seed: int
    seconds: float
    fixes: tuple[bool, ...]
    most_cases: int | None = None
    grace: float = 45.0
    uniform: bool = False
    shard: Shard = WHOLE
    grids: tuple[Family, ...] = ()
    known: tuple[Finding, ...] = ()
    until_new: bool = False

    @property
    def extent(self) -> str:
        """How long it is, for a person to read: "5 minutes", "900 cases", or whichever is first."""
        ends = [] if isinf(self.seconds) else [f"{self.seconds / 60:g} minutes"]
        if self.most_cases is not None:
            ends.append(f"{self.most_cases} cases")
        return " or ".join(ends)

    def cases(self) -> Iterator[AnyCase]:
        """The cases in the order in which they run, without end."""
        for drawn in stream(self.families, self.seed, uniform=self.uniform, shard=self.shard):
            for fixes in self.fixes:
                yield msgspec.structs.replace(drawn, fixes=fixes)


class Campaign:
    """Runs ``plan`` on ``pool``, writing everything to ``journal``.

    What the journal holds already, of a campaign that ended early, is taken up: no case runs again
    but those that never ended. Call ``run`` once; it returns when the plan is fulfilled, or it is
    asked to end. What is found is written then, and also when an exception ends it.
    """

    def __init__(self, plan: Plan, pool: Pool | Pools, journal: Journal, gaps: Sequence[Gap]):
        self.plan = plan
        self.pool = pool
        self.journal = journal
        self.state = State()
        grids = plan.grids or plan.families
        self._families = {family.name: family for family in grids}
        self.state.pairs = {family.name: possible(family.axes)[0] for family in plan.families}
        self.state.all_pairs = sum(pairs.count for pairs in self.state.pairs.values())
        self._started = 0
        self._counted = time.monotonic()
        self._cpu = time.process_time()
        self._stop: Callable[[], str | None] = lambda: None
        self._investigations = Investigations(
            grids,
            journal,
            self.state.findings,
            lambda job: pool.submit(job, first=True),
            self._marked,
        )
        self._gaps = gaps
        self._company = Company()
        self._cases = plan.cases()
        self._tally = partial(tally, self.state, self._families, gaps, pool.environment)

    def run(
        self, show: Callable[[State], None], stop: Callable[[], str | None] = lambda: None
    ) -> State:
        """Run to the end of the plan; ``show`` is given the state several times a second.

        ``stop`` is asked as often: what it says, if anything, ends the campaign early.
        """
        self._stop = stop
        try:
            self._take_up(show)
            self._try_known(show)
            while not self._over():
                self._top_up()
                self._collect(show)
            self.state.phase = "finishing"
            end = time.monotonic() + self.plan.grace
            while self.pool.running or self.pool.waiting:
                if stop() or time.monotonic() >= end:
                    break
                self._collect(show)
        finally:
            self.state.phase = "ended"
            self.state.investigating = self._investigations.unfinished
            self.state.unexplained = self._investigations.unexplained
            self._investigations.save()
            self._note_events()
            self._note_company()
            self.journal.write_coverage(self.state.cells)
            self.state.interrupted = stop()
            if self.state.interrupted:
                said = f"by {self.state.interrupted} after {self.state.cases} cases"
                self.journal.note(Event(What.INTERRUPTED, said))
        return self.state

    def _take_up(self, show: Callable[[State], None]) -> None:
        """Go on where the journal ends."""
        state = self.state
        drawn: set[str] = set()
        # What a part came of may be lost, or how that ended: then nothing else tells it as one.
        damaged = self._damaged
        parts: dict[str, AnyCase] = {}
        for record in self.journal.findings():
            finding = msgspec.structs.replace(msgspec.json.decode(record, type=Finding), count=0)
            state.findings[finding.fingerprint] = finding
        for one in self.journal.cases(DRAWN):
            if not (damaged and is_part(one.case, self._families)):
                drawn.add(one.case.identifier)
            if one.outcome is None:
                self.pool.submit(Job(one.case))
                continue
            self._company.add(one.case, one.outcome)
            parts |= {part.identifier: part for part in parts_of(one.case, one.outcome)}
            gap, failure = self._tally(one.case, one.outcome)
            if gap != one.gap:
                self.journal.end(one.case, one.outcome, gap)
            if failure is not None and one.finding in state.findings:
                self._investigations.add(one.finding)
            elif failure is not None:
                self._investigations.look_into(one.case, *failure)
        self._investigations.confirm_all()
        for part in parts.values():
            self._begin_part(part)
        drawn -= parts.keys()
        for case in self.journal.unended(TRIAL):
            self.pool.submit(Job(case, _LEFT))
        state.taken_up = state.cases
        if drawn:
            self.journal.note(Event(What.RESUMED, f"after {len(drawn)} cases"))
            self._pass_over(drawn, show)

    @property
    def _damaged(self) -> bool:
        return any(event.what is What.SALVAGED for event in self.journal.events())

    def _pass_over(self, drawn: set[str], show: Callable[[State], None]) -> None:
        """Draw the cases ``drawn`` again, with which every campaign of this plan begins.

        Those between them that a damaged journal lost run now.
        """
        self.state.phase = "passing over the cases that were drawn before"
        most = _MOST_LOST * len(drawn) if self._damaged else 0
        left = set(drawn)
        lost: dict[str, AnyCase] = {}
        while left and not self._stop():
            case = next(self._cases)
            if case.identifier not in drawn:
                lost[case.identifier] = case
            else:
                self._started += drawn_as(case)
            if len(lost) > most:
                raise JournalError(
                    f"{self.journal.path} was drawn by another version of relaxcheck: this one "
                    "draws other cases; start a new campaign"
                )
            left.discard(case.identifier)
            show(self.state)
        for case in lost.values():
            self.pool.submit(*self._begun(case))
        self.state.phase = "running"
        self.state.started = time.monotonic()
        self._cpu = time.process_time()

    def _try_known(self, show: Callable[[State], None]) -> None:
        """Run the cases of the known findings before any other; look into what fails otherwise."""
        state = self.state
        for finding in self.plan.known:
            state.known[finding.fingerprint] = Fate.UNTRIED
            case = finding.case
            if case.family in self._families and case.fixes in self.plan.fixes:
                self.journal.start(case, TRIAL)
                self.pool.submit(Job(case, finding, fresh=True))
        state.phase = "trying what is known"
        while self.pool.running or self.pool.waiting:
            if self._stop() or state.elapsed >= self.plan.seconds:
                break
            self._collect(show)
        state.phase = "running"

    def _tried(self, finding: Finding, outcome: Outcome) -> None:
        case = finding.case
        self.journal.end(case, outcome, purpose=TRIAL)
        outcome = self._marked(case, outcome)
        failure = worst(outcome)
        outcomes = by_release(outcome)
        fates = fates_by_release(finding, outcomes)
        fate = Fate.GONE if all(map(passed, outcomes.values())) else Fate.UNDECIDED
        if again := [name for name, one in fates.items() if one is Fate.STILL]:
            fate = Fate.STILL
            # Where it came into being, if that is one of them: so it is told as what it is.
            at = failure.outcome.release if failure is not None else ""
            known = seen_on(at if at in again else again[-1], outcomes)
            self._investigations.adopt(msgspec.structs.replace(finding, outcome=known))
        # Where it is known it neither passed nor failed; what is new elsewhere is looked into.
        known_on = {
            name: one.gap or finding.fingerprint * (name in again) for name, one in outcomes.items()
        }
        new = worst(marked(outcome, known_on))
        if new is not None and new.outcome.verdict.is_failure:
            fate = fate if again else Fate.OTHERWISE
            self._investigations.look_into(case, *new)
        self.state.known[finding.fingerprint] = fate
        if len(outcomes) > 1:
            self.state.fates[finding.fingerprint] = fates

    def _marked(self, case: AnyCase, outcome: Outcome) -> Outcome:
        """``outcome`` with the declared gaps that it fell into, which are not counted."""
        place = place_of(case, self._families.get(case.family))
        environment = self.pool.environment
        return marked(outcome, Met().meet_all(self._gaps, place, outcome, environment))

    def _over(self) -> bool:
        if self._stop() or (self.plan.until_new and any(one.confirmed for one in self.state.new)):
            return True
        most = self.plan.most_cases
        if most is not None and self._started >= most:
            return True
        return self.state.elapsed >= self.plan.seconds

    def _top_up(self) -> None:
        wanted = self.pool.appetite - self.pool.running - self.pool.waiting
        jobs: list[Job] = []
        while len(jobs) < wanted and not self._over():
            jobs += self._begun(next(self._cases))
        self.pool.submit(*jobs)

    def _begun(self, case: AnyCase) -> list[Job]:
        """What there is to run of a case that was drawn: nothing where the journal has it."""
        if not self.journal.start(case, DRAWN):
            return []
        self._started += drawn_as(case)
        return [Job(case)]

    def _begin_part(self, part: AnyCase) -> None:
        """Run a part of a block, unless the journal has it."""
        if self.journal.start(part, DRAWN):
            self.pool.submit(Job(part), first=True)

    def _collect(self, show: Callable[[State], None]) -> None:
        for job, outcome in self.pool.wait(0.1):
            for one in by_release(outcome).values():
                self.state.cases_cpu += sum(one.seconds.values())
            if job.tag is None:
                self._drawn(job.case, outcome)
            elif isinstance(job.tag, Finding):
                self.state.trials += 1
                self._tried(job.tag, outcome)
            elif job.tag is _LEFT:
                self.journal.end(job.case, outcome, purpose=TRIAL)
            else:
                self.state.trials += 1
                self._investigations.advance(job, outcome)
        self._note_events()
        if time.monotonic() - self._counted > _COVERAGE_SECONDS:
            self._counted = time.monotonic()
            self.journal.write_coverage(self.state.cells)
        self.state.engine_cpu = time.process_time() - self._cpu
        self.state.busy = self.pool.busy
        self.state.investigating = self._investigations.active
        show(self.state)

    def _note_events(self) -> None:
        for event in self.pool.take_events():
            self.journal.note(event)

    def _note_company(self) -> None:
        """Count what failed in blocks and is in no verdict; write down what was not before."""
        self._company.look_up(self.journal.ended)
        self.state.waiting = self._company.waiting
        unrepeated = self._company.unrepeated
        self.state.unrepeated = len(unrepeated)
        written = set(self.journal.events()) if unrepeated else set()
        for event in unrepeated:
            if event not in written:
                self.journal.note(event)

    def _drawn(self, case: AnyCase, outcome: Outcome) -> None:
        gap, failure = self._tally(case, outcome)
        self._company.add(case, outcome)
        self.journal.end(case, outcome, gap)
        for part in parts_of(case, outcome):
            self._begin_part(part)
        for one in filter(None, (each.retried for each in by_release(outcome).values())):
            self.journal.note(Event(What.RETRIED, f"{case.identifier}: {headline(one)}"))
        if failure is not None:
            self._investigations.look_into(case, *failure)
