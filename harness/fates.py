"""What became of known findings when their cases ran again, on each release that they ran on."""

import enum
from collections.abc import Mapping

from harness.differential import by_release, passed
from harness.finding import Finding
from harness.fingerprint import same_kind
from harness.outcome import Outcome


class Fate(enum.StrEnum):
    """What became of a known finding when its case ran again."""

    STILL = "still fails"
    OTHERWISE = "fails in another way"
    GONE = "does not fail any more"
    UNDECIDED = "neither passes nor fails"
    UNTRIED = "not tried"


GRAVITY = (Fate.UNTRIED, Fate.GONE, Fate.UNDECIDED, Fate.OTHERWISE, Fate.STILL)
"""Of what became of one finding in several campaigns, the last of these is told."""


def fates_by_release(finding: Finding, outcomes: Mapping[str, Outcome]) -> dict[str, Fate]:
    """What became of ``finding``, whose case has ``outcomes`` now, by release.

    Releases that nothing failed on, and that it is not there on now, have no part in it.
    """
    before = by_release(finding.outcome)
    fates = {}
    for name, one in outcomes.items():
        if same_kind(finding.case, one, finding.kind):
            fates[name] = Fate.STILL
        elif passed(one):
            if name in before and before[name].verdict.is_failure:
                fates[name] = Fate.GONE
        else:
            fates[name] = Fate.OTHERWISE if one.verdict.is_failure else Fate.UNDECIDED
    return fates


def fate_text(fate: Fate, by: Mapping[str, Fate]) -> str:
    """``fate`` for a person: as it is ``by`` release, where it is not the same on all of them."""
    if len(set(by.values())) < 2:
        return fate
    releases: dict[Fate, list[str]] = {}
    for name, one in by.items():
        releases.setdefault(one, []).append(name)
    return "; ".join(
        f"{one} on {', '.join(releases[one])}" for one in reversed(GRAVITY) if one in releases
    )
