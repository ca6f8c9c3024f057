"""A campaign's end as tables for a terminal."""

from collections.abc import Mapping, Sequence

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from harness.errors import headline
from harness.finding import Finding
from harness.outcome import DESCRIPTIONS, Verdict

CONFIRMED = {
    True: "confirmed: it came again in fresh processes",
    False: "unstable: it did not always come again in fresh processes",
    None: "not confirmed: the campaign ended before",
}
_STYLES = {True: "bold red", False: "yellow"}


def ranked(findings: Sequence[Finding]) -> list[Finding]:
    """Failures first, then the most frequent; ties by fingerprint, so that the order is stable."""
    return sorted(
        findings, key=lambda one: (not one.verdict.is_failure, -one.count, one.fingerprint)
    )


def blame_text(finding: Finding) -> str:
    """What the finding is blamed on: ``data_layout=NWC, groups=2``."""
    named = ", ".join(f"{axis}={value}" for axis, value in finding.blame.items())
    return named or "any values"


def findings_table(findings: Sequence[Finding], command: str) -> Table:
    """One row a finding: verdict, operator, what is to blame, count, and what replays it.

    ``command`` is how the user calls relaxcheck.
    """
    table = Table(title="Findings", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("verdict", no_wrap=True)
    table.add_column("operator", overflow="fold")
    table.add_column("to blame", overflow="fold")
    table.add_column("count", justify="right")
    table.add_column("replay", no_wrap=True)
    for one in ranked(findings):
        table.add_row(
            Text(one.verdict, style=_STYLES[one.verdict.is_failure]),
            one.operator,
            Text(blame_text(one).replace(", ", ",\n")),
            str(one.count),
            f"{command} replay {one.case.identifier[:8]}",
        )
    return table


def messages(findings: Sequence[Finding]) -> Text:
    """What TVM said, and where, a line a finding; and which ones did not come again."""
    said = Text(no_wrap=True, overflow="ellipsis")
    for one in ranked(findings):
        state = "" if one.confirmed else f"{CONFIRMED[one.confirmed]}; "
        said.append(f"{one.case.identifier[:8]} ", style="bold")
        said.append(f"{state}{one.stage}: {headline(one.outcome.message)[:300]}\n")
    return said


def verdicts_table(
    verdicts: Mapping[Verdict, int], special: Mapping[Verdict, int], gaps: Mapping[str, int]
) -> Table:
    """One row a verdict that occurred, and one a known gap: what to say of it, and its cases.

    ``special`` counts the verdicts of the special regime, which ``verdicts`` leaves out.
    """
    table = Table(title="Verdicts", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("verdict", no_wrap=True)
    table.add_column("cases", justify="right")
    table.add_column("special values", justify="right")
    table.add_column("meaning")
    for verdict, count, apart in verdict_rows(verdicts, special):
        style = "bold red" if verdict.is_failure else ""
        table.add_row(
            Text(verdict, style=style), str(count), str(apart or ""), DESCRIPTIONS[verdict]
        )
    for said, count in gaps.items():
        table.add_row("gap", str(count), "", said)
    return table


def verdict_rows(
    verdicts: Mapping[Verdict, int], special: Mapping[Verdict, int]
) -> list[tuple[Verdict, int, int]]:
    """Each verdict that occurred, its cases, and those of the special regime."""
    return [
        (verdict, verdicts.get(verdict, 0), special.get(verdict, 0))
        for verdict in Verdict
        if verdicts.get(verdict) or special.get(verdict)
    ]


def oracles_text(counts: Mapping[int, int]) -> Text:
    """How many cases were held against two oracles, one, none."""
    two, one, none = (counts.get(number, 0) for number in (2, 1, 0))
    return Text(f"Judged {two} by two oracles, {one} by one; {none} by none (never a pass).")


def campaign_summary(
    findings: Sequence[Finding],
    verdicts: Mapping[Verdict, int],
    special: Mapping[Verdict, int],
    gaps: Mapping[str, int],
    oracle_counts: Mapping[int, int],
    command: str = "relaxcheck",
) -> Group:
    """Everything a campaign ends with, for a terminal."""
    parts: list[Table | Text] = [
        verdicts_table(verdicts, special, gaps),
        oracles_text(oracle_counts),
    ]
    if findings:
        parts += [findings_table(findings, command), messages(findings)]
    else:
        parts.append(Text("No findings.", style="green"))
    return Group(*parts)
