"""A campaign: draw cases, run them on the workers, turn failures into findings.

A campaign prints nothing: displays and reporters read its ``State``.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import isinf

import msgspec

from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.core.case import AnyCase, target_of, with_fixes, with_target
from relaxcheck.generators.core.coverage.steering import possible
from relaxcheck.generators.targets import LLVM
from relaxcheck.harness.campaign.drawing import WHOLE, RuledOut, Shard, stream
from relaxcheck.harness.campaign.state import State, tally
from relaxcheck.harness.events import Event, EventType
from relaxcheck.harness.journal.journal import DRAWN, TRIAL, Journal, JournalError
from relaxcheck.harness.kinds import of
from relaxcheck.harness.known.expected_failures import ExpectedFailure, case_point
from relaxcheck.harness.known.known import findings_in
from relaxcheck.harness.known.status import FindingStatus, statuses_by_release
from relaxcheck.harness.known.tally import ExpectationTally
from relaxcheck.harness.outcomes.differential import by_release, marked, passed, seen_on, worst
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.triage.batches import BatchOnlyFailures
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.triage.investigation import Investigations
from relaxcheck.harness.triage.parts import parts_of
from relaxcheck.harness.wording import plural
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.pool import Pool
from relaxcheck.harness.workers.pools import Pools

_COVERAGE_SECONDS = 10.0
"""The journal's coverage may lag by so much; resuming counts it again from the cases."""

_LEFT = object()
"""The tag of a trial left over from the resumed campaign: no investigation waits for it."""

_MOST_LOST = 100
"""The most cases that a damaged journal may have lost, for each case that it kept."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a campaign: families, seed, fixes, and its end.

    It ends after ``seconds``, which may be infinite, or when ``most_cases`` have ended; then it
    finishes its investigations for at most ``grace`` seconds. Each drawn case runs once for each of
    ``fixes``.
    ``uniform`` drawing is not steered; ``shard`` is the part that is drawn (see
    ``harness.campaign.drawing``). ``grids`` are the families with all values of their axes, along
    which failures are reduced, if ``families`` draw only some values. The cases of ``known``
    findings run first. With ``until_new`` the campaign ends at the first confirmed new failure.
    ``target`` is what the cases are compiled for.
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
    target: str = LLVM

    @property
    def extent(self) -> str:
        """Its length for a person: "5 minutes", "900 cases", or "5 minutes or 900 cases"."""
        minutes = f"{round(self.seconds / 60, 2):g}"
        ends = [] if isinf(self.seconds) else [f"{minutes} minute{'s' * (minutes != '1')}"]
        if self.most_cases is not None:
            ends.append(f"{self.most_cases} case{'s' * (self.most_cases != 1)}")
        return " or ".join(ends)

    def cases(self, ruled_out: RuledOut = lambda family, cell, other: None) -> Iterator[AnyCase]:
        """All cases in the order in which they run: an endless stream.

        ``ruled_out`` gets the pairs that prove impossible, as in ``drawing.stream``.
        """
        for drawn in stream(
            self.families, self.seed, uniform=self.uniform, shard=self.shard, ruled_out=ruled_out
        ):
            for fixes in self.fixes:
                yield with_target(with_fixes(drawn, fixes), self.target)


class Campaign:
    """Runs ``plan`` on ``pool``, writing everything to ``journal``.

    It resumes the campaign in the journal, if there is one: only cases that never ended run again.
    Call ``run`` once; it returns when the plan is fulfilled or ``stop`` ends it. Findings are
    written then, and also when an exception ends the campaign.
    """

    def __init__(
        self, plan: Plan, pool: Pool | Pools, journal: Journal, expected: Sequence[ExpectedFailure]
    ):
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
            pool.fixes,
        )
        self._expected = expected
        self._company = BatchOnlyFailures()
        self._unended = 0
        self._cases = plan.cases(self.state.rule_out)
        self._tally = partial(tally, self.state, self._families, expected, pool.environment)

    def run(
        self, show: Callable[[State], None], stop: Callable[[], str | None] = lambda: None
    ) -> State:
        """Run to the end of the plan; call ``show`` with the state several times a second.

        ``stop`` is called as often: the reason that it returns, if any, ends the campaign early.
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
                wanted = self._unended and self._counted_out
                if wanted:
                    # So many cases were to run, and there is time for them.
                    end = time.monotonic() + self.plan.grace
                elif time.monotonic() >= end:
                    break
                if stop():
                    break
                self._collect(show)
        finally:
            self.state.phase = "ended"
            self.state.investigating = self._investigations.unfinished
            self.state.unexplained = self._investigations.unexplained
            self._investigations.save()
            self._note_events()
            self._note_company()
            self._note_cured()
            self._note_left()
            self.journal.write_coverage(self.state.cells)
            self.state.interrupted = stop()
            if self.state.interrupted:
                cause = f"by {self.state.interrupted} after {plural(self.state.cases, 'case')}"
                self.journal.note(Event(EventType.INTERRUPTED, cause))
        return self.state

    def _take_up(self, show: Callable[[State], None]) -> None:
        """Take up everything that the journal holds."""
        state = self.state
        drawn: set[str] = set()
        # The batch of a part may be lost, or its outcome: then nothing else shows that it is one.
        damaged = self._damaged
        parts: dict[str, AnyCase] = {}
        for finding in findings_in(self.journal):
            state.findings[finding.fingerprint] = msgspec.structs.replace(finding, count=0)
        for stored in self.journal.cases(DRAWN):
            if not (damaged and of(stored.case).is_part(stored.case)):
                drawn.add(stored.case.identifier)
            if stored.outcome is None:
                self._submit(Job(stored.case))
                continue
            self._company.add(stored.case, stored.outcome)
            parts |= {part.identifier: part for part in parts_of(stored.case, stored.outcome)}
            expected_by, failure = self._tally(stored.case, stored.outcome)
            if expected_by != stored.expected_by:
                self.journal.end(stored.case, stored.outcome, expected_by)
            if failure is not None and stored.finding in state.findings:
                self._investigations.add(stored.finding)
            elif failure is not None:
                self._investigations.look_into(stored.case, *failure)
        self._investigations.confirm_all()
        for part in parts.values():
            self._begin_part(part)
        drawn -= parts.keys()
        for case in self.journal.unended(TRIAL):
            self.pool.submit(Job(case, _LEFT))
        state.taken_up = state.cases
        if drawn:
            self.journal.note(Event(EventType.RESUMED, f"after {plural(len(drawn), 'case')}"))
            self._pass_over(drawn, show)

    @property
    def _damaged(self) -> bool:
        return any(event.type is EventType.SALVAGED for event in self.journal.events())

    def _pass_over(self, drawn: set[str], show: Callable[[State], None]) -> None:
        """Draw the cases ``drawn`` again: every campaign with this plan begins with them.

        The cases between them that a damaged journal lost run now.
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
                self._started += of(case).count(case)
            if len(lost) > most:
                raise JournalError(
                    f"{self.journal.path} was drawn by another version of relaxcheck: this one "
                    "draws other cases; start a new campaign"
                )
            left.discard(case.identifier)
            show(self.state)
        for case in lost.values():
            self._submit(*self._begun(case))
        self.state.phase = "running"
        self.state.started = time.monotonic()
        self._cpu = time.process_time()

    def _try_known(self, show: Callable[[State], None]) -> None:
        """Run the cases of known findings first; investigate those that fail in another way."""
        state = self.state
        for finding in self.plan.known:
            state.known[finding.fingerprint] = FindingStatus.UNTRIED
            case = finding.case
            compiled = case.fixes in self.plan.fixes and target_of(case) == self.plan.target
            if case.family in self._families and compiled:
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
        statuses = statuses_by_release(finding, outcomes)
        status = (
            FindingStatus.GONE if all(map(passed, outcomes.values())) else FindingStatus.UNDECIDED
        )
        if again := [name for name, status in statuses.items() if status is FindingStatus.STILL]:
            status = FindingStatus.STILL
            # The release where it first failed, if it still does: then it is shown as a regression.
            at = failure.outcome.release if failure is not None else ""
            known = seen_on(at if at in again else again[-1], outcomes)
            self._investigations.adopt(msgspec.structs.replace(finding, outcome=known))
        # Releases with the known failure neither passed nor failed; others are investigated.
        known_on = {
            name: on_release.expected_by or finding.fingerprint * (name in again)
            for name, on_release in outcomes.items()
        }
        new = worst(marked(outcome, known_on))
        if new is not None and new.outcome.verdict.is_failure:
            status = status if again else FindingStatus.OTHERWISE
            self._investigations.look_into(case, *new)
        self.state.known[finding.fingerprint] = status
        if len(outcomes) > 1:
            self.state.statuses[finding.fingerprint] = statuses

    def _marked(self, case: AnyCase, outcome: Outcome) -> Outcome:
        """``outcome`` with the expected failures that cover it, which are not counted."""
        place = case_point(case, self._families.get(case.family))
        environment = self.pool.environment
        return marked(
            outcome, ExpectationTally().count_all(self._expected, place, outcome, environment)
        )

    def _over(self) -> bool:
        if self._stop() or (
            self.plan.until_new and any(finding.confirmed for finding in self.state.new)
        ):
            return True
        return self._counted_out or self.state.elapsed >= self.plan.seconds

    @property
    def _counted_out(self) -> bool:
        """True if as many cases began as the plan has, before its time was up."""
        most = self.plan.most_cases
        early = self.state.elapsed < self.plan.seconds
        return early and most is not None and self._started >= most

    def _top_up(self) -> None:
        wanted = self.pool.appetite - self.pool.running - self.pool.waiting
        jobs: list[Job] = []
        while len(jobs) < wanted and not self._over():
            jobs += self._begun(next(self._cases))
        self._submit(*jobs)

    def _submit(self, *jobs: Job, first: bool = False) -> None:
        """Run drawn cases."""
        self._unended += len(jobs)
        self.pool.submit(*jobs, first=first)

    def _begun(self, case: AnyCase) -> list[Job]:
        """The job of a drawn case; none if the journal has the case already."""
        if not self.journal.start(case, DRAWN):
            return []
        self._started += of(case).count(case)
        return [Job(case)]

    def _begin_part(self, part: AnyCase) -> None:
        """Run a part of a batch, unless the journal has it."""
        if self.journal.start(part, DRAWN):
            self._submit(Job(part), first=True)

    def _collect(self, show: Callable[[State], None]) -> None:
        for job, outcome in self.pool.wait(0.1):
            for on_release in by_release(outcome).values():
                self.state.cases_cpu += sum(on_release.seconds.values())
            if job.tag is None:
                self._unended -= 1
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
            self._note_left()
            self.journal.write_coverage(self.state.cells)
        self.state.engine_cpu = time.process_time() - self._cpu
        self.state.busy = self.pool.busy
        self.state.investigating = self._investigations.active
        show(self.state)

    def _note_left(self) -> None:
        left = max(self.plan.seconds - self.state.elapsed, 0.0)
        self.journal.write_left(left, self.plan.most_cases)

    def _note_events(self) -> None:
        for event in self.pool.take_events():
            self.journal.note(event)

    def _note_company(self) -> None:
        """Count failures that appear only in batches; write events that are new."""
        self._company.look_up(self.journal.ended)
        self.state.waiting = self._company.waiting
        unrepeated = self._company.unrepeated
        self.state.unrepeated = len(unrepeated)
        written = set(self.journal.events()) if unrepeated else set()
        for event in unrepeated:
            if event not in written:
                self.journal.note(event)

    def _note_cured(self) -> None:
        """Name the known findings that are gone: the findings list only those that are there."""
        written = {event.text for event in self.journal.events() if event.type is EventType.CURED}
        for fingerprint, status in self.state.known.items():
            if status is FindingStatus.GONE and fingerprint not in written:
                self.journal.note(Event(EventType.CURED, fingerprint))

    def _drawn(self, case: AnyCase, outcome: Outcome) -> None:
        expected_by, failure = self._tally(case, outcome)
        self._company.add(case, outcome)
        self.journal.end(case, outcome, expected_by)
        for part in parts_of(case, outcome):
            self._begin_part(part)
        for message in filter(None, (each.retried for each in by_release(outcome).values())):
            self.journal.note(Event(EventType.RETRIED, f"{case.identifier}: {headline(message)}"))
        if failure is not None:
            self._investigations.look_into(case, *failure)
