"""A campaign's findings as a Markdown page, with a case file for each beside it."""

from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from generators.program import write
from harness.differential import versions
from harness.fates import fate_text
from harness.finding import Finding
from harness.options import OPTIONS
from harness.outcome import DESCRIPTIONS
from reports.case_text import case_text
from reports.results import Results
from reports.summary import CONFIRMED, ranked, verdict_rows

_TEMPLATES = Environment(
    loader=PackageLoader("reports"), undefined=StrictUndefined, keep_trailing_newline=True
)
_MESSAGE_LENGTH = 4000


def write_page(directory: Path, results: Results) -> Path:
    """Write ``findings.md`` and ``findings/ID.json`` into ``directory``; the page's path.

    Raises ``OSError``.
    """
    cases = directory / "findings"
    cases.mkdir(exist_ok=True)
    for one in results.findings:
        write(one.case, cases / f"{one.case.identifier}.json")
    page = directory / "findings.md"
    # A page that was there is not lost where there is no room for the new one.
    unfinished = page.with_suffix(".new")
    unfinished.write_text(page_text(results))
    unfinished.replace(page)
    return page


def page_text(results: Results) -> str:
    """The page as Markdown: all there is to say of each new finding."""
    return _rendered("findings.md.j2", results)


def summary_text(results: Results) -> str:
    """The same in short, a row a finding, as Markdown."""
    return _rendered("summary.md.j2", results)


def _rendered(template: str, results: Results) -> str:
    return _TEMPLATES.get_template(template).render(
        description=results.description,
        tvm=versions(results.description),
        several=results.several_releases,
        command=results.command,
        findings=[_row(one) for one in ranked(results.new)],
        known=[
            (_row(one), fate_text(fate, results.fates.get(one.fingerprint, {})))
            for one, fate in results.known_findings
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


def _row(one: Finding) -> dict[str, object]:
    return {
        "verdict": one.verdict,
        "regression": one.regression,
        "releases": one.releases.items(),
        "operator": one.operator,
        "blame": one.blamed,
        "stage": one.stage,
        "fixes": "on" if one.case.fixes else "off",
        "count": one.count,
        "confirmed": CONFIRMED[one.confirmed],
        "identifier": one.case.identifier,
        "file": f"findings/{one.case.identifier}.json",
        "fingerprint": one.fingerprint,
        "program": case_text(one.case),
        "message": one.outcome.message[:_MESSAGE_LENGTH],
    }
