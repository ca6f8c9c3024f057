"""Findings of a campaign that are known already: declared, or from earlier campaigns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from relaxcheck.harness.known.expected_failures import (
    Declared,
    ExpectedFailure,
    Known,
    KnownFinding,
)
from relaxcheck.harness.outcomes.differential import each_version
from relaxcheck.reports.page.records import Record


@dataclass(frozen=True, slots=True)
class Accepted:
    """The reason why a failure is not new: ``text`` names its declaration, or a campaign.

    ``reason``, the upstream ``issue`` and the last day (``expires``) are those declared;
    ``expired``: that day is over, and the failure counts as new.
    """

    text: str
    reason: str = ""
    issue: str | None = None
    expires: str = ""
    expired: bool = False


def accepted_findings(
    record: Record, declared: Sequence[Known], earlier: Mapping[str, str], today: str
) -> dict[str, Accepted]:
    """The known findings of ``record``, by fingerprint, as of ``today``, an ISO date.

    ``earlier`` maps fingerprints to an earlier campaign that has them. A declaration outranks that:
    once it has expired the finding is new.
    """
    recorded = {finding.fingerprint for finding in record.findings}
    known = {
        key: Accepted(f"known from {name}") for key, name in earlier.items() if key in recorded
    }
    for entry in declared:
        if isinstance(entry, KnownFinding) and _concerns(entry, record, fixes=entry.case.fixes):
            key = entry.finding.fingerprint
            if key in recorded:
                known[key] = accepted(entry, today)
    return known


def accepted_gaps(
    record: Record, declared: Sequence[Known], today: str
) -> list[tuple[str, int, Accepted]]:
    """Every declared failure in ``record``: its name, its number of cases, the declaration."""
    by_name = {entry.name: entry for entry in declared if isinstance(entry, ExpectedFailure)}
    return [
        (
            name,
            count,
            accepted(by_name[name], today) if name in by_name else Accepted("no longer declared"),
        )
        for name, count in record.expected.most_common()
    ]


def accepted(declared: Declared, today: str) -> Accepted:
    """``declared`` as of ``today``."""
    return Accepted(
        f"declared as {declared.name}",
        declared.reason,
        declared.issue,
        declared.expires,
        declared.expired(today),
    )


def _concerns(declared: Declared, record: Record, *, fixes: bool) -> bool:
    if "apache-tvm" not in record.description:
        return False
    return any(
        declared.concerns(version, fixes=fixes) for version in each_version(record.description)
    )
