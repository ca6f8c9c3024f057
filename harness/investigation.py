"""From failures to findings: each failure is explained by a finding, or becomes one.

Failures of one kind are looked into one after the other: the first one's finding explains most of
the others, each for the price of one run. Those of different kinds go on side by side.
"""

from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace

import msgspec

from generators.axes import Family
from generators.cases import AnyCase, at_level, is_compiled
from generators.program import Case, Valid
from harness.differential import by_release, passed
from harness.finding import Finding, Reduced, T, Trials, explained, finding_of, reduce, unreduced
from harness.fingerprint import Kind, explainable, kind_of, same_kind
from harness.jobs import Job
from harness.journal import TRIAL, Journal
from harness.outcome import Outcome, Verdict
from harness.reduction.shrinking import shrink

LEVELS = (0, 3)
"""LLVM's optimisation levels that a finding is confirmed at."""

_RUNNING = ("run", "oracle", "compare")
"""The stages in which inputs are there."""

_NO_REGRESSION = Outcome(Verdict.PASS, message="on the earlier release it does not pass either")
_UNKNOWN = Outcome(Verdict.HARNESS_ERROR, "idle", message="a release has no workers any more")

_Investigation = Generator[Job, Outcome, None]


class Investigations:
    """Everything that is looked into in a campaign.

    ``findings``, by fingerprint, is kept up to date, in the journal too. ``run`` is given each job
    whose outcome is wanted; whoever runs it gives that to ``advance``. ``marked`` says which
    declared gaps an outcome fell into.
    """

    def __init__(
        self,
        families: Sequence[Family],
        journal: Journal,
        findings: dict[str, Finding],
        run: Callable[[Job], None],
        marked: Callable[[AnyCase, Outcome], Outcome] = lambda case, outcome: outcome,
    ):
        self._families = {family.name: family for family in families}
        self._journal = journal
        self._findings = findings
        self._run = run
        self._marked = marked
        self._active: dict[Kind, _Investigation] = {}
        self._queued: dict[Kind, deque[_Investigation]] = {}

    @property
    def active(self) -> int:
        """How many failures are being looked into."""
        return len(self._active)

    @property
    def unfinished(self) -> int:
        """How many failures are being looked into, or wait to be."""
        return sum(map(len, self._queued.values())) + len(self._active)

    @property
    def unexplained(self) -> int:
        """How many kinds of failures are unfinished of which there is no finding, known or new."""
        kinds = {*self._active, *(kind for kind, queue in self._queued.items() if queue)}
        told = {one.kind for one in self._findings.values()}
        return sum(kind.verdict.is_failure for kind in kinds - told)

    def look_into(self, case: AnyCase, outcome: Outcome, good: str | None = None) -> None:
        """Find the cause of the failure ``outcome``.

        ``good`` is an earlier release that passes: then everything that it is reduced to passes
        there too.
        """
        self._enqueue(kind_of(case, outcome), self._investigate(case, outcome, good))

    def confirm_all(self) -> None:
        """Confirm every finding that has not been yet."""
        for finding in self._findings.values():
            if finding.confirmed is None:
                self._enqueue(finding.kind, self._confirm(finding))

    def add(self, fingerprint: str) -> None:
        """Count one more failure to the finding ``fingerprint``."""
        finding = self._findings[fingerprint]
        self._findings[fingerprint] = msgspec.structs.replace(finding, count=finding.count + 1)

    def adopt(self, finding: Finding) -> None:
        """Have ``finding``, of an earlier campaign, explain what fails in this one; confirm it."""
        if finding.fingerprint not in self._findings:
            self._save(msgspec.structs.replace(finding, count=0, confirmed=None))
            self._enqueue(finding.kind, self._confirm(finding))

    def save(self) -> None:
        """Write all findings as they are now."""
        for finding in self._findings.values():
            self._save(finding)

    def advance(self, job: Job, outcome: Outcome) -> None:
        """Go on with the investigation that asked for ``job``, of which ``outcome`` came."""
        kind = job.tag
        assert isinstance(kind, Kind)
        self._step(kind, outcome)
        self._next_of(kind)

    def _enqueue(self, kind: Kind, investigation: _Investigation) -> None:
        self._queued.setdefault(kind, deque()).append(investigation)
        self._next_of(kind)

    def _next_of(self, kind: Kind) -> None:
        queue = self._queued[kind]
        while queue and kind not in self._active:
            self._active[kind] = queue.popleft()
            self._step(kind, None)

    def _step(self, kind: Kind, outcome: Outcome | None) -> None:
        """Give the investigation of ``kind`` the outcome it waits for; run what it asks for."""
        investigation = self._active[kind]
        try:
            job = next(investigation) if outcome is None else investigation.send(outcome)
        except StopIteration:
            del self._active[kind]
            return
        self._journal.start(job.case, TRIAL)
        self._run(replace(job, tag=kind, alone=True))

    def _investigate(self, drawn: AnyCase, failed: Outcome, good: str | None) -> _Investigation:
        place = _Place(failed.release, good)
        case, outcome = yield from self._trials(in_one_regime(drawn, failed), place)
        family = self._families[case.family]
        reduced: Reduced | None = None
        while True:
            alike = [
                one
                for one in self._findings.values()
                if explainable(case, outcome, one.kind)
                and (good is None or one.regression is not None)
            ]
            known = yield from self._trials(explained(family, case, alike), place)
            if known is not None:
                self._count(drawn, known.fingerprint)
                return
            if not isinstance(case.expect, Valid):
                break
            reduced = yield from self._trials(reduce(family, case, outcome), place)
            if reduced.part is None or self._marked(*reduced.part).gap:
                # A part that is expected to fail is told by nobody; what is built on it has to be.
                break
            # What is built on a part that fails by itself fails for that part's cause.
            case, outcome = reduced.part
        finding = finding_of(reduced) if reduced is not None else unreduced(case, outcome)
        if self._tells(finding):
            self._count(drawn, finding.fingerprint)
            return
        if reduced is not None:
            finding = finding_of((yield from self._trials(shrink(family, reduced), place)))
        if self._tells(finding):
            # Meanwhile a failure of other operators has come down to the same.
            self._count(drawn, finding.fingerprint)
            return
        before = self._findings.get(finding.fingerprint)
        self._save(msgspec.structs.replace(finding, count=before.count if before else 0))
        self._count(drawn, finding.fingerprint)
        yield from self._confirm(finding)

    def _tells(self, finding: Finding) -> bool:
        """Whether there is one already that says as much: a regression says more."""
        before = self._findings.get(finding.fingerprint)
        if before is None or _weight(finding) > _weight(before):
            return False
        # In fresh processes it may have turned out to be none: once is enough.
        same = before.case == finding.case
        return same or finding.regression is None or before.regression is not None

    def _confirm(self, finding: Finding) -> _Investigation:
        """See whether ``finding`` comes again in fresh processes, and write that down.

        Also what comes of it there on the other releases, of several: what fails at one
        optimisation level fails.
        """
        confirmed = True
        elsewhere: dict[str, Outcome] = {}
        # A failure that the optimisation level is to blame for can only come at its own.
        own = "opt_level" in finding.blame or not is_compiled(finding.case)
        levels = (finding.case.opt_level,) if own else LEVELS
        for opt_level in levels:
            again = at_level(finding.case, opt_level)
            result = yield Job(again, fresh=True)
            self._end_trial(again, result)
            outcomes = by_release(result)
            here = outcomes.pop(finding.outcome.release, None)
            if here is None:
                # Its release has no workers any more: nobody can tell.
                return
            confirmed = confirmed and same_kind(again, here, finding.kind)
            for name, other in outcomes.items():
                if name not in elsewhere or passed(elsewhere[name]):
                    elsewhere[name] = other
        latest = self._findings[finding.fingerprint]
        if latest.case != finding.case:
            # Meanwhile it is told by a regression, which is confirmed by itself.
            return
        outcome = msgspec.structs.replace(latest.outcome, elsewhere=elsewhere)
        outcome = self._marked(finding.case, outcome)
        self._save(msgspec.structs.replace(latest, confirmed=confirmed, outcome=outcome))

    def _trials(self, trials: Trials[T], place: "_Place") -> Generator[Job, Outcome, T]:
        try:
            case = next(trials)
            while True:
                outcome = yield Job(case, releases=place.releases)
                self._end_trial(case, outcome)
                case = trials.send(place.judged(outcome))
        except StopIteration as end:
            result: T = end.value
            return result

    def _end_trial(self, case: AnyCase, outcome: Outcome) -> None:
        """Write what came of a trial; a drawn case keeps what was written when it was drawn."""
        self._journal.end(case, outcome, purpose=TRIAL)

    def _count(self, case: AnyCase, fingerprint: str) -> None:
        if self._journal.count_to(case, fingerprint):
            self.add(fingerprint)

    def _save(self, finding: Finding) -> None:
        self._findings[finding.fingerprint] = finding
        if self._journal.start(finding.case, TRIAL):
            self._end_trial(finding.case, finding.outcome)
        self._journal.write_finding(finding.fingerprint, msgspec.json.encode(finding))


def _weight(finding: Finding) -> int:
    """How much the case of ``finding`` says of its cause, of several that it has.

    A valid program more than an invalid one. Of a fault that nothing checks, that the program is
    accepted says most, and that it ends the process more than that it fails somewhere.
    """
    if isinstance(finding.case.expect, Valid):
        return 3
    return {Verdict.ACCEPTS_INVALID: 2, Verdict.PROCESS_DEATH: 1}.get(finding.verdict, 0)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a failure is looked into: on ``bad``, and on ``good``, where it is to pass.

    In a campaign of one release ``bad`` is ``""``.
    """

    bad: str
    good: str | None

    @property
    def releases(self) -> tuple[str, ...]:
        """What ``Job`` is to be given."""
        return tuple(name for name in (self.good, self.bad) if name)

    def judged(self, outcome: Outcome) -> Outcome:
        """What counts of a trial's ``outcome``: no failure where it fails on ``good`` too."""
        outcomes = by_release(outcome)
        if self.good is None:
            return outcome
        if self.good not in outcomes or self.bad not in outcomes:
            return _UNKNOWN
        return outcome if passed(outcomes[self.good]) else _NO_REGRESSION


def in_one_regime(case: AnyCase, outcome: Outcome) -> Trials[tuple[AnyCase, Outcome]]:
    """The failure ``outcome`` of ``case`` where inputs of one regime will do for it."""
    if not isinstance(case, Case) or not case.also:
        return case, outcome
    if outcome.stage not in _RUNNING:
        # It never ran: what it was to be run on has nothing to do with it.
        return msgspec.structs.replace(case, also=()), outcome
    outside = (one.regime for one in outcome.checks if one.ratio is None or one.ratio > 1)
    first = next(outside, case.regime)
    kind = kind_of(case, outcome)
    for regime in sorted((case.regime, *case.also), key=lambda regime: regime != first):
        alone = msgspec.structs.replace(case, regime=regime, also=())
        result = yield alone
        if same_kind(alone, result, kind):
            return alone, result
    return case, outcome
