"""Findings are counted by one rule wherever a person reads their number."""

import re
from io import StringIO
from pathlib import Path

import msgspec
import pytest
from rich.console import Console
from typer.testing import CliRunner

from relaxcheck.cli import app
from relaxcheck.cli.actions import merge
from relaxcheck.cli.actions.pages import report
from relaxcheck.generators.core.case import Invalid
from relaxcheck.harness.campaign.campaign import Plan
from relaxcheck.harness.campaign.display import Display
from relaxcheck.harness.campaign.state import State
from relaxcheck.harness.journal.journal import Journal, Mode
from relaxcheck.harness.known.expected_failures import KnownFinding
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.finding import Finding, Reduced, finding_of, unreduced
from relaxcheck.reports.page.page import trend
from relaxcheck.reports.page.records import read_campaign
from relaxcheck.reports.tables.summary import campaign_summary
from tests.reports import html_campaign as made

DRAWN_BY = {
    "families": made.NAME,
    "pipelines": "build",
    "drawn": "steered",
    "shard": "1/1",
}


def sibling(number: int) -> Finding:
    words = f"left\nlogged at level INFO: TOPI conv{number}d_transpose does not support it"
    operator = f"nn.conv{number}d_transpose"
    outcome = Outcome(Verdict.SILENT_BAIL, "LegalizeOps", operator, words)
    return finding_of(Reduced(made.case(20 + number), outcome, {}))


def message() -> Finding:
    invalid = msgspec.structs.replace(
        made.LAYOUT.case, expect=Invalid("nn.conv1d_transpose", ("groups",)), at=msgspec.UNSET
    )
    return unreduced(invalid, Outcome(Verdict.OPAQUE_CRASH, "emit", "nn.x", "KeyError: 'a'"))


SIBLINGS = (sibling(1), sibling(2))
ALL = (made.DILATED, made.LAYOUT, *SIBLINGS, message())
KNOWN = KnownFinding(
    name="dilated",
    operator=made.DILATED.operator,
    when={axis: (value,) for axis, value in made.DILATED.blame.items()},
    releases=("0.27",),
    verdict=made.DILATED.verdict,
    issue=None,
    expires="2127-01-01",
    reason="it is being mended",
    fixes=False,
    stage=made.DILATED.stage,
    case=made.DILATED.case,
)


def campaign(folder: Path, *findings: Finding) -> Path:
    ended = [(finding.case, finding.outcome, finding) for finding in findings]
    made.write(folder, ended, findings)
    with Journal(folder, Mode.RESUME) as journal:
        journal.describe(DRAWN_BY)
    return folder


@pytest.fixture(params=[(), (KNOWN,)], ids=["none-known", "one-known"])
def known(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> tuple[KnownFinding, ...]:
    declared: tuple[KnownFinding, ...] = request.param
    for module in (merge, report):
        monkeypatch.setattr(module, "declared", lambda: declared)
    return declared


def number(pattern: str, text: str) -> int:
    matched = re.search(pattern, text)
    assert matched, text
    return int(matched[1])


def shown_while_it_runs(state: State) -> str:
    out = StringIO()
    Display(Console(file=out, width=200), Plan((), 1, 60.0, (False,)))(state)
    return out.getvalue()


def test_terminal_markdown_and_page_count_the_same(
    known: tuple[KnownFinding, ...], tmp_path: Path
) -> None:
    folder = campaign(tmp_path / "tuesday", *ALL)
    wanted, new = (2, "new ") if known else (3, "")
    ended = merge.finished(folder)

    assert len(ended.results.causes) == wanted
    out = StringIO()
    Console(file=out, width=300).print(campaign_summary(ended.results))
    identifiers = [finding.case.identifier[:8] for finding in ALL]
    heading = "New findings" if known else "Findings"
    rows = out.getvalue().partition(f"\n{heading}")[2].partition("To run a finding again")[0]
    assert sum(identifier in rows for identifier in identifiers) == wanted
    assert "1 error-message finding in 1 case" in out.getvalue()

    assert ended.page is not None
    markdown = ended.page.read_text()
    assert markdown.startswith(f"# relaxcheck: {wanted} {new}findings\n")
    assert len(re.findall(r"^## .*conv", markdown, re.M)) == wanted

    assert number(r"(\d+) findings  ", shown_while_it_runs(ended.state)) == wanted

    again = CliRunner().invoke(app, ["report", str(folder), "--no-run"])
    assert again.exit_code == 0, again.output
    page = (folder / report.PAGE).read_text()
    assert f"<title>relaxcheck: {wanted} {new}findings in 5 cases</title>" in page
    assert number(r'id="matching"[^>]*>(\d+)<', page) == wanted


def test_the_trend_counts_the_same(known: tuple[KnownFinding, ...], tmp_path: Path) -> None:
    first = read_campaign(campaign(tmp_path / "monday", made.DILATED, SIBLINGS[0], message()))
    last = read_campaign(campaign(tmp_path / "tuesday", *ALL[1:]))
    excluded = {declared.finding.fingerprint for declared in known}
    rows = trend([first, last, first], excluded)
    # The second sibling is new, and with it the row of both.
    wanted = (
        [(1, None, None), (2, 2, 0), (1, 0, 1)]
        if known
        else [(2, None, None), (2, 2, 1), (2, 0, 1)]
    )
    assert [(row.findings, row.new, row.gone) for row in rows] == wanted
    # A finding that an earlier campaign has counts there, as on the page of that campaign.
    earlier, _ = trend([first, last], known=excluded)
    assert earlier.findings == 2


@pytest.mark.parametrize("findings", [(), ALL[:1]], ids=["none", "one"])
def test_the_number_fits_its_noun(
    findings: tuple[Finding, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(merge, "declared", tuple)
    ended = merge.finished(campaign(tmp_path / "one", *findings))
    line = shown_while_it_runs(ended.state)
    nouns = ("1 case", "1 finding") if findings else ("0 cases", "0 findings")
    assert all(f"{noun}  " in line for noun in nouns), line
