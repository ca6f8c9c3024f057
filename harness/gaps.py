"""Known gaps: failures that are expected, declared as data in ``corpus/known_gaps.json``.

A gap filters nothing silently: its cases run, count as expected failures and are shown; a gap that
no longer fails is reported as stale.
"""

from collections.abc import Mapping
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
    fixes: bool | None = None

    def covers(
        self, case: Case, point: Point, outcome: Outcome, environment: Mapping[str, str]
    ) -> bool:
        """Whether this gap expects ``outcome`` of ``case``, which lies at ``point``."""
        release = environment.get("apache-tvm", "")
        return (
            outcome.verdict is self.verdict
            and self.fixes in (None, case.fixes)
            and any(release.startswith(prefix) for prefix in self.releases)
            and self.operator in {node.operator for node in case.program.nodes}
            and self.message in outcome.message
            and all(str(point.get(axis)) in values for axis, values in self.when.items())
        )


def known_gaps(path: Path = FILE) -> tuple[Gap, ...]:
    """The declared gaps. Raises ``CaseError`` if the file is malformed."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=tuple[Gap, ...])
    except (OSError, msgspec.DecodeError) as error:
        raise CaseError(f"{path}: {error}") from error
