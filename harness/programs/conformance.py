"""Conformance runs: run cases, judge them, count verdicts by operator and axis values covered."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from relaxcheck.generators.core.axes import Family, point_of
from relaxcheck.generators.core.case import AnyCase, Expectation, IllFormed, Invalid, Valid, write
from relaxcheck.harness.known.expected_failures import Known
from relaxcheck.harness.known.known import Expectations
from relaxcheck.harness.known.tally import ExpectationTally
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.fingerprint import operators
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.pool import Pool

FAILED = Path("runs/conformance")
"""The folder that failing cases are written to, for ``relaxcheck replay``."""


class Tally(msgspec.Struct):
    """Counts of a conformance run; those of parallel processes add up.

    ``verdicts`` are by operator and verdict, ``cells`` the (axis, value) pairs covered of each
    family, ``oracles`` the cases judged by so many oracles.
    """

    verdicts: dict[str, dict[str, int]] = {}
    cells: dict[str, set[tuple[str, str]]] = {}
    known: ExpectationTally = msgspec.field(default_factory=ExpectationTally)
    oracles: dict[int, int] = {}

    def add(self, other: "Tally") -> None:
        """Add the counts of ``other``."""
        for operator, counts in other.verdicts.items():
            mine = Counter(self.verdicts.get(operator, {}))
            mine.update(counts)
            self.verdicts[operator] = dict(mine)
        for family, cells in other.cells.items():
            self.cells.setdefault(family, set()).update(cells)
        self.known.add(other.known)
        for number, count in other.oracles.items():
            self.oracles[number] = self.oracles.get(number, 0) + count


class DoesNotConform(AssertionError):
    """A case does not conform; the message is one line that ends with the command to replay it."""


@dataclass(slots=True)
class Conformance:
    """Runs cases on ``pool`` and judges them. ``families`` are by name."""

    pool: Pool
    families: dict[str, Family]
    declared: tuple[Known, ...]
    tally: Tally = field(default_factory=Tally)

    def judged(self, cases: Iterable[AnyCase]) -> Iterator[tuple[AnyCase, str | None]]:
        """Run ``cases`` together: each with its failure in one line, or None if it conforms.

        A valid case conforms if it passes, fails as a known gap or a known finding declares, or has
        results that correct implementations differ in everywhere; an invalid one if it is rejected.
        """
        self.pool.submit(*map(Job, cases))
        # Judging may run further cases, so the pool has to be idle by then.
        for job, outcome in tuple(self.pool.drain()):
            yield job.case, self._judge(job.case, outcome)

    def failures(self, cases: Iterable[AnyCase]) -> list[str]:
        """One line for each case that does not conform: verdict, message, replay command."""
        return [failure for _, failure in self.judged(cases) if failure is not None]

    def check(self, case: AnyCase) -> None:
        """Run ``case`` alone.

        Raises:
            DoesNotConform: it does not.
        """
        for failure in self.failures([case]):
            raise DoesNotConform(failure)

    def check_declared(self, *, fixes: bool) -> list[str]:
        """Run the case of every expected failure that concerns this TVM: failures as ``failures``.

        A case that passes now is no failure; the tally counts it as fixed.
        """
        cases = self._expectations.cases(fixes=fixes)
        names = {case.identifier: name for name, case in cases.items()}
        by_name = {each.name: each for each in self.declared}
        self.pool.submit(*(Job(case, alone=True) for case in cases.values()))
        failures = []
        for job, outcome in tuple(self.pool.drain()):
            known = by_name[names[job.case.identifier]]
            if known.expects(outcome):
                if self.tally.known.failed(known) is None:
                    failures.append(f"expired on {known.expires}: {_line(job.case, outcome)}")
            elif outcome.verdict.is_right:
                self.tally.known.passed(known)
            else:
                failures.append(f"not as {known.title} declares: {_line(job.case, outcome)}")
        return failures

    @property
    def _expectations(self) -> Expectations:
        return Expectations(self.pool, self.families, self.declared, self.tally.known)

    def _judge(self, case: AnyCase, outcome: Outcome) -> str | None:
        family = self.families[case.family]
        point = point_of(family, case) if isinstance(case.expect, Valid) else {}
        cells = self.tally.cells.setdefault(case.family, set())
        cells.update((axis, str(value)) for axis, value in point.items())
        if outcome.checks:
            self.tally.oracles[len(outcome.oracles)] = (
                self.tally.oracles.get(len(outcome.oracles), 0) + 1
            )
        if self._expectations.name(case, outcome) is not None:
            return None
        counts = self.tally.verdicts.setdefault(operators(case), {})
        counts[outcome.verdict] = counts.get(outcome.verdict, 0) + 1
        if outcome.verdict in _right(case.expect) or outcome.nothing_compared:
            return None
        return _line(case, outcome)


def _right(expected: Expectation) -> tuple[Verdict, ...]:
    match expected:
        case Invalid():
            return (Verdict.REJECTED,)
        case IllFormed():
            return (Verdict.PASS, Verdict.REJECTED)
    return (Verdict.PASS,)


def _line(case: AnyCase, outcome: Outcome) -> str:
    """The failure ``outcome`` of ``case`` in one line; writes the case for its replay command."""
    FAILED.mkdir(parents=True, exist_ok=True)
    path = FAILED / f"{case.identifier}.json"
    write(case, path)
    return (
        f"{outcome.verdict} at {outcome.stage}: {headline(outcome.message)}: "
        f"relaxcheck replay {path}"
    )
