"""Where a campaign stands: what its cases came to, counted."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from generators.axes import Family
from generators.cases import AnyCase
from generators.pairs import Pairs
from generators.program import Valid
from harness.differential import Failure, by_release, marked, worst
from harness.fates import Fate
from harness.finding import Finding
from harness.gaps import Gap, Place
from harness.journal import Cell
from harness.met import Met
from harness.outcome import Outcome, Verdict
from harness.parts import weight

SPECIAL_REGIME = "special"
"""The regime of infinities, NaN and their like, whose verdicts are counted apart."""


@dataclass(frozen=True, slots=True, order=True)
class Side:
    """Cases that are counted together: with or without the fixes, of the special regime or not.

    ``release`` is where they ran, ``""`` in a campaign of one.
    """

    fixes: bool
    special: bool
    release: str = ""


@dataclass(slots=True)
class State:
    """Where a campaign stands, for whoever shows it.

    ``counts`` are those of drawn cases, ``cells`` how many of them met each cell, ``pairs`` the
    pairs of cells that none has met yet, by family; there were ``all_pairs``. ``taken_up`` of
    the ``cases`` ran before, in the campaign that this one goes on with. ``known`` says what became
    of each known finding, by fingerprint, ``fates`` the same by release, where there are several;
    ``interrupted`` what ended the campaign, if anything did.
    Of so many failures as ``investigating`` the cause is not known yet, and so many kinds of them
    as ``unexplained`` are not those of any finding. Of blocks and expressions that failed so
    many parts as ``waiting`` have not run, and ``unrepeated`` failures did not come again there.
    ``cases_cpu`` and ``engine_cpu`` are the CPU seconds of the cases and further runs that ended
    since the campaign began or went on, and of the engine's process.
    """

    started: float = field(default_factory=time.monotonic)
    cases: int = 0
    taken_up: int = 0
    checks: int = 0
    trials: int = 0
    counts: dict[Side, Counter[Verdict]] = field(default_factory=dict)
    gaps: Met = field(default_factory=Met)
    oracle_counts: Counter[int] = field(default_factory=Counter)
    cells: Counter[Cell] = field(default_factory=Counter)
    pairs: dict[str, Pairs] = field(default_factory=dict)
    all_pairs: int = 0
    findings: dict[str, Finding] = field(default_factory=dict)
    known: dict[str, Fate] = field(default_factory=dict)
    fates: dict[str, dict[str, Fate]] = field(default_factory=dict)
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
        """The share of the pairs of cells of two axes that a drawn case has met."""
        missing = sum(pairs.count for pairs in self.pairs.values())
        return 1 - missing / self.all_pairs if self.all_pairs else 0.0

    @property
    def engine_share(self) -> float:
        """The engine's own share of the CPU time, which is what cannot be spent on cases."""
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
        """The findings that are failures and not known."""
        failures = (one for one in self.findings.values() if one.verdict.is_failure)
        return [one for one in failures if one.fingerprint not in self.known]


def tally(
    state: State,
    families: Mapping[str, Family],
    gaps: Sequence[Gap],
    environment: Mapping[str, str],
    case: AnyCase,
    outcome: Outcome,
) -> tuple[str | None, Failure | None]:
    """Count the outcome of a drawn case into ``state``; its known gap, and what to look into.

    A block counts as its expressions, but for those that count by themselves.

    Of several releases the gap is the newest one's. ``families`` are by name; ``environment`` is
    what the case ran with.
    """
    count = weight(case, outcome)
    if not count:
        return None, None
    state.cases += count
    point = families[case.family].point(case) if isinstance(case.expect, Valid) else {}
    for axis, value in point.items():
        state.cells[(case.family, axis, str(value))] += count
    if point and case.family in state.pairs:
        state.pairs[case.family].strike([point])
    if outcome.checks:
        state.oracle_counts[len(outcome.oracles)] += 1
    place = Place(case, point, families[case.family].axes if point else ())
    outcome = marked(outcome, state.gaps.meet_all(gaps, place, outcome, environment))
    for name, one in by_release(outcome).items():
        state.checks += len(one.checks)
        if not one.gap:
            side = Side(case.fixes, case.regime == SPECIAL_REGIME, name)
            state.counts.setdefault(side, Counter())[one.verdict] += count
    return outcome.gap or None, worst(outcome)
