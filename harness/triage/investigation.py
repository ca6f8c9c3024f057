"""From failures to findings: each failure is explained by a finding, or becomes one.

Failures with one signature are investigated one after the other: the first one's finding explains
most of the others, each for the price of one run. Different signatures go in parallel, but for
those that take long: each trial of a case that does not end takes the whole deadline, and several
at a time would leave no worker for other cases.
"""

from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import msgspec

from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.core.case import AnyCase, Valid, with_fixes
from relaxcheck.harness.journal.journal import TRIAL, Journal
from relaxcheck.harness.kind import Trials
from relaxcheck.harness.kinds import of
from relaxcheck.harness.outcomes.differential import by_release, passed
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.outcomes.severity import Severity, fails_run, rank, severity_of
from relaxcheck.harness.triage.curing import dies_over_nothing, mended, mending
from relaxcheck.harness.triage.finding import (
    CUT_SHORT,
    Finding,
    Reduced,
    as_valid,
    explained,
    finding_of,
    reduce,
    unreduced,
)
from relaxcheck.harness.triage.fingerprint import (
    Signature,
    explainable,
    looks_alike,
    same_signature,
    signature_of,
)
from relaxcheck.harness.triage.long_trials import LongTrials
from relaxcheck.harness.triage.reduction.conviction import convinced
from relaxcheck.harness.triage.reduction.core import core, explains_core, raised_at_one_place
from relaxcheck.harness.triage.reduction.shrinking import shrink
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.protocol import Ask, BundledFix

LEVELS = (0, 3)
"""The LLVM optimisation levels at which a finding is confirmed."""

_CHANCES = 4
"""Runs that a process must not die in, to be cured of a death that is chance."""

_NO_REGRESSION = Outcome(Verdict.PASS, message="on the earlier release it does not pass either")
_UNKNOWN = Outcome(Verdict.HARNESS_ERROR, "idle", message="a release has no workers any more")

T = TypeVar("T")

_Investigation = Generator[Job, Outcome, None]


class Investigations:
    """All investigations of a campaign.

    They keep ``findings``, by fingerprint, up to date, in the journal too. They call ``run`` with
    each job that they need; the caller passes its outcome to ``advance``. ``marked`` adds the
    expected failures that cover an outcome. ``fixes`` are those that the workers can put on.
    """

    def __init__(
        self,
        families: Sequence[Family],
        journal: Journal,
        findings: dict[str, Finding],
        run: Callable[[Job], None],
        marked: Callable[[AnyCase, Outcome], Outcome] = lambda case, outcome: outcome,
        fixes: Sequence[BundledFix] = (),
    ):
        self._families = {family.name: family for family in families}
        self._journal = journal
        self._findings = findings
        self._long_trials = LongTrials(run)
        self._marked = marked
        self._fixes = fixes
        self._active: dict[Signature, _Investigation] = {}
        self._queued: dict[Signature, deque[_Investigation]] = {}
        self._severities: dict[Signature, Severity | None] = {}

    @property
    def active(self) -> int:
        """The number of failures under investigation."""
        return len(self._active)

    @property
    def unfinished(self) -> int:
        """The number of failures under investigation or waiting for it."""
        return sum(map(len, self._queued.values())) + len(self._active)

    @property
    def unexplained(self) -> int:
        """The number of unfinished signatures without a finding; error messages do not count."""
        unfinished = {
            *self._active,
            *(signature for signature, queue in self._queued.items() if queue),
        }
        explained = {finding.signature for finding in self._findings.values()}
        return sum(
            fails_run(self._severities.get(signature)) for signature in unfinished - explained
        )

    def look_into(self, case: AnyCase, outcome: Outcome, good: str | None = None) -> None:
        """Find the cause of the failure ``outcome``.

        ``good`` is an earlier release that passes; the failure is reduced to a case that passes
        there too.
        """
        signature = signature_of(case, outcome)
        here = severity_of(outcome.verdict, case.expect)
        self._severities[signature] = min(here, self._severities.get(signature, here), key=rank)
        self._enqueue(signature, self._investigate(case, outcome, good))

    def confirm_all(self) -> None:
        """Confirm every finding that is not confirmed yet."""
        for finding in self._findings.values():
            if finding.confirmed is None:
                self._enqueue(finding.signature, self._confirm(finding))

    def add(self, fingerprint: str) -> None:
        """Count one more failure to the finding ``fingerprint``."""
        finding = self._findings[fingerprint]
        self._findings[fingerprint] = msgspec.structs.replace(finding, count=finding.count + 1)

    def adopt(self, finding: Finding) -> None:
        """Let ``finding`` of an earlier campaign explain failures of this one; confirm it."""
        if finding.fingerprint not in self._findings:
            self._save(msgspec.structs.replace(finding, count=0, confirmed=None))
            self._enqueue(finding.signature, self._confirm(finding))

    def save(self) -> None:
        """Write all findings."""
        for finding in self._findings.values():
            self._save(finding)

    def advance(self, job: Job, outcome: Outcome) -> None:
        """Continue the investigation that asked for ``job`` with its ``outcome``."""
        signature = job.tag
        assert isinstance(signature, Signature)
        self._long_trials.end(signature, outcome)
        self._step(signature, outcome)
        self._long_trials.next()
        self._next_of(signature)
        self._next_of_long_ones()

    def _enqueue(self, signature: Signature, investigation: _Investigation) -> None:
        self._queued.setdefault(signature, deque()).append(investigation)
        self._next_of(signature)

    def _next_of(self, signature: Signature) -> None:
        queue = self._queued[signature]
        while queue and signature not in self._active and not self._must_wait(signature):
            self._active[signature] = queue.popleft()
            self._step(signature, None)

    def _must_wait(self, signature: Signature) -> bool:
        """True if ``signature`` takes long, and another that does is under investigation."""
        return signature.verdict in CUT_SHORT and any(
            active.verdict in CUT_SHORT for active in self._active
        )

    def _next_of_long_ones(self) -> None:
        """Begin the next investigation that takes long."""
        for signature in [*self._queued]:
            if signature.verdict in CUT_SHORT:
                self._next_of(signature)

    def _step(self, signature: Signature, outcome: Outcome | None) -> None:
        """Give an investigation the outcome it waits for; run the job that it asks for next."""
        investigation = self._active[signature]
        try:
            job = next(investigation) if outcome is None else investigation.send(outcome)
        except StopIteration:
            del self._active[signature]
            return
        if not job.fixes:
            # With some of the fixes alone it is not the case that the journal would hold.
            self._journal.start(job.case, TRIAL)
        self._long_trials.submit(signature, replace(job, tag=signature, alone=True))

    def _investigate(self, drawn: AnyCase, failed: Outcome, good: str | None) -> _Investigation:
        on = _Releases(failed.release, good)
        case, outcome = yield from self._trials(of(drawn).isolate(drawn, failed), on)
        case, outcome = yield from self._trials(as_valid(case, outcome), on)
        family = self._families[case.family]
        by_structure = of(case).by_structure(case) and isinstance(case.expect, Valid)
        reduced: Reduced | None = None
        while True:
            known = yield from self._known(family, case, outcome, on, looking_alike=True)
            if known is not None:
                self._count(drawn, known.fingerprint)
                return
            if not isinstance(case.expect, Valid):
                break
            if by_structure:
                reduced = yield from self._trials(core(case, outcome), on, Ask.VETTED)
            else:
                reduced = yield from self._trials(reduce(family, case, outcome), on)
            if reduced.part is None or self._marked(*reduced.part).expected_by:
                # An expected failure of a part is not reported; the failure built on it must be.
                break
            # A program fails for the cause of a part that fails by itself.
            case, outcome = reduced.part
        if reduced is not None:
            # It looks like no finding so far; reduced, it may have the cause of one all the same,
            # or the cause of one that was reduced meanwhile.
            known = yield from self._known(
                family, reduced.case, reduced.outcome, on, looking_alike=False
            )
            if known is not None:
                self._count(drawn, known.fingerprint)
                return
        finding = finding_of(reduced) if reduced is not None else unreduced(case, outcome)
        if self._tells(finding):
            self._count(drawn, finding.fingerprint)
            return
        if reduced is not None and not by_structure:
            reduced = yield from self._trials(shrink(family, reduced), on)
            finding = finding_of(
                (yield from self._trials(convinced(family, reduced), on, Ask.VETTED))
            )
        if self._tells(finding):
            # Meanwhile a failure of other operators was reduced to the same finding.
            self._count(drawn, finding.fingerprint)
            return
        before = self._findings.get(finding.fingerprint)
        self._save(msgspec.structs.replace(finding, count=before.count if before else 0))
        self._count(drawn, finding.fingerprint)
        yield from self._confirm(finding)

    def _known(
        self,
        family: Family,
        case: AnyCase,
        outcome: Outcome,
        on: "_Releases",
        *,
        looking_alike: bool,
    ) -> Generator[Job, Outcome, Finding | None]:
        """The finding that explains ``outcome`` of ``case``, or None.

        ``looking_alike``: one of failures that look like it. Otherwise one of those that do not,
        whose axes have to say more than that the operator fails.
        """
        there = [
            finding
            for finding in self._findings.values()
            if on.good is None or finding.regression is not None
        ]
        if of(case).by_structure(case) and isinstance(case.expect, Valid):
            explains = raised_at_one_place if looking_alike else explains_core
            return explains(case, outcome, there)
        alike = [
            finding
            for finding in there
            if explainable(case, outcome, finding.signature)
            and looks_alike(case, outcome, finding.signature) is looking_alike
            and (looking_alike or finding.cause)
        ]
        return (yield from self._trials(explained(family, case, alike), on)) if alike else None

    def _tells(self, finding: Finding) -> bool:
        """True if there is a finding already that says as much; a regression says more."""
        before = self._findings.get(finding.fingerprint)
        if before is None or _weight(finding) > _weight(before):
            return False
        # Fresh processes may have shown that it is none: one confirmation is enough.
        same = before.case == finding.case
        return same or finding.regression is None or before.regression is not None

    def _confirm(self, finding: Finding) -> _Investigation:
        """Run ``finding`` again in fresh processes, and record if it comes again.

        Also record its outcomes there on the other releases: a case that fails at one optimisation
        level fails.
        """
        confirmed = True
        elsewhere: dict[str, Outcome] = {}
        # A failure that blames the optimisation level can only come again at its own.
        kind, case = of(finding.case), finding.case
        levels = (case.opt_level,) if "opt_level" in finding.blame else LEVELS
        at_levels = [kind.at_level(case, level) for level in levels]
        for again in [level for level in at_levels if level is not None] or [case]:
            result = yield Job(again, fresh=True)
            self._end_trial(again, result)
            outcomes = by_release(result)
            here = outcomes.pop(finding.outcome.release, None)
            if here is None:
                # Its release has no workers any more: it cannot be confirmed.
                return
            confirmed = confirmed and same_signature(again, here, finding.signature)
            for name, other in outcomes.items():
                if name not in elsewhere or passed(elsewhere[name]):
                    elsewhere[name] = other
        mended_by = yield from self._mended_by(finding)
        cured = (bool(mended_by) or (yield from self._cured(finding))) if confirmed else None
        latest = self._findings[finding.fingerprint]
        if latest.case != finding.case:
            # Meanwhile a regression replaced it, which is confirmed by itself.
            return
        outcome = msgspec.structs.replace(latest.outcome, elsewhere=elsewhere)
        outcome = self._marked(finding.case, outcome)
        changes: dict[str, Any] = {"confirmed": confirmed, "mended_by": mended_by, "cured": cured}
        self._save(msgspec.structs.replace(latest, outcome=outcome, **changes))

    def _mended_by(self, finding: Finding) -> Generator[Job, Outcome, str]:
        """The fix of a single fault that makes the case of ``finding`` right by itself, or ""."""
        fixed, release = with_fixes(finding.case, True), finding.outcome.release
        on = (release,) if release else ()
        for name in mending(self._fixes, finding):
            for _ in range(_CHANCES if dies_over_nothing(finding) else 1):
                result = yield Job(fixed, fresh=True, releases=on, fixes=(name,))
                here = by_release(result).get(release)
                if here is None or not mended(finding, here):
                    break
            else:
                return name
        return ""

    def _cured(self, finding: Finding) -> Generator[Job, Outcome, bool | None]:
        """True if every fix on makes ``finding`` right; None if they are on, or it is chance."""
        if finding.case.fixes or dies_over_nothing(finding):
            return None
        fixed, release = with_fixes(finding.case, True), finding.outcome.release
        result = yield Job(fixed, fresh=True, releases=(release,) if release else ())
        self._end_trial(fixed, result)
        here = by_release(result).get(release)
        return None if here is None else here.verdict.is_right

    def _trials(
        self, trials: Trials[T], on: "_Releases", ask: Ask = Ask.RUN
    ) -> Generator[Job, Outcome, T]:
        try:
            case = next(trials)
            while True:
                outcome = yield Job(case, releases=on.releases, ask=ask)
                self._end_trial(case, outcome)
                case = trials.send(on.judged(outcome))
        except StopIteration as end:
            result: T = end.value
            return result

    def _end_trial(self, case: AnyCase, outcome: Outcome) -> None:
        """Write the outcome of a trial; a drawn case keeps its outcome as a drawn case."""
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
    """The rank of the case of ``finding`` among several with one cause.

    A valid program ranks above an invalid one. Of invalid programs with one unchecked fault, an
    accepted one ranks first, then one that ends the process.
    """
    if isinstance(finding.case.expect, Valid):
        return 3
    return {Verdict.ACCEPTS_INVALID: 2, Verdict.PROCESS_DEATH: 1}.get(finding.verdict, 0)


@dataclass(frozen=True, slots=True)
class _Releases:
    """The releases of an investigation: ``bad``, which fails, and ``good``, which must pass.

    In a campaign of one release ``bad`` is ``""``.
    """

    bad: str
    good: str | None

    @property
    def releases(self) -> tuple[str, ...]:
        """The releases of its jobs."""
        return tuple(name for name in (self.good, self.bad) if name)

    def judged(self, outcome: Outcome) -> Outcome:
        """A trial's ``outcome`` as it counts: no failure if it fails on ``good`` too."""
        outcomes = by_release(outcome)
        if self.good is None:
            return outcome
        if self.good not in outcomes or self.bad not in outcomes:
            return _UNKNOWN
        return outcome if passed(outcomes[self.good]) else _NO_REGRESSION
