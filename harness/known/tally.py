"""Counts of expected failures: seen, expired, fixed."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import msgspec

from relaxcheck.harness.known.expected_failures import FILE, CasePoint, Declared, ExpectedFailure
from relaxcheck.harness.outcomes.differential import by_release, environment_on
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict


def utc_today() -> str:
    """Today's ISO date in UTC."""
    return datetime.now(UTC).date().isoformat()


class ExpectationTally(msgspec.Struct):
    """Counts of declared failures, by name, as of ``today``, an ISO date (UTC).

    ``expected`` failed as declared, ``expired`` failed after their date, ``fixed`` passed.
    """

    today: str = msgspec.field(default_factory=utc_today)
    expected: dict[str, int] = {}
    expired: dict[str, int] = {}
    fixed: dict[str, int] = {}

    @property
    def counted(self) -> bool:
        """True if anything was counted."""
        return bool(self.expected or self.expired or self.fixed)

    def add(self, other: "ExpectationTally") -> None:
        """Add the counts of ``other``."""
        for mine, theirs in (
            (self.expected, other.expected),
            (self.expired, other.expired),
            (self.fixed, other.fixed),
        ):
            for name, count in theirs.items():
                mine[name] = mine.get(name, 0) + count

    def failed(self, declared: Declared, count: int = 1) -> str | None:
        """Count ``count`` failures as ``declared``; its name, or None if its date has passed."""
        late = declared.expired(self.today)
        counts = self.expired if late else self.expected
        counts[declared.name] = counts.get(declared.name, 0) + count
        return None if late else declared.name

    def passed(self, declared: Declared) -> None:
        """Count a case that passed and was to fail as ``declared``."""
        self.fixed[declared.name] = self.fixed.get(declared.name, 0) + 1

    def count(
        self,
        declared: Sequence[ExpectedFailure],
        place: CasePoint,
        outcome: Outcome,
        environment: Mapping[str, str],
    ) -> str | None:
        """Count ``outcome``; the name of the declaration that expects it, or None."""
        for entry in declared:
            if not entry.applies(place, environment):
                continue
            if entry.expects(outcome):
                if name := self.failed(entry):
                    return name
            elif outcome.verdict is Verdict.PASS and entry.surely_fails(place):
                self.passed(entry)
        return None

    def count_all(
        self,
        declared: Sequence[ExpectedFailure],
        place: CasePoint,
        outcome: Outcome,
        environment: Mapping[str, str],
    ) -> dict[str, str]:
        """Count ``outcome`` on each release; the names of the declarations, by release."""
        expected_by = {}
        for release, on_release in by_release(outcome).items():
            name = self.count(declared, place, on_release, environment_on(release, environment))
            if name is not None:
                expected_by[release] = name
        return expected_by

    def lines(self, declared: Sequence[Declared]) -> dict[str, int]:
        """A description of each failure that was seen as ``declared``, with its number of cases."""
        return {
            f"known {entry.title}: {entry.reason or entry.verdict}{_at(entry)}": count
            for entry in declared
            if (count := self.expected.get(entry.name))
        }

    def notes(self, declared: Sequence[Declared]) -> tuple[str, ...]:
        """A line for each declaration whose failure was seen after its date, or is fixed.

        It is fixed only if nothing failed as declared.
        """
        lines = []
        for entry in declared:
            if entry.name in self.expired:
                lines.append(
                    f"expired {entry.title}: it fails, and since {entry.expires} that is not "
                    "expected any more; if it is to stay, give it another date in "
                    f"corpus/{FILE.name}" + _at(entry)
                )
            elif entry.name in self.fixed and entry.name not in self.expected:
                lines.append(
                    f"fixed {entry.title}: it passes now; remove it: relaxcheck known remove "
                    f"{entry.name}"
                )
        return tuple(lines)


def _at(declared: Declared) -> str:
    return f" ({declared.issue})" if declared.issue else ""
