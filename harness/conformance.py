"""What a conformance run gathers, verdicts by operator and cells seen, and says of a failure."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from generators.axes import Family
from generators.program import Case, Invalid, Valid, write
from harness.errors import headline
from harness.finding import operators
from harness.gaps import Gap, Met
from harness.jobs import Job
from harness.outcome import ALL_ROOM, Outcome, Verdict
from harness.pool import Pool

FAILED = Path("runs/conformance")
"""Where the cases that failed are written, for ``relaxcheck replay``."""


class Tally(msgspec.Struct):
    """Counts of a conformance run; they add up over the processes that share it."""

    verdicts: dict[str, dict[str, int]] = {}
    cells: dict[str, set[tuple[str, str]]] = {}
    gaps: Met = msgspec.field(default_factory=Met)
    oracles: dict[int, int] = {}

    def add(self, other: "Tally") -> None:
        """Add the counts of ``other``."""
        for operator, counts in other.verdicts.items():
            mine = Counter(self.verdicts.get(operator, {}))
            mine.update(counts)
            self.verdicts[operator] = dict(mine)
        for family, cells in other.cells.items():
            self.cells.setdefault(family, set()).update(cells)
        self.gaps.add(other.gaps)
        for number, count in other.oracles.items():
            self.oracles[number] = self.oracles.get(number, 0) + count


@dataclass(slots=True)
class Conformance:
    """Runs cases on ``pool`` and says which do not conform."""

    pool: Pool
    families: dict[str, Family]
    gaps: tuple[Gap, ...]
    tally: Tally = field(default_factory=Tally)

    def failures(self, cases: Iterable[Case]) -> list[str]:
        """One text for each case that does not conform: verdict, message, replay command.

        A valid case conforms if it passes, falls into a known gap, or has results that correct
        implementations differ in everywhere; an invalid one if it is rejected.
        """
        for case in cases:
            self.pool.submit(Job(case))
        said = [self._judge(job.case, outcome) for job, outcome in self.pool.drain()]
        return [text for text in said if text is not None]

    def _judge(self, case: Case, outcome: Outcome) -> str | None:
        family = self.families[case.family]
        point = family.point(case) if isinstance(case.expect, Valid) else {}
        cells = self.tally.cells.setdefault(case.family, set())
        cells.update((axis, str(value)) for axis, value in point.items())
        if outcome.checks:
            self.tally.oracles[len(outcome.oracles)] = (
                self.tally.oracles.get(len(outcome.oracles), 0) + 1
            )
        if self.tally.gaps.meet(self.gaps, case, point, outcome, self.pool.environment) is not None:
            return None
        counts = self.tally.verdicts.setdefault(operators(case), {})
        counts[outcome.verdict] = counts.get(outcome.verdict, 0) + 1
        wanted = Verdict.REJECTED if isinstance(case.expect, Invalid) else Verdict.PASS
        if outcome.verdict is wanted or outcome.message == ALL_ROOM:
            return None
        FAILED.mkdir(parents=True, exist_ok=True)
        path = FAILED / f"{case.identifier}.json"
        write(case, path)
        return (
            f"{outcome.verdict} at {outcome.stage}: {headline(outcome.message)}\n"
            f"    relaxcheck replay {path}"
        )
