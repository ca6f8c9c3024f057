import re
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from html.parser import HTMLParser

import msgspec
import pytest

from harness.bisection.search import Bisected, Ending, Evidence
from harness.corpus import ISSUE, SCRIPT, entries
from harness.finding import Finding
from harness.gaps import Gap
from harness.outcome import Outcome, Verdict
from harness.outputs import Output
from reports.html.findings import Known, exported
from reports.html.page import Sources, duration, page_text, trend
from reports.html.records import Ran, Record, read_campaign
from tests.reports import html_campaign as made

ID, OTHER = made.DILATED.case.identifier, made.LAYOUT.case.identifier
OUTPUT = Output(
    "convolved",
    {},
    "normal",
    "float32",
    (2, 2),
    ("1", "nan", "3", "4"),
    tuple("1234"),
    ("0.5",) * 4,
)
BISECTED = Bisected(
    ID,
    Verdict.WRONG_VALUE,
    "compare",
    "",
    "LegalizeOps",
    Evidence.PREFIX,
    "wrong with it, right without it",
    "nn.x",
    Ending("convolved", "nn.x", Verdict.WRONG_VALUE),
    difference="--- before\n+++ after\n@@ -1 +1 @@\n-a < b\n+c & d",
)


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return read_campaign(made.usual(tmp_path_factory.mktemp("campaign") / "tuesday"))


def before(record: Record, *findings: Finding) -> Record:
    return replace(record, name="monday", findings=findings)


class Elements(HTMLParser):
    """Checks that what is opened is closed, and keeps ids and addresses."""

    VOID = frozenset({"meta", "link", "input", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("src", "href", "data-copy"):
                self.addresses.append(f"#{value}" if name == "data-copy" else value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def card(text: str, identifier: str) -> str:
    return text[text.index(f'class="finding" id="{identifier}"') :].partition("</details>\n<")[0]


def test_everything_known_of_a_finding_is_on_the_page(record: Record) -> None:
    releases = {"0.27": {"off": Verdict.WRONG_VALUE}, "0.26": {"off": Verdict.PASS}}
    known = {ID: Known(outputs=(OUTPUT,), bisected=BISECTED, releases=releases)}
    text = page_text(Sources(record, (), known, command="relaxcheck", folder=" --dir x"))
    for said in (
        "<title>relaxcheck: 2 findings in 4 cases</title>",
        "apache-tvm 0.27.0 · fixes off · seed 7",
        f"relaxcheck replay {ID} --dir x",
        "With one of these put back to its default it does not fail in this way: dilation.w=",
        "R.nn.conv1d_transpose(data, weight, dilation=[2])",
        "1 of 4 elements outside the bound",
        '<td class="heat6 worst">∞</td>',
        '<td class="off">nan</td>',
        "Culprit: <code>LegalizeOps</code>",
        '<span class="minus">-a &lt; b',
        '<span class="plus">+c &amp; d',
        "InternalError: &lt;b&gt;no &amp; no&lt;/b&gt;",
        "confirmed: it came again in fresh processes",
    ):
        assert said in text, said
    for release, sides in releases.items():
        assert f'<th scope="row">{release}</th>' in text
        assert sides["off"] in text
    assert text.index('<th scope="row">0.26</th>') < text.index('<th scope="row">0.27</th>')
    issue = text[text.index(f'id="issue-{ID}"') :].partition("</pre>")[0]
    assert "[Bug][Relax]" in issue
    assert "LegalizeOps" in issue
    assert "import tvm" in text[text.index(f'id="script-{ID}"') :].partition("</pre>")[0]
    assert "No pass is named yet" in card(text, OTHER)


def test_the_page_is_whole_and_asks_no_other_machine_for_anything(record: Record) -> None:
    text = page_text(Sources(record, [before(record)], {ID: Known(outputs=(OUTPUT,))}))
    found = Elements(text)
    assert found.open == []
    assert len(found.ids) == len(set(found.ids))
    local = {address[1:] for address in found.addresses if address.startswith("#")}
    assert local
    assert local <= set(found.ids)
    assert all(address.startswith(("#", "data:")) for address in found.addresses)
    assert not re.findall(r"url\((?!#)|@import|<script src|https?://(?!www\.w3\.org)", text)


def test_regressions_come_first_then_new_ones_then_the_frequent(record: Record) -> None:
    order = re.compile(r'<details class="finding" id="(\w+)"')
    assert order.findall(page_text(Sources(record))) == [ID, OTHER]
    old = [before(record, made.DILATED)]
    text = page_text(Sources(record, old))
    assert order.findall(text) == [OTHER, ID]
    assert ("met before in monday" in card(text, ID), "tag new" in card(text, OTHER)) == (True,) * 2
    known = {ID: Known(regression="0.26 passes, 0.27 does not.")}
    text = page_text(Sources(record, old, known))
    assert order.findall(text) == [ID, OTHER]
    assert text.index("Regressions</h3>") < text.index(f'id="{ID}"') < text.index("Others</h3>")


def test_a_finding_no_script_can_show_says_why(record: Record) -> None:
    split = Outcome(Verdict.ORACLE_SPLIT, "compare", None, "pytorch differs")
    one = msgspec.structs.replace(made.LAYOUT, verdict=split.verdict, outcome=split)
    text = page_text(Sources(replace(record, findings=(one,))))
    assert "No script: case" in card(text, OTHER)
    assert "Copy repro.py" not in text


def test_a_campaign_without_findings_or_cases_has_a_page(record: Record) -> None:
    text = page_text(Sources(replace(record, ran=(), findings=())))
    assert "No findings in 0 cases" in text
    assert "Nothing failed." in text
    assert "No case has ended." in text
    assert Elements(text).open == []


def test_the_trend_tells_new_findings_from_those_met_before(record: Record) -> None:
    first, second = before(record, made.DILATED), before(record, made.LAYOUT)
    rows = trend([first, second, record])
    assert [(row.findings, row.new, row.gone) for row in rows] == [
        (1, None, None),
        (1, 1, 1),
        (2, 0, 0),
    ]
    assert [row.failing for row in rows] == [0.75] * 3
    text = page_text(Sources(record, [first, second]))
    assert "not met again" in text
    assert "only new ones" in text
    assert "only new ones" not in page_text(Sources(record))


def test_known_gaps_and_what_happened_are_told(record: Record) -> None:
    gap = Ran(datetime.now(UTC), Verdict.PROCESS_DEATH, "toy", True, {}, gap="a-gap")
    changed = replace(record, ran=(*record.ran, gap), happened=("Workers: 2 died.",), unended=3)
    declared = Gap(
        name="a-gap",
        operator="toy",
        when={},
        releases=("0.27",),
        verdict=Verdict.PROCESS_DEATH,
        issue="https://example.org/2",
        expires="2127-01-01",
        reason="it dies",
    )
    text = page_text(Sources(changed, declared=(declared,)))
    about = "a-gap: 1 case. Declared as a-gap; expected until 2127-01-01: it dies · "
    assert f'{about}<a href="https://example.org/2"' in " ".join(text.split())
    text = page_text(Sources(changed))
    assert "a-gap: 1 case. No longer declared" in " ".join(text.split())
    for said in ("a-gap: 1 case.", "Workers: 2 died.", "3 more did not end", "1 cases lie on no"):
        assert said in text


@pytest.mark.parametrize(
    ("seconds", "wanted"),
    [(42.4, "42 s"), (99.0, "99 s"), (400.0, "7 min"), (8 * 3600.0, "8 h 0 min")],
)
def test_a_duration_is_as_long_as_it_has_to_be(seconds: float, wanted: str) -> None:
    assert duration(seconds) == wanted


def test_what_an_export_found_out_is_on_the_page(record: Record) -> None:
    entry = entries()[0]
    declared = entry.expected
    assert declared.culprit is not None
    text = page_text(Sources(record, (), {ID: exported(entry, Known())}, command="relaxcheck"))
    assert f"Culprit: <code>{declared.culprit.name}</code>" in text
    assert declared.title in text
    assert unescape(text).count((entry.folder / ISSUE).read_text()) == 1
    assert unescape(text).count((entry.folder / SCRIPT).read_text()) == 2
    for name in declared.verdicts:
        assert f'<th scope="row">{name}</th>' in text
