"""The findings of a campaign as Markdown: a page with case files beside it, or a summary."""

from collections.abc import Sequence
from pathlib import Path

from relaxcheck.generators.core.case import write
from relaxcheck.harness.campaign.options import OPTIONS
from relaxcheck.harness.known.named import CURED
from relaxcheck.harness.known.status import status_text
from relaxcheck.harness.outcomes.differential import versions
from relaxcheck.harness.outcomes.outcome import DESCRIPTIONS
from relaxcheck.harness.triage.causes import Cause
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.wording import plural
from relaxcheck.reports.issue.heading import headings
from relaxcheck.reports.kinds import rendering
from relaxcheck.reports.tables.results import Results
from relaxcheck.reports.tables.summary import (
    CONFIRMED,
    UNDECIDED,
    error_messages_line,
    verdict_rows,
)
from relaxcheck.reports.templating import environment

_TEMPLATES = environment(trim=False)
_MESSAGE_LENGTH = 4000


def write_page(directory: Path, results: Results) -> Path:
    """Write ``findings.md`` and ``findings/ID.json`` into ``directory``; the page's path.

    Raises ``OSError``.
    """
    cases = directory / "findings"
    cases.mkdir(exist_ok=True)
    for finding in results.findings:
        write(finding.case, cases / f"{finding.case.identifier}.json")
    page = directory / "findings.md"
    # Keeps an earlier page if there is no space for the new one.
    unfinished = page.with_suffix(".new")
    unfinished.write_text(page_text(results))
    unfinished.replace(page)
    return page


def page_text(results: Results) -> str:
    """The page as Markdown: each new finding in full."""
    return _rendered("tables/findings.md.j2", results)


def summary_text(results: Results) -> str:
    """The summary as Markdown, one row for each finding."""
    return _rendered("tables/summary.md.j2", results)


def _rendered(template: str, results: Results) -> str:
    return _TEMPLATES.get_template(template).render(
        description=results.description,
        tvm=versions(results.description),
        several=results.several_releases,
        command=results.command,
        heading=plural(len(results.causes), "new finding" if results.known else "finding"),
        causes=_rows(results.causes, results),
        messages=_rows(results.error_messages, results),
        messages_line=error_messages_line(results.error_messages),
        known=[
            (_finding(finding), status_text(status, results.statuses.get(finding.fingerprint, {})))
            for finding, status in results.known_findings
        ],
        columns=list(results.columns),
        verdicts=[
            (verdict, [count or "" for count in counts], DESCRIPTIONS[verdict])
            for verdict, counts in verdict_rows(results.columns)
        ],
        gaps=results.gaps.items(),
        happened=results.happened,
        versions=[(k, v) for k, v in sorted(results.description.items()) if k not in OPTIONS],
    )


def _rows(causes: Sequence[Cause], results: Results) -> list[dict[str, object]]:
    titles = headings([cause.lead for cause in causes], results.named)
    return [_row(cause, titles[cause.lead.fingerprint], results) for cause in causes]


def _row(cause: Cause, title: str, results: Results) -> dict[str, object]:
    known = results.named.get(cause.lead.fingerprint)
    return {
        "title": title,
        "link": known.link if known else "",
        "cure": CURED if known is None and cause.lead.cured else "",
        "severity": cause.severity or UNDECIDED,
        "operators": cause.operators,
        "count": cause.count,
        "confirmed": CONFIRMED[cause.confirmed],
        "findings": [_finding(finding) for finding in cause.findings],
    }


def _finding(finding: Finding) -> dict[str, object]:
    return {
        "verdict": finding.verdict,
        "regression": finding.regression,
        "releases": finding.releases.items(),
        "operator": finding.operator,
        "blame": finding.blamed,
        "stage": finding.stage,
        "fixes": "on" if finding.case.fixes else "off",
        "count": finding.count,
        "confirmed": CONFIRMED[finding.confirmed],
        "identifier": finding.case.identifier,
        "file": f"findings/{finding.case.identifier}.json",
        "fingerprint": finding.fingerprint,
        "program": rendering(finding.case).text(finding.case),
        "message": finding.outcome.message[:_MESSAGE_LENGTH],
    }
