"""What is known, declared or found by earlier campaigns, held against what fails now."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from generators.axes import Family
from generators.cases import AnyCase
from generators.program import Valid
from harness.campaign import Plan
from harness.fates import Fate
from harness.finding import Finding, T, Trials, explained, finding_of, innermost, unreduced
from harness.fingerprint import INVALID, explainable, fingerprint, kind_of, told
from harness.gaps import Gap, Known, KnownFinding, place_of
from harness.investigation import in_one_regime
from harness.jobs import Job
from harness.journal import Journal, JournalError, Mode
from harness.met import Met
from harness.outcome import Outcome
from harness.pool import Pool
from harness.reduction.shrinking import shrink
from harness.state import State


def known_findings(directories: Iterable[Path]) -> tuple[Finding, ...]:
    """The findings of the campaigns in ``directories``, one for each fingerprint.

    Fingerprints are taken anew: what was recorded by an earlier version may have had another.

    Raises:
        JournalError: one of ``directories`` holds no campaign, or cannot be read.
    """
    found: dict[str, Finding] = {}
    for directory in directories:
        with Journal(directory, Mode.READ) as journal:
            for one in findings_in(journal):
                kind = kind_of(one.case, one.outcome)
                current = fingerprint(kind, one.blame)
                found[current] = msgspec.structs.replace(
                    one, fingerprint=current, message=kind.message
                )
    return tuple(found[key] for key in sorted(found))


def findings_in(journal: Journal) -> Iterator[Finding]:
    """The findings that ``journal`` holds.

    Raises:
        JournalError: the record of one makes no sense.
    """
    for record in journal.findings():
        try:
            yield msgspec.json.decode(record, type=Finding)
        except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
            said = " ".join(str(error).split())
            raise JournalError(f"{journal.path}: a finding makes no sense ({said})") from error


def with_declared(plan: Plan, declared: Sequence[Known], versions: Sequence[str]) -> Plan:
    """``plan`` that knows also the findings ``declared`` for ``versions`` that it can meet."""
    known = {one.fingerprint: one for one in plan.known}
    for finding in _concerned(declared, versions, plan):
        known.setdefault(finding.fingerprint, finding)
    return replace(plan, known=tuple(known.values()))


def take_declared(state: State, declared: Sequence[Known], versions: Sequence[str]) -> None:
    """Count what became of the findings ``declared`` in a campaign that stands at ``state``.

    One that has expired is not among what is known any more, whoever else may know it; one that
    was not tried, and came all the same, still fails.
    """
    for one in declared:
        if not (isinstance(one, KnownFinding) and _concerns(one, versions)):
            continue
        key = one.finding.fingerprint
        now = state.findings.get(key)
        fate = state.known.get(key, Fate.UNTRIED)
        if now is not None:
            fate = fate if fate is Fate.OTHERWISE else Fate.STILL
            state.gaps.failed(one, max(now.count, 1))
        elif fate is Fate.GONE:
            state.gaps.passed(one)
        if one.expired(state.gaps.today):
            state.known.pop(key, None)
        elif now is not None or key in state.known:
            state.known[key] = fate


def _concerns(finding: KnownFinding, versions: Sequence[str]) -> bool:
    return any(finding.concerns(one, fixes=finding.case.fixes) for one in versions)


def _concerned(declared: Sequence[Known], versions: Sequence[str], plan: Plan) -> Iterator[Finding]:
    families = {family.name for family in plan.families}
    for one in declared:
        if (
            isinstance(one, KnownFinding)
            and one.case.family in families
            and one.case.fixes in plan.fixes
            and _concerns(one, versions)
        ):
            yield one.finding


@dataclass(frozen=True, slots=True)
class Expectations:
    """What is ``declared``, for whoever runs single cases on ``pool``; counts into ``met``.

    ``pool`` is to be idle whenever something is asked. ``families`` are by name.
    """

    pool: Pool
    families: Mapping[str, Family]
    declared: Sequence[Known]
    met: Met

    def name(self, case: AnyCase, outcome: Outcome) -> str | None:
        """The name of what expects ``outcome`` of ``case``, if anything does; counted.

        Where TVM says why (``harness.fingerprint.told``) that has to be the same. Else what a known
        finding blames has to be off its default, and without it all the failure has to be gone:
        that takes one further run. Of an invalid program the fault has to be the same.
        """
        gaps = [one for one in self.declared if isinstance(one, Gap)]
        environment = self.pool.environment
        place = place_of(case, self.families.get(case.family))
        if name := self.met.meet(gaps, place, outcome, environment):
            return name
        there = [
            (one, one.finding)
            for one in self.declared
            if isinstance(one, KnownFinding)
            and one.concerns(environment.get("apache-tvm", ""), fixes=case.fixes)
        ]
        if not isinstance(case.expect, Valid):
            cause = unreduced(case, outcome).fingerprint
            return next((self.met.failed(one) for one, f in there if f.fingerprint == cause), None)
        alike = {
            finding.fingerprint: (one, finding)
            for one, finding in there
            if explainable(case, outcome, finding.kind) and INVALID not in finding.blame.values()
        }
        if by_message := [one for one, finding in alike.values() if told(finding.kind)]:
            return self.met.failed(by_message[0])
        if not alike or not place.point:
            # Off its family's axes nothing can be put to its default: nobody can tell.
            return None
        candidates = [finding for _, finding in alike.values()]
        known = self._run(explained(self.families[case.family], case, candidates))
        return self.met.failed(alike[known.fingerprint][0]) if known is not None else None

    def cases(self, *, fixes: bool) -> dict[str, AnyCase]:
        """The case of each of what is declared for this TVM, by name, with the fixes on or off."""
        version = self.pool.environment.get("apache-tvm", "")
        return {
            one.name: msgspec.structs.replace(one.case, fixes=fixes)
            for one in self.declared
            if one.concerns(version, fixes=fixes)
        }

    def cause(self, case: AnyCase, outcome: Outcome) -> Finding:
        """The finding that campaigns make of the failure ``outcome`` of ``case``: some 100 runs."""
        case, outcome = self._run(in_one_regime(case, outcome))
        family = self.families.get(case.family)
        if family is None or not isinstance(case.expect, Valid):
            return unreduced(case, outcome)
        reduced = self._run(innermost(family, case, outcome))
        return finding_of(self._run(shrink(family, reduced)))

    def _run(self, trials: Trials[T]) -> T:
        try:
            case = next(trials)
            while True:
                self.pool.submit(Job(case))
                ((_, outcome),) = self.pool.drain()
                case = trials.send(outcome)
        except StopIteration as end:
            result: T = end.value
            return result
