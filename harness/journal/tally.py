"""Counts of a journal's cases, which take no reading of the cases."""

from dataclasses import dataclass

from relaxcheck.harness.outcomes.outcome import Verdict


@dataclass(frozen=True, slots=True)
class Tally:
    """So many (``count``) drawn cases of one verdict, declaration and finding.

    ``first`` and ``last`` are the Julian days at which the first and the last of them began.
    """

    verdict: Verdict
    expected_by: str | None
    finding: str | None
    count: int
    first: float
    last: float
