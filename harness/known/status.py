"""The status of known findings after their cases ran again, on each release."""

import enum
from collections.abc import Mapping

from relaxcheck.harness.outcomes.differential import by_release, passed
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.triage.fingerprint import same_signature


class FindingStatus(enum.StrEnum):
    """The status of a known finding after its case ran again."""

    STILL = "still fails"
    OTHERWISE = "fails in another way"
    GONE = "does not fail any more"
    UNDECIDED = "neither passes nor fails"
    UNTRIED = "not tried"


GRAVITY = (
    FindingStatus.UNTRIED,
    FindingStatus.GONE,
    FindingStatus.UNDECIDED,
    FindingStatus.OTHERWISE,
    FindingStatus.STILL,
)
"""The order of statuses: of those from several campaigns, the last of these counts."""


def statuses_by_release(
    finding: Finding, outcomes: Mapping[str, Outcome]
) -> dict[str, FindingStatus]:
    """The status of ``finding``, whose case has ``outcomes`` now, by release.

    Releases on which it neither failed before nor fails now are left out.
    """
    before = by_release(finding.outcome)
    statuses = {}
    for name, outcome in outcomes.items():
        if same_signature(finding.case, outcome, finding.signature):
            statuses[name] = FindingStatus.STILL
        elif passed(outcome):
            if name in before and before[name].verdict.is_failure:
                statuses[name] = FindingStatus.GONE
        else:
            statuses[name] = (
                FindingStatus.OTHERWISE if outcome.verdict.is_failure else FindingStatus.UNDECIDED
            )
    return statuses


def status_text(status: FindingStatus, by: Mapping[str, FindingStatus]) -> str:
    """``status`` for a person; ``by`` release if it differs between them."""
    if len(set(by.values())) < 2:
        return status
    releases: dict[FindingStatus, list[str]] = {}
    for name, there in by.items():
        releases.setdefault(there, []).append(name)
    return "; ".join(
        f"{grave} on {', '.join(releases[grave])}"
        for grave in reversed(GRAVITY)
        if grave in releases
    )
