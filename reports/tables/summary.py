"""The end of a campaign as tables for a terminal."""

from collections.abc import Iterator, Mapping, Sequence

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from relaxcheck.extensions.naming import is_own
from relaxcheck.harness.known.status import FindingStatus, status_text
from relaxcheck.harness.outcomes.outcome import DESCRIPTIONS, Verdict
from relaxcheck.harness.outcomes.severity import MEANINGS, Severity
from relaxcheck.harness.triage.causes import Cause
from relaxcheck.harness.wording import plural
from relaxcheck.reports.issue.heading import headings, remark
from relaxcheck.reports.tables.results import Results

CONFIRMED = {
    True: "confirmed in fresh processes",
    False: "unstable: it did not always come again in fresh processes",
    None: "not confirmed: the campaign ended before",
}
_STYLES = {
    Severity.WRONG_RESULT: "bold red",
    Severity.CRASH: "red",
    Severity.UNSUPPORTED: "yellow",
    Severity.ERROR_MESSAGE: "",
    None: "yellow",
}
HOW_LISTED = " (--all-messages lists them)"
"""The option that lists error messages on a terminal."""

MOST_ROWS = 36
"""Causes that the table of a campaign has at most: a screen."""

_REMARK = 300
"""Characters of a remark after a title: more are cut off by any terminal."""

UNDECIDED = "no verdict on TVM"
"""The heading of findings without a severity."""


def findings_table(causes: Sequence[Cause], results: Results, title: str) -> Table:
    """One line for each of ``causes``, the worst first, cut off at the edge of the terminal.

    The id is that of the smallest case of the worst finding; ``relaxcheck replay`` takes it.
    """
    table = _table(title)
    table.add_column("severity", no_wrap=True)
    table.add_column("cases", justify="right", no_wrap=True)
    table.add_column("id", no_wrap=True)
    if results.several_releases:
        table.add_column("fails on", no_wrap=True)
    titles = headings([cause.lead for cause in causes], results.named)
    # It alone gives way: its lines are cut, but a column that may not wrap keeps its width.
    table.add_column("finding")
    above: Severity | str | None = ""
    for cause in causes:
        shown = "" if cause.severity is above else (cause.severity or UNDECIDED)
        above = cause.severity
        lead = cause.lead
        cells: list[Text | str] = [str(cause.count), Text(lead.case.identifier[:8], style="bold")]
        if results.several_releases:
            failing = (name for name, verdict in lead.releases.items() if verdict.is_failure)
            cells.append(", ".join(failing))
        table.add_row(
            Text(shown, style=_STYLES[cause.severity]),
            *cells,
            cause_line(cause, titles[lead.fingerprint], results),
        )
    return table


def cause_line(cause: Cause, title: str, results: Results) -> Text:
    """The ``title`` of a cause, its sibling operators, and the corpus entry or the error.

    A cause that did not come again in fresh processes says so, and so does a regression.
    """
    lead = cause.lead
    line = Text(no_wrap=True, overflow="ellipsis")
    if lead.regression is not None:
        line.append(f"REGRESSION {lead.regression}", style="reverse bold red")
        line.append(" ")
    if not cause.confirmed:
        line.append(f"{CONFIRMED[cause.confirmed]}; ")
    if results.both_sides:
        line.append(f"fixes {'on' if lead.case.fixes else 'off'}: ")
    known = results.named.get(lead.fingerprint)
    line.append(title)
    also = ", ".join(cause.operators[1:])
    line.append(f"; also {also}" if also else "")
    line.append(remark(lead, title, known)[:_REMARK])
    return line


def known_table(results: Results) -> Table:
    """One row for each finding that was known before: its status in this campaign."""
    table = _table("Known findings")
    table.add_column("verdict", no_wrap=True)
    table.add_column("operator", overflow="fold")
    table.add_column("blamed on", overflow="fold")
    table.add_column("cases", justify="right")
    if results.several_releases:
        table.add_column("by release", no_wrap=True)
    table.add_column("status", overflow="fold")
    table.add_column("id", no_wrap=True)
    for finding, status in results.known_findings:
        style = "bold red" if status is FindingStatus.OTHERWISE else ""
        status_cell = Text(
            status_text(status, results.statuses.get(finding.fingerprint, {})), style=style
        )
        table.add_row(*_row(Cause((finding,)), results), status_cell, finding.case.identifier[:8])
    return table


def _table(title: str) -> Table:
    return Table(
        title=title,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        # On a terminal of 100 columns the longest blamed axis is then not folded.
        collapse_padding=True,
    )


def _row(cause: Cause, results: Results) -> list[Text | str]:
    lead = cause.lead
    fixes = f" (fixes {'on' if lead.case.fixes else 'off'})" if results.both_sides else ""
    verdict = Text(lead.verdict, style=_STYLES[cause.severity])
    if lead.regression is not None:
        verdict = Text.assemble(
            (f"REGRESSION {lead.regression}", "reverse bold red"), "\n", verdict
        )
    blamed = Text(lead.blamed.replace(", ", ",\n"))
    row: list[Text | str] = [verdict, f"{lead.operator}{fixes}", blamed, str(cause.count)]
    if results.several_releases:
        on_each = (f"{name} {verdict}" for name, verdict in lead.releases.items())
        row.append(Text("\n".join(on_each)))
    return row


def verdicts_table(results: Results) -> Table:
    """One row for each verdict that occurred, and one for each declared failure."""
    table = _table("Verdicts")
    table.add_column("verdict", no_wrap=True)
    for title in results.columns:
        table.add_column(title, justify="right")
    table.add_column("meaning")
    for verdict, counts in verdict_rows(results.columns):
        style = "bold red" if verdict.is_failure else ""
        shown = (str(count or "") for count in counts)
        table.add_row(Text(verdict, style=style), *shown, DESCRIPTIONS[verdict])
    for reason, count in results.gaps.items():
        table.add_row("declared", str(count), *[""] * (len(results.columns) - 1), reason)
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
    """The number of cases that two oracles judged, one, none."""
    two, single, none = (counts.get(number, 0) for number in (2, 1, 0))
    return Text(f"Judged {two} by two oracles, {single} by one; {none} by none (never a pass).")


def error_messages_line(causes: Sequence[Cause], how: str = "") -> str:
    """The number of error-message findings in one line; ``how`` they can be listed."""
    if not causes:
        return ""
    count = plural(len(causes), "error-message finding")
    cases = plural(sum(cause.count for cause in causes), "case")
    return f"{count} in {cases}: {MEANINGS[Severity.ERROR_MESSAGE]}{how}."


def campaign_summary(results: Results, *, all_messages: bool = False) -> Group:
    """All tables of a campaign, for a terminal; error messages as a table with ``all_messages``."""
    return Group(*_parts(results, all_messages=all_messages))


def _more(results: Results) -> str:
    """The number of causes beyond the table, and how to go on."""
    left = len(results.causes) - MOST_ROWS
    more = (
        f"… and {plural(left, 'more cause')}, in findings.md and on the page. " if left > 0 else ""
    )
    own = [name for name in results.description.get("pipelines", "").split() if is_own(name)]
    named = f" --pipeline {own[0]}" if len(own) == 1 else " --pipeline NAME" if own else ""
    return f"{more}To run a finding again: {results.command} replay ID{named}"


def _parts(results: Results, *, all_messages: bool) -> Iterator[Table | Text]:
    yield verdicts_table(results)
    yield oracles_text(results.oracles)
    new = "New findings" if results.known else "Findings"
    if results.known:
        yield known_table(results)
    if results.causes:
        yield findings_table(results.causes[:MOST_ROWS], results, new)
        yield Text(_more(results))
    else:
        yield Text("No new findings." if results.known else "No findings.", style="green")
    if results.error_messages and all_messages:
        yield findings_table(results.error_messages, results, "Error messages")
    elif results.error_messages:
        yield Text(error_messages_line(results.error_messages, HOW_LISTED))
    yield from map(Text, results.happened)
