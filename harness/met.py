"""How often what is declared as known was met, and what there is to say of that."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import msgspec

from harness.differential import by_release, environment_on
from harness.gaps import FILE, Declared, Gap, Place
from harness.outcome import Outcome, Verdict


def utc_today() -> str:
    """The ISO date that it is, in UTC."""
    return datetime.now(UTC).date().isoformat()


class Met(msgspec.Struct):
    """How often each of what is declared, by name, was met as of ``today``, an ISO date (UTC).

    ``expected`` failed as declared, ``expired`` did so but too late, ``fixed`` passed.
    """

    today: str = msgspec.field(default_factory=utc_today)
    expected: dict[str, int] = {}
    expired: dict[str, int] = {}
    fixed: dict[str, int] = {}

    @property
    def met(self) -> bool:
        """Whether anything was."""
        return bool(self.expected or self.expired or self.fixed)

    def add(self, other: "Met") -> None:
        """Add the counts of ``other``."""
        for mine, theirs in (
            (self.expected, other.expected),
            (self.expired, other.expired),
            (self.fixed, other.fixed),
        ):
            for name, count in theirs.items():
                mine[name] = mine.get(name, 0) + count

    def failed(self, declared: Declared, count: int = 1) -> str | None:
        """Count ``count`` failures as ``declared``; its name, or None if it has expired."""
        late = declared.expired(self.today)
        counts = self.expired if late else self.expected
        counts[declared.name] = counts.get(declared.name, 0) + count
        return None if late else declared.name

    def passed(self, declared: Declared) -> None:
        """Count that something passed which was to fail as ``declared``."""
        self.fixed[declared.name] = self.fixed.get(declared.name, 0) + 1

    def meet(
        self, gaps: Sequence[Gap], place: Place, outcome: Outcome, environment: Mapping[str, str]
    ) -> str | None:
        """Count ``outcome``; the name of the gap that expects it, or None."""
        for gap in gaps:
            if not gap.applies(place, environment):
                continue
            if gap.expects(outcome):
                if name := self.failed(gap):
                    return name
            elif outcome.verdict is Verdict.PASS and gap.surely_fails(place):
                self.passed(gap)
        return None

    def meet_all(
        self, gaps: Sequence[Gap], place: Place, outcome: Outcome, environment: Mapping[str, str]
    ) -> dict[str, str]:
        """Count ``outcome`` on each release; the names of the gaps that expect it, by release."""
        met = {}
        for name, one in by_release(outcome).items():
            gap = self.meet(gaps, place, one, environment_on(name, environment))
            if gap is not None:
                met[name] = gap
        return met

    def lines(self, declared: Sequence[Declared]) -> dict[str, int]:
        """What there is to say of each of what failed as ``declared``, and of how many cases."""
        return {
            f"known {one.title}: {one.reason or one.verdict}{_at(one)}": count
            for one in declared
            if (count := self.expected.get(one.name))
        }

    def notes(self, declared: Sequence[Declared]) -> tuple[str, ...]:
        """A line for each of what is ``declared`` that has expired and failed, or is fixed.

        It is fixed only if nothing failed as declared.
        """
        said = []
        for one in declared:
            if one.name in self.expired:
                said.append(
                    f"expired {one.title}: it fails, and since {one.expires} that is not expected "
                    f"any more; if it is to stay, give it another date in corpus/{FILE.name}"
                    + _at(one)
                )
            elif one.name in self.fixed and one.name not in self.expected:
                said.append(
                    f"fixed {one.title}: it passes now; remove it: relaxcheck known remove "
                    f"{one.name}"
                )
        return tuple(said)


def _at(declared: Declared) -> str:
    return f" ({declared.issue})" if declared.issue else ""
