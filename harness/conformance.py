"""What a conformance run gathers, verdicts by operator and cells seen, and says of a failure."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from generators.axes import Family
from generators.cases import AnyCase
from generators.program import Invalid, Valid, write
from harness.errors import headline
from harness.fingerprint import operators
from harness.gaps import Known
from harness.jobs import Job
from harness.known import Expectations
from harness.met import Met
from harness.outcome import ALL_ROOM, Outcome, Verdict
from harness.pool import Pool

FAILED = Path("runs/conformance")
"""Where the cases that failed are written, for ``relaxcheck replay``."""


class Tally(msgspec.Struct):
    """Counts of a conformance run; they add up over the processes that share it."""

    verdicts: dict[str, dict[str, int]] = {}
    cells: dict[str, set[tuple[str, str]]] = {}
    known: Met = msgspec.field(default_factory=Met)
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
    """A case does not conform, in one line that ends with the command that runs it again."""


@dataclass(slots=True)
class Conformance:
    """Runs cases on ``pool`` and says which do not conform."""

    pool: Pool
    families: dict[str, Family]
    declared: tuple[Known, ...]
    tally: Tally = field(default_factory=Tally)

    def failures(self, cases: Iterable[AnyCase]) -> list[str]:
        """One line for each case that does not conform: verdict, message, replay command.

        A valid case conforms if it passes, fails as a known gap or a known finding declares, or has
        results that correct implementations differ in everywhere; an invalid one if it is rejected.
        """
        self.pool.submit(*map(Job, cases))
        said = [self._judge(job.case, outcome) for job, outcome in tuple(self.pool.drain())]
        return [text for text in said if text is not None]

    def check(self, case: AnyCase) -> None:
        """Raise ``DoesNotConform`` if ``case`` does not."""
        for failure in self.failures([case]):
            raise DoesNotConform(failure)

    def check_declared(self, *, fixes: bool) -> list[str]:
        """Run the case of each of what is declared for this TVM; as ``failures``.

        What does not fail any more is no failure, but counted as fixed.
        """
        cases = self._expectations.cases(fixes=fixes)
        names = {case.identifier: name for name, case in cases.items()}
        by_name = {one.name: one for one in self.declared}
        self.pool.submit(*(Job(case, fresh=True) for case in cases.values()))
        said = []
        for job, outcome in tuple(self.pool.drain()):
            known = by_name[names[job.case.identifier]]
            if known.expects(outcome):
                if self.tally.known.failed(known) is None:
                    said.append(f"expired on {known.expires}: {_told(job.case, outcome)}")
            elif outcome.verdict in (Verdict.PASS, Verdict.REJECTED):
                self.tally.known.passed(known)
            else:
                said.append(f"not as {known.title} declares: {_told(job.case, outcome)}")
        return said

    @property
    def _expectations(self) -> Expectations:
        return Expectations(self.pool, self.families, self.declared, self.tally.known)

    def _judge(self, case: AnyCase, outcome: Outcome) -> str | None:
        family = self.families[case.family]
        point = family.point(case) if isinstance(case.expect, Valid) else {}
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
        wanted = Verdict.REJECTED if isinstance(case.expect, Invalid) else Verdict.PASS
        if outcome.verdict is wanted or outcome.message == ALL_ROOM:
            return None
        return _told(case, outcome)


def _told(case: AnyCase, outcome: Outcome) -> str:
    FAILED.mkdir(parents=True, exist_ok=True)
    path = FAILED / f"{case.identifier}.json"
    write(case, path)
    return (
        f"{outcome.verdict} at {outcome.stage}: {headline(outcome.message)}: "
        f"relaxcheck replay {path}"
    )
