"""The state of a campaign: its results, counted."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from relaxcheck.generators.core.axes import Family, point_of
from relaxcheck.generators.core.case import AnyCase, Valid
from relaxcheck.generators.core.coverage.pairs import Pairs
from relaxcheck.harness.journal.journal import Cell
from relaxcheck.harness.known.expected_failures import CasePoint, ExpectedFailure
from relaxcheck.harness.known.status import FindingStatus
from relaxcheck.harness.known.tally import ExpectationTally
from relaxcheck.harness.outcomes.differential import Failure, by_release, marked, worst
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.outcomes.severity import Severity, fails_run, severity_of
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.triage.parts import weight

SPECIAL_REGIME = "special"
"""The regime of infinities, NaN and their like, whose verdicts are counted apart."""


@dataclass(frozen=True, slots=True, order=True)
class Side:
    """A group of cases that are counted together: by fixes, special regime and release.

    ``release`` is ``""`` in a campaign on one release.
    """

    fixes: bool
    special: bool
    release: str = ""


@dataclass(slots=True)
class State:
    """The progress of a campaign, for whoever shows it.

    * ``counts`` are verdicts of drawn cases, ``severities`` those of the failing ones,
      ``oracle_counts`` the cases by their number of oracles.
    * ``cells`` counts the drawn cases by family, axis and value; ``pairs`` are the pairs of cells
      that no case has covered yet, by family, out of ``all_pairs``.
    * ``taken_up`` of the ``cases`` ran before, in the campaign that this one resumes.
    * ``known`` is the status of each known finding, by fingerprint; ``statuses`` the same by
      release, if there are several.
    * ``investigating`` failures have no known cause yet; ``unexplained`` kinds of them have no
      finding and would make the run fail.
    * ``waiting`` parts of failed batches and expressions have not run; ``unrepeated`` failures of
      batches did not come again in their parts.
    * ``interrupted`` is what ended the campaign early.
    * ``cases_cpu`` and ``engine_cpu`` are CPU seconds since the campaign began or resumed: those of
      cases and trials, and those of the engine's process.
    """

    started: float = field(default_factory=time.monotonic)
    cases: int = 0
    taken_up: int = 0
    checks: int = 0
    trials: int = 0
    counts: dict[Side, Counter[Verdict]] = field(default_factory=dict)
    severities: Counter[Severity] = field(default_factory=Counter)
    expectations: ExpectationTally = field(default_factory=ExpectationTally)
    oracle_counts: Counter[int] = field(default_factory=Counter)
    cells: Counter[Cell] = field(default_factory=Counter)
    pairs: dict[str, Pairs] = field(default_factory=dict)
    all_pairs: int = 0
    findings: dict[str, Finding] = field(default_factory=dict)
    known: dict[str, FindingStatus] = field(default_factory=dict)
    statuses: dict[str, dict[str, FindingStatus]] = field(default_factory=dict)
    busy: tuple[str, ...] = ()
    investigating: int = 0
    unexplained: int = 0
    waiting: int = 0
    unrepeated: int = 0
    phase: str = "running"
    interrupted: str | None = None
    cases_cpu: float = 0.0
    engine_cpu: float = 0.0

    @property
    def elapsed(self) -> float:
        """Seconds since the campaign began."""
        return time.monotonic() - self.started

    @property
    def pair_coverage(self) -> float:
        """The share of the pairs of cells of two axes that a drawn case has covered."""
        missing = sum(pairs.count for pairs in self.pairs.values())
        return 1 - missing / self.all_pairs if self.all_pairs else 0.0

    def rule_out(self, family: str, cell: int, other: int) -> None:
        """Count no longer on the pair of the cells ``cell`` and ``other``: no valid point has it.

        Raises:
            KeyError: the pairs of ``family`` are not counted.
        """
        pairs = self.pairs[family]
        if pairs.missing[cell, other]:
            pairs.give_up(cell, other)
            self.all_pairs -= 1

    @property
    def engine_share(self) -> float:
        """The engine's own share of the CPU time."""
        whole = self.cases_cpu + self.engine_cpu
        return self.engine_cpu / whole if whole else 0.0

    @property
    def verdicts(self) -> Counter[Verdict]:
        """The verdicts of drawn cases, but for the special regime."""
        return self._of(special=False)

    @property
    def special(self) -> Counter[Verdict]:
        """The verdicts of drawn cases of the special regime."""
        return self._of(special=True)

    def _of(self, *, special: bool) -> Counter[Verdict]:
        counts = (counts for side, counts in self.counts.items() if side.special is special)
        return sum(counts, Counter())

    @property
    def new(self) -> list[Finding]:
        """The findings that are not known and make a run fail: error messages do not."""
        failures = (finding for finding in self.findings.values() if fails_run(finding.severity))
        return [failure for failure in failures if failure.fingerprint not in self.known]


def tally(
    state: State,
    families: Mapping[str, Family],
    expected: Sequence[ExpectedFailure],
    environment: Mapping[str, str],
    case: AnyCase,
    outcome: Outcome,
) -> tuple[str | None, Failure | None]:
    """Count the outcome of a drawn case into ``state``.

    Returns the name of the expected failure that covers it, if any, and the failure to look into.

    A batch counts as its members, without those that count by themselves. On several releases the
    name is that on the newest. ``families`` are by name; ``environment`` are the case's versions.
    """
    count = weight(case, outcome)
    if not count:
        return None, None
    state.cases += count
    point = point_of(families[case.family], case) if isinstance(case.expect, Valid) else {}
    for axis, value in point.items():
        state.cells[(case.family, axis, str(value))] += count
    if point and case.family in state.pairs:
        state.pairs[case.family].strike([point])
    if outcome.checks:
        state.oracle_counts[len(outcome.oracles)] += 1
    place = CasePoint(case, point, families[case.family].axes if point else ())
    outcome = marked(outcome, state.expectations.count_all(expected, place, outcome, environment))
    for name, on_release in by_release(outcome).items():
        state.checks += len(on_release.checks)
        if not on_release.expected_by:
            side = Side(case.fixes, case.regime == SPECIAL_REGIME, name)
            state.counts.setdefault(side, Counter())[on_release.verdict] += count
            if severity := severity_of(on_release.verdict, case.expect):
                state.severities[severity] += count
    return outcome.expected_by or None, worst(outcome)
