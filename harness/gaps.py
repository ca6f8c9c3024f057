"""Known gaps: failures that are expected, declared as data in ``corpus/known_gaps.json``.

A gap filters nothing silently: its cases run, count as expected failures and are shown; a gap that
no longer fails is reported as stale.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from generators.axes import Point
from generators.program import Case, CaseError
from harness.corpus import CORPUS
from harness.outcome import Outcome, Verdict

FILE = CORPUS / "known_gaps.json"


class Gap(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An expected failure.

    ``when`` maps axes to the values (as text) at which it happens; ``releases`` are prefixes of
    apache-tvm's version; ``fixes`` whether it is there with fixes on, off or both (None).
    ``reason`` says why it cannot be fixed from Python; ``expires`` is an ISO date to look again.
    Not every case in ``when`` need fail: one does whose axes are as ``example`` says too, and
    otherwise at their default.
    """

    name: str
    operator: str
    when: dict[str, tuple[str, ...]]
    releases: tuple[str, ...]
    verdict: Verdict
    issue: str | None
    expires: str
    reason: str
    message: str = ""
    example: dict[str, str] = {}
    fixes: bool | None = None

    def applies(self, case: Case, point: Point, environment: Mapping[str, str]) -> bool:
        """Whether ``case``, which lies at ``point``, is one where this gap expects its failure."""
        release = environment.get("apache-tvm", "")
        return (
            self.fixes in (None, case.fixes)
            and any(release.startswith(prefix) for prefix in self.releases)
            and self.operator in {node.operator for node in case.program.nodes}
            and all(str(point.get(axis)) in values for axis, values in self.when.items())
        )

    def expects(self, outcome: Outcome) -> bool:
        """Whether ``outcome`` is the failure that this gap declares."""
        return outcome.verdict is self.verdict and self.message in outcome.message


class Met(msgspec.Struct):
    """How often each gap, by name, failed as declared (``expected``), and passed (``stale``)."""

    expected: dict[str, int] = {}
    stale: dict[str, int] = {}

    def add(self, other: "Met") -> None:
        """Add the counts of ``other``."""
        for mine, theirs in ((self.expected, other.expected), (self.stale, other.stale)):
            for name, count in theirs.items():
                mine[name] = mine.get(name, 0) + count

    def meet(
        self,
        gaps: Sequence[Gap],
        case: Case,
        point: Point,
        outcome: Outcome,
        environment: Mapping[str, str],
    ) -> str | None:
        """Count ``outcome``; the name of the gap that expects it, or None."""
        for gap in gaps:
            if not gap.applies(case, point, environment):
                continue
            if gap.expects(outcome):
                self.expected[gap.name] = self.expected.get(gap.name, 0) + 1
                return gap.name
            if outcome.verdict is Verdict.PASS:
                self.stale[gap.name] = self.stale.get(gap.name, 0) + 1
        return None

    def lines(self, gaps: Sequence[Gap], today: str) -> dict[str, int]:
        """What there is to say of each gap that was met, and how many cases it is about.

        ``today`` is an ISO date. A gap is stale only if no case failed as it declares.
        """
        said: dict[str, int] = {}
        for gap in gaps:
            if gap.name in self.expected:
                again = f" (look again: it expired on {gap.expires})" if gap.expires < today else ""
                said[f"known gap {gap.name}: {gap.reason}{again}"] = self.expected[gap.name]
            elif gap.name in self.stale:
                said[f"stale gap {gap.name}: it passes now, remove it"] = self.stale[gap.name]
        return said


def known_gaps(path: Path = FILE) -> tuple[Gap, ...]:
    """The declared gaps. Raises ``CaseError`` if the file is malformed."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=tuple[Gap, ...])
    except (OSError, msgspec.DecodeError) as error:
        raise CaseError(f"{path}: {error}") from error
