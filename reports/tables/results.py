"""The results of a campaign, as tables and pages render them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from relaxcheck.harness.campaign.state import Side, State
from relaxcheck.harness.known.named import NamedCause
from relaxcheck.harness.known.status import FindingStatus
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.outcomes.severity import Severity, rank
from relaxcheck.harness.releases.releases import by_age
from relaxcheck.harness.triage.causes import Cause, by_cause, counted_causes
from relaxcheck.harness.triage.finding import Finding


@dataclass(frozen=True, slots=True)
class Results:
    """The results of a campaign that has ended.

    ``description`` is the campaign's: versions by package, and its options. ``counts`` are the
    verdicts of drawn cases, ``oracles`` the number of cases by their number of oracles. ``gaps``
    maps a line about a declared failure to its cases. ``known`` is the status of each finding of
    ``earlier`` campaigns, by fingerprint, ``statuses`` the same by release, if there are several.
    ``named`` are known causes by fingerprint. ``happened`` lists worker crashes and interruptions.
    ``command`` is how the user calls relaxcheck.
    """

    description: Mapping[str, str]
    findings: tuple[Finding, ...]
    counts: Mapping[Side, Mapping[Verdict, int]]
    gaps: Mapping[str, int] = field(default_factory=dict)
    oracles: Mapping[int, int] = field(default_factory=dict)
    known: Mapping[str, FindingStatus] = field(default_factory=dict)
    statuses: Mapping[str, Mapping[str, FindingStatus]] = field(default_factory=dict)
    earlier: tuple[Finding, ...] = ()
    happened: tuple[str, ...] = ()
    command: str = "relaxcheck"
    named: Mapping[str, NamedCause] = field(default_factory=dict)

    @property
    def new(self) -> tuple[Finding, ...]:
        """The findings that were not known."""
        return tuple(finding for finding in self.findings if finding.fingerprint not in self.known)

    @property
    def causes(self) -> list[Cause]:
        """The new findings by cause, the worst first, without error messages."""
        return counted_causes(self.findings, self.known)

    @property
    def error_messages(self) -> list[Cause]:
        """The new findings by cause that are error messages."""
        return [cause for cause in by_cause(self.new) if cause.severity is Severity.ERROR_MESSAGE]

    @property
    def known_findings(self) -> tuple[tuple[Finding, FindingStatus], ...]:
        """Every known finding as it is now, or as it was, and its status; the worst first."""
        now = {finding.fingerprint: finding for finding in self.findings}
        latest = (now.get(finding.fingerprint, finding) for finding in self.earlier)
        worst_first = sorted(latest, key=lambda finding: rank(finding.severity))
        return tuple((finding, self.known[finding.fingerprint]) for finding in worst_first)

    @property
    def columns(self) -> dict[str, Mapping[Verdict, int]]:
        """Verdict counts by column title, usual and special values apart.

        So are the two sides of the fixes, and the releases, the oldest first. Titles leave out a
        side or release that all cases share.
        """
        sides = sorted({side.fixes for side in self.counts}) or [False]
        named: dict[str, Mapping[Verdict, int]] = {}
        for fixes in sides:
            for release in by_age({side.release for side in self.counts}) or ("",):
                usual, special = "cases", "special values"
                if len(sides) > 1:
                    usual = f"fixes {'on' if fixes else 'off'}"
                    special = f"special, {'on' if fixes else 'off'}"
                if release:
                    usual = release if len(sides) == 1 else f"{release}, {usual}"
                    special = f"{release}, {special}"
                named[usual] = self.counts.get(Side(fixes, False, release), {})
                named[special] = self.counts.get(Side(fixes, True, release), {})
        return named

    @property
    def several_releases(self) -> bool:
        """True if cases ran on several releases."""
        return any(finding.outcome.elsewhere for finding in self.findings) or (
            len({side.release for side in self.counts}) > 1
        )

    @property
    def both_sides(self) -> bool:
        """True if cases ran both with the fixes and without."""
        return len({side.fixes for side in self.counts}) > 1


def results_of(
    state: State,
    description: Mapping[str, str],
    gaps: Mapping[str, int],
    earlier: tuple[Finding, ...],
    happened: tuple[str, ...],
    command: str,
    named: Mapping[str, NamedCause],
) -> Results:
    """The results of the campaign that ended in ``state``."""
    return Results(
        description,
        tuple(state.findings.values()),
        state.counts,
        gaps,
        state.oracle_counts,
        state.known,
        state.statuses,
        earlier,
        happened,
        command,
        named,
    )
