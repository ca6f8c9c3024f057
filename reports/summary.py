"""A campaign's end as tables for a terminal."""

from collections.abc import Mapping, Sequence

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from harness.errors import headline
from harness.fates import Fate, fate_text
from harness.finding import Finding
from harness.outcome import DESCRIPTIONS, Verdict
from reports.results import Results

CONFIRMED = {
    True: "confirmed: it came again in fresh processes",
    False: "unstable: it did not always come again in fresh processes",
    None: "not confirmed: the campaign ended before",
}
_STYLES = {True: "bold red", False: "yellow"}


def ranked(findings: Sequence[Finding]) -> list[Finding]:
    """Regressions first, then other failures; the most frequent first; ties by fingerprint."""
    return sorted(
        findings,
        key=lambda one: (
            one.regression is None,
            not one.verdict.is_failure,
            -one.count,
            one.fingerprint,
        ),
    )


def findings_table(results: Results) -> Table:
    """One row a new finding: verdict, operator, what is to blame, count, and what replays it."""
    table = _table("New findings" if results.known else "Findings")
    table.add_column("verdict", no_wrap=True)
    table.add_column("operator", overflow="fold")
    table.add_column("to blame", overflow="fold")
    table.add_column("count", justify="right")
    if results.several_releases:
        table.add_column("by release", no_wrap=True)
    table.add_column("replay", no_wrap=True)
    for one in ranked(results.new):
        table.add_row(*_row(one, results), f"{results.command} replay {one.case.identifier[:8]}")
    return table


def known_table(results: Results) -> Table:
    """One row a finding that was known before: what became of it in this campaign."""
    table = _table("Known findings")
    table.add_column("verdict", no_wrap=True)
    table.add_column("operator", overflow="fold")
    table.add_column("to blame", overflow="fold")
    table.add_column("count", justify="right")
    if results.several_releases:
        table.add_column("by release", no_wrap=True)
    table.add_column("its case", overflow="fold")
    table.add_column("id", no_wrap=True)
    for one, fate in results.known_findings:
        style = "bold red" if fate is Fate.OTHERWISE else ""
        said = Text(fate_text(fate, results.fates.get(one.fingerprint, {})), style=style)
        table.add_row(*_row(one, results), said, one.case.identifier[:8])
    return table


def _table(title: str) -> Table:
    return Table(
        title=title,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        # On a terminal of 100 columns the longest of what is blamed is then not folded.
        collapse_padding=True,
    )


def _row(one: Finding, results: Results) -> list[Text | str]:
    fixes = f" (fixes {'on' if one.case.fixes else 'off'})" if results.both_sides else ""
    verdict = Text(one.verdict, style=_STYLES[one.verdict.is_failure])
    if one.regression is not None:
        verdict = Text.assemble((f"REGRESSION {one.regression}", "reverse bold red"), "\n", verdict)
    row: list[Text | str] = [verdict]
    row += [one.operator + fixes, Text(one.blamed.replace(", ", ",\n")), str(one.count)]
    if results.several_releases:
        on_each = (f"{name} {came}" for name, came in one.releases.items())
        row.append(Text("\n".join(on_each)))
    return row


def messages(findings: Sequence[Finding]) -> Text:
    """What TVM said, and where, a line a finding; and which ones did not come again."""
    said = Text(no_wrap=True, overflow="ellipsis")
    for one in ranked(findings):
        state = "" if one.confirmed else f"{CONFIRMED[one.confirmed]}; "
        said.append(f"{one.case.identifier[:8]} ", style="bold")
        said.append(f"{state}{one.stage}: {headline(one.outcome.message)[:300]}\n")
    return said


def verdicts_table(results: Results) -> Table:
    """One row a verdict that occurred, and one for what is declared as known."""
    table = _table("Verdicts")
    table.add_column("verdict", no_wrap=True)
    for title in results.columns:
        table.add_column(title, justify="right")
    table.add_column("meaning")
    for verdict, counts in verdict_rows(results.columns):
        style = "bold red" if verdict.is_failure else ""
        shown = (str(count or "") for count in counts)
        table.add_row(Text(verdict, style=style), *shown, DESCRIPTIONS[verdict])
    for said, count in results.gaps.items():
        table.add_row("declared", str(count), *[""] * (len(results.columns) - 1), said)
    return table


def verdict_rows(
    columns: Mapping[str, Mapping[Verdict, int]],
) -> list[tuple[Verdict, list[int]]]:
    """Each verdict that occurred, and its cases in each column."""
    counted = (
        (verdict, [counts.get(verdict, 0) for counts in columns.values()]) for verdict in Verdict
    )
    return [(verdict, counts) for verdict, counts in counted if any(counts)]


def oracles_text(counts: Mapping[int, int]) -> Text:
    """How many cases were held against two oracles, one, none."""
    two, one, none = (counts.get(number, 0) for number in (2, 1, 0))
    return Text(f"Judged {two} by two oracles, {one} by one; {none} by none (never a pass).")


def campaign_summary(results: Results) -> Group:
    """Everything a campaign ends with, for a terminal."""
    parts: list[Table | Text] = [verdicts_table(results), oracles_text(results.oracles)]
    if results.known:
        parts.append(known_table(results))
    if results.new:
        parts += [findings_table(results), messages(results.new)]
    else:
        parts.append(Text("No new findings." if results.known else "No findings.", style="green"))
    parts += [Text(line) for line in results.happened]
    return Group(*parts)
