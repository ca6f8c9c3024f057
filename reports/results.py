"""What a campaign ends with, as the tables and pages render it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.fates import Fate
from harness.finding import Finding
from harness.outcome import Verdict
from harness.releases import by_age
from harness.state import Side, State


@dataclass(frozen=True, slots=True)
class Results:
    """The end of a campaign.

    ``description`` is the campaign's: versions by package, and its options. ``counts`` are the
    verdicts of drawn cases, ``oracles`` how many of them were held against how many oracles.
    ``gaps`` maps what there is to say of a known gap to its cases. ``known`` says what became of
    the findings, by fingerprint, that were known before, ``fates`` the same by release, where there
    are several. ``happened`` says what befell the
    campaign, a line each. ``command`` is how the user calls relaxcheck.
    """

    description: Mapping[str, str]
    findings: tuple[Finding, ...]
    counts: Mapping[Side, Mapping[Verdict, int]]
    gaps: Mapping[str, int] = field(default_factory=dict)
    oracles: Mapping[int, int] = field(default_factory=dict)
    known: Mapping[str, Fate] = field(default_factory=dict)
    fates: Mapping[str, Mapping[str, Fate]] = field(default_factory=dict)
    earlier: tuple[Finding, ...] = ()
    happened: tuple[str, ...] = ()
    command: str = "relaxcheck"

    @property
    def new(self) -> tuple[Finding, ...]:
        """The findings that were not known."""
        return tuple(one for one in self.findings if one.fingerprint not in self.known)

    @property
    def known_findings(self) -> tuple[tuple[Finding, Fate], ...]:
        """Every known finding as it is now, or as it was, and what became of it."""
        now = {one.fingerprint: one for one in self.findings}
        return tuple(
            (now.get(one.fingerprint, one), self.known[one.fingerprint]) for one in self.earlier
        )

    @property
    def columns(self) -> dict[str, Mapping[Verdict, int]]:
        """Verdict counts by title: values as usual and special ones, each side of the fixes apart.

        So is each release, the oldest first. Where all cases ran on one side of the fixes, or on
        one release, the titles leave it out.
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
        """Whether cases ran on several releases."""
        return any(one.outcome.elsewhere for one in self.findings) or (
            len({side.release for side in self.counts}) > 1
        )

    @property
    def both_sides(self) -> bool:
        """Whether cases ran with the fixes and without."""
        return len({side.fixes for side in self.counts}) > 1


def results_of(
    state: State,
    description: Mapping[str, str],
    gaps: Mapping[str, int],
    earlier: tuple[Finding, ...],
    happened: tuple[str, ...],
    command: str,
) -> Results:
    """The end of the campaign that stands at ``state``."""
    return Results(
        description,
        tuple(state.findings.values()),
        state.counts,
        gaps,
        state.oracle_counts,
        state.known,
        state.fates,
        earlier,
        happened,
        command,
    )
