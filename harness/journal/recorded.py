"""A case as a journal holds it."""

from dataclasses import dataclass

from relaxcheck.generators.core.case import AnyCase
from relaxcheck.harness.outcomes.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Recorded:
    """A case as the journal holds it; ``outcome`` is None if it never ended.

    ``expected_by`` names the expected failure that covers it, ``finding`` is the fingerprint of the
    finding that counts it, if there is one.
    """

    case: AnyCase
    purpose: str
    outcome: Outcome | None
    expected_by: str | None
    finding: str | None
