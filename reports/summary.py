"""A campaign's end as tables for a terminal."""

from collections.abc import Mapping, Sequence

from rich.console import Group
from rich.table import Table
from rich.text import Text

from harness.errors import headline
from harness.finding import Finding
from harness.outcome import DESCRIPTIONS, Verdict

_STYLES = {True: "bold red", False: "yellow"}


def ranked(findings: Sequence[Finding]) -> list[Finding]:
    """Failures first, then the most frequent; ties by fingerprint, so that the order is stable."""
    return sorted(findings, key=lambda one: (not one.verdict.is_failure, -one.count, one.fingerprint))


def blame_text(finding: Finding) -> str:
    """What the finding is blamed on: ``data_layout=NWC, groups=2``."""
    named = ", ".join(f"{axis}={value}" for axis, value in finding.blame.items())
    return named or "any values"


def findings_table(findings: Sequence[Finding]) -> Table:
    """One row a finding: verdict, stage, operator, what is to blame, count, replay command."""
    table = Table(title="Findings", title_justify="left", expand=True)
    for heading, options in (
        ("verdict", {"no_wrap": True}),
        ("stage", {}),
        ("operator", {}),
        ("to blame", {"ratio": 2}),
        ("count", {"justify": "right"}),
        ("confirmed", {}),
        ("replay", {"no_wrap": True}),
    ):
        table.add_column(heading, **options)  # type: ignore[arg-type]
    for one in ranked(findings):
        table.add_row(
            Text(one.verdict, style=_STYLES[one.verdict.is_failure]),
            one.stage or "",
            one.operator,
            Text(blame_text(one)),
            str(one.count),
            {True: "yes", False: "unstable", None: "not yet"}[one.confirmed],
            f"relaxcheck replay {one.case.identifier}",
            end_section=False,
        )
        said = headline(one.outcome.message)
        if said:
            table.add_row("", "", "", Text(said[:200], style="dim"), "", "", "")
    return table


def verdicts_table(verdicts: Mapping[Verdict, int], gaps: Mapping[str, int]) -> Table:
    """One row a verdict that occurred, and one a known gap."""
    table = Table(title="Verdicts", title_justify="left")
    table.add_column("verdict", no_wrap=True)
    table.add_column("cases", justify="right")
    table.add_column("meaning")
    for verdict in Verdict:
        if verdicts.get(verdict):
            style = "bold red" if verdict.is_failure else ""
            table.add_row(Text(verdict, style=style), str(verdicts[verdict]), DESCRIPTIONS[verdict])
    for name, count in sorted(gaps.items()):
        table.add_row("known gap", str(count), f"expected failure: {name}")
    return table


def oracles_text(counts: Mapping[int, int]) -> Text:
    """How many cases were held against two oracles, one, none."""
    parts = [f"{counts.get(number, 0)} by {word}" for number, word in ((2, "two oracles"), (1, "one"))]
    return Text(f"Judged {', '.join(parts)}; {counts.get(0, 0)} by none (never a pass).")


def campaign_summary(
    findings: Sequence[Finding],
    verdicts: Mapping[Verdict, int],
    gaps: Mapping[str, int],
    oracle_counts: Mapping[int, int],
) -> Group:
    """Everything a campaign ends with, for a terminal."""
    parts: list[Table | Text] = [verdicts_table(verdicts, gaps), oracles_text(oracle_counts)]
    parts.append(findings_table(findings) if findings else Text("No findings.", style="green"))
    return Group(*parts)
