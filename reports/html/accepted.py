"""What is known of a campaign's findings already: declared, or of the campaigns before it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.differential import each_version
from harness.gaps import Declared, Gap, Known, KnownFinding
from reports.html.records import Record


@dataclass(frozen=True, slots=True)
class Accepted:
    """Why a failure is no news: ``said`` names what it is declared as, or where it is known from.

    ``reason`` and the upstream ``issue`` are those declared, as is the day on which it ``expires``;
    ``expired``: that day is over, so that it is news again.
    """

    said: str
    reason: str = ""
    issue: str | None = None
    expires: str = ""
    expired: bool = False


def accepted_findings(
    record: Record, declared: Sequence[Known], earlier: Mapping[str, str], today: str
) -> dict[str, Accepted]:
    """What is known of the findings of ``record``, by fingerprint, as of ``today``, an ISO date.

    ``earlier`` names a campaign before it for each fingerprint that is known from one. What is
    declared outranks that: after its day it is news, whoever else knows of it.
    """
    found = {one.fingerprint for one in record.findings}
    known = {key: Accepted(f"known from {name}") for key, name in earlier.items() if key in found}
    for one in declared:
        if isinstance(one, KnownFinding) and _concerns(one, record, fixes=one.case.fixes):
            key = one.finding.fingerprint
            if key in found:
                known[key] = accepted(one, today)
    return known


def accepted_gaps(
    record: Record, declared: Sequence[Known], today: str
) -> list[tuple[str, int, Accepted]]:
    """Every gap that cases of ``record`` fell into: its name, how many did, what is declared."""
    by_name = {one.name: one for one in declared if isinstance(one, Gap)}
    return [
        (
            name,
            count,
            accepted(by_name[name], today) if name in by_name else Accepted("no longer declared"),
        )
        for name, count in record.gaps.most_common()
    ]


def accepted(declared: Declared, today: str) -> Accepted:
    """What is ``declared``, as of ``today``."""
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
    return any(declared.concerns(one, fixes=fixes) for one in each_version(record.description))
