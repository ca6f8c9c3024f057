"""Known failures, declared or found by earlier campaigns, compared with failures now."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.core.case import AnyCase, Valid, with_fixes
from relaxcheck.harness.journal.journal import Journal, JournalError, Mode
from relaxcheck.harness.kind import Trials
from relaxcheck.harness.kinds import decode_record, of
from relaxcheck.harness.known.expected_failures import (
    ExpectedFailure,
    Known,
    KnownFinding,
    case_point,
)
from relaxcheck.harness.known.tally import ExpectationTally
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.triage.finding import (
    Finding,
    as_valid,
    explained,
    finding_of,
    innermost,
    told_by_blame,
    unreduced,
)
from relaxcheck.harness.triage.fingerprint import (
    INVALID,
    explainable,
    fingerprint,
    names_cause,
    reduced_signature,
)
from relaxcheck.harness.triage.reduction.core import innermost_core
from relaxcheck.harness.triage.reduction.shrinking import shrink
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.pool import Pool
from relaxcheck.harness.workers.protocol import Ask

T = TypeVar("T")


def known_findings(directories: Iterable[Path]) -> tuple[Finding, ...]:
    """The findings of the campaigns in ``directories``, one for each fingerprint.

    Fingerprints are computed anew: an earlier version may have recorded others.

    Raises:
        JournalError: one of ``directories`` holds no campaign, or cannot be read.
    """
    by_fingerprint: dict[str, Finding] = {}
    for directory in directories:
        with Journal(directory, Mode.READ) as journal:
            for finding in findings_in(journal):
                signature = reduced_signature(finding.case, finding.outcome)
                current = fingerprint(signature, finding.blame)
                by_fingerprint[current] = msgspec.structs.replace(
                    finding,
                    fingerprint=current,
                    operator=signature.operator,
                    message=signature.message,
                )
    return tuple(by_fingerprint[key] for key in sorted(by_fingerprint))


def findings_in(journal: Journal) -> Iterator[Finding]:
    """The findings in ``journal``.

    Raises:
        JournalError: the record of one makes no sense.
    """
    for record in journal.findings():
        try:
            yield decode_record(record, Finding)
        except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
            words = " ".join(str(error).split())
            raise JournalError(f"{journal.path}: a finding makes no sense ({words})") from error


@dataclass(frozen=True, slots=True)
class Expectations:
    """The ``declared`` failures, for single cases that run on ``pool``; counted into ``tally``.

    ``pool`` must be idle when a method is called. ``families`` are by name.
    """

    pool: Pool
    families: Mapping[str, Family]
    declared: Sequence[Known]
    tally: ExpectationTally

    def name(self, case: AnyCase, outcome: Outcome) -> str | None:
        """The name of the declaration that expects ``outcome`` of ``case``; counts it there.

        Where the message names the cause (``harness.triage.fingerprint.names_cause``), it has to be
        the same. Otherwise the axes that a known finding blames have to be off their defaults, and
        with all of them at their defaults the failure has to be gone: that takes one further run.
        A case that does not follow from its point is reduced to its own blame. Of an invalid
        program the fault has to be the same.
        """
        conditions = [entry for entry in self.declared if isinstance(entry, ExpectedFailure)]
        environment = self.pool.environment
        place = case_point(case, self.families.get(case.family))
        if name := self.tally.count(conditions, place, outcome, environment):
            return name
        there = [
            (entry, entry.finding)
            for entry in self.declared
            if isinstance(entry, KnownFinding)
            and entry.concerns(environment.get("apache-tvm", ""), fixes=case.fixes)
        ]
        if not isinstance(case.expect, Valid):
            cause = unreduced(case, outcome).fingerprint
            return self._of_cause(there, cause)
        alike = {
            finding.fingerprint: (entry, finding)
            for entry, finding in there
            if explainable(case, outcome, finding.signature)
            and INVALID not in finding.blame.values()
        }
        if by_message := [
            entry for entry, finding in alike.values() if names_cause(finding.signature)
        ]:
            return self.tally.failed(by_message[0])
        if not of(case).along_axes and any(told_by_blame(each) for _, each in alike.values()):
            return self._of_cause(alike.values(), self.cause(case, outcome).fingerprint)
        if there and of(case).by_structure(case):
            return self._of_cause(there, self.cause(case, outcome).fingerprint)
        if not alike or not place.point:
            # Off its family's axes no axis can be put to its default.
            return None
        candidates = [finding for _, finding in alike.values()]
        known = self._run(explained(self.families[case.family], case, candidates))
        return self.tally.failed(alike[known.fingerprint][0]) if known is not None else None

    def _of_cause(self, there: Iterable[tuple[Known, Finding]], cause: str) -> str | None:
        """The name of the first declaration of ``there`` with the fingerprint ``cause``."""
        with_it = (entry for entry, finding in there if finding.fingerprint == cause)
        entry = next(with_it, None)
        return self.tally.failed(entry) if entry is not None else None

    def cases(self, *, fixes: bool) -> dict[str, AnyCase]:
        """The case of each failure declared for this TVM, by name, with the fixes on or off."""
        version = self.pool.environment.get("apache-tvm", "")
        return {
            entry.name: with_fixes(entry.case, fixes)
            for entry in self.declared
            if entry.concerns(version, fixes=fixes)
        }

    def cause(self, case: AnyCase, outcome: Outcome) -> Finding:
        """The finding that a campaign makes of ``outcome`` of ``case``; takes some 100 runs."""
        case, outcome = self._run(of(case).isolate(case, outcome))
        case, outcome = self._run(as_valid(case, outcome))
        family = self.families.get(case.family)
        if family is None or not isinstance(case.expect, Valid):
            return unreduced(case, outcome)
        if of(case).by_structure(case):
            return finding_of(self._run(innermost_core(case, outcome), Ask.VETTED))
        reduced = self._run(innermost(family, case, outcome))
        return finding_of(self._run(shrink(family, reduced)))

    def _run(self, trials: Trials[T], ask: Ask = Ask.RUN) -> T:
        try:
            case = next(trials)
            while True:
                self.pool.submit(Job(case, ask=ask, alone=ask is not Ask.RUN))
                ((_, outcome),) = self.pool.drain()
                case = trials.send(outcome)
        except StopIteration as end:
            result: T = end.value
            return result
