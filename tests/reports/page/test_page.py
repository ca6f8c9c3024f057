import re
from dataclasses import replace
from datetime import UTC, datetime
from html import escape, unescape
from html.parser import HTMLParser

import msgspec
import pytest

from relaxcheck.generators.core.case import Invalid
from relaxcheck.harness.known.corpus import ISSUE, SCRIPT, Culprit, entries
from relaxcheck.harness.known.expected_failures import ExpectedFailure
from relaxcheck.harness.known.named import NamedCause, Source
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.outcomes.output import Output
from relaxcheck.harness.outcomes.sources import SOURCES
from relaxcheck.harness.triage.bisection.search import Bisected, Ending, Evidence
from relaxcheck.harness.triage.finding import Finding, Reduced, finding_of, unreduced
from relaxcheck.reports.issue.finding_folder import rendered
from relaxcheck.reports.page.accepted import Accepted
from relaxcheck.reports.page.findings import Known, exported
from relaxcheck.reports.page.page import Sources, duration, page_text, trend
from relaxcheck.reports.page.records import Ran, Record, read_campaign
from tests.reports import html_campaign as made

LINK = "https://github.com/apache/tvm/issues/1"

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
    for words in (
        "<title>relaxcheck: 2 findings in 4 cases</title>",
        "apache-tvm 0.27.0 · fixes off · seed 7",
        f"relaxcheck replay {ID} --dir x",
        "With any of these at its default it does not fail in this way.",
        "Fails with dilation.w=",
        "R.nn.conv1d_transpose(data, weight, dilation=[2])",
        "1 of 4 elements outside the bound",
        '<td class="heat6 worst">∞</td>',
        '<td class="off">nan</td>',
        "Culprit: <code>LegalizeOps</code>",
        '<span class="minus">-a &lt; b',
        '<span class="plus">+c &amp; d',
        "InternalError: &lt;b&gt;no &amp; no&lt;/b&gt;",
        "confirmed in fresh processes",
    ):
        assert words in text, words
    for release, sides in releases.items():
        assert f'<th scope="row">{release}</th>' in text
        assert sides["off"] in text
    assert text.index('<th scope="row">0.26</th>') < text.index('<th scope="row">0.27</th>')
    issue = text[text.index(f'id="issue-{ID}"') :].partition("</pre>")[0]
    assert "[Bug][Relax]" in issue
    assert "LegalizeOps" in issue
    assert "import tvm" in text[text.index(f'id="script-{ID}"') :].partition("</pre>")[0]
    assert "No pass is named yet" in card(text, OTHER)


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        (
            NamedCause("it <drops> it", "dropped", LINK, cured=True, fits=True),
            "Known cause: it &lt;drops&gt; it. Corpus entry <code>dropped</code>; the bundled fixes"
            " cure it.",
        ),
        (
            NamedCause("it drops it", "dropped", None, cured=False, fits=False),
            "Same error as corpus entry <code>dropped</code>.",
        ),
        (
            NamedCause("it fails: x", "docs/x.md", None, False, True, Source.TABLE, ("guard",)),
            "Known cause: it fails: x. Cause in <code>docs/x.md</code>; see the fix"
            " <code>guard</code>.",
        ),
        (
            NamedCause("exp: it fails", "exp-fails", LINK, False, True, Source.DECLARED),
            "Known cause: exp: it fails. Declared failure <code>exp-fails</code>.",
        ),
    ],
)
def test_a_known_cause_is_on_the_page(record: Record, cause: NamedCause, words: str) -> None:
    text = card(page_text(Sources(record, (), {ID: Known(named=cause)})), ID)
    assert words in text
    assert (f"<strong>{escape(cause.title)}" in text) == cause.fits
    assert (f'href="{LINK}"' in text) == (cause.issue is not None)


def test_the_page_is_whole_and_asks_no_other_machine_for_anything(record: Record) -> None:
    text = page_text(Sources(record, [before(record)], {ID: Known(outputs=(OUTPUT,))}))
    result = Elements(text)
    assert result.open == []
    assert len(result.ids) == len(set(result.ids))
    local = {address[1:] for address in result.addresses if address.startswith("#")}
    assert local
    assert local <= set(result.ids)
    assert all(address.startswith(("#", "data:")) for address in result.addresses)
    assert not re.findall(r"url\((?!#)|@import|<script src|https?://(?!www\.w3\.org)", text)


def test_every_link_is_of_the_page_or_of_the_web(record: Record) -> None:
    issue = "https://example.org/1?a=1&b=<2>"
    accepted = Accepted("declared as x", issue="http://example.org/2")
    known = {ID: Known(issue=issue), OTHER: Known(accepted=accepted)}
    text = page_text(Sources(record, [before(record)], known))
    addresses = Elements(text).addresses
    assert {issue, "http://example.org/2"} <= set(addresses)
    assert all(re.match("#|https?://|data:image/", address) for address in addresses)


ORDER = re.compile(r'<details class="finding" id="(\w+)"')


def test_of_one_severity_regressions_come_first_then_new_ones_then_the_frequent(
    record: Record,
) -> None:
    dies = msgspec.structs.replace(record.findings[0], verdict=Verdict.PROCESS_DEATH)
    crashes = replace(record, findings=(dies, record.findings[1]))
    assert ORDER.findall(page_text(Sources(crashes))) == [ID, OTHER]
    old = [before(crashes, dies)]
    text = page_text(Sources(crashes, old))
    assert ORDER.findall(text) == [OTHER, ID]
    assert ("also in monday" in card(text, ID), "tag new" in card(text, OTHER)) == (True,) * 2
    known = {ID: Known(regression="0.26 passes, 0.27 does not.")}
    assert ORDER.findall(page_text(Sources(crashes, old, known))) == [ID, OTHER]


def test_the_worst_come_first_whatever_is_new_or_frequent(record: Record) -> None:
    frequent = msgspec.structs.replace(made.LAYOUT, count=99)
    worst_first = replace(record, findings=(frequent, made.DILATED))
    known = {OTHER: Known(regression="0.26 passes, 0.27 does not.")}
    text = page_text(Sources(worst_first, [before(record, made.DILATED)], known))
    assert ORDER.findall(text) == [ID, OTHER]
    headings = [text.index(f"{title} <span") for title in ("Wrong results", "Crashes")]
    assert headings[0] < text.index(f'id="{ID}"') < headings[1] < text.index(f'id="{OTHER}"')


def test_error_messages_are_folded_and_counted_apart(record: Record) -> None:
    invalid = msgspec.structs.replace(
        made.LAYOUT.case, expect=Invalid("nn.conv1d_transpose", ("groups",)), at=msgspec.UNSET
    )
    message = unreduced(invalid, Outcome(Verdict.OPAQUE_CRASH, "emit", "nn.x", "KeyError: 'a'"))
    text = page_text(Sources(replace(record, findings=(*record.findings, message))))
    assert "<title>relaxcheck: 2 findings in 4 cases</title>" in text
    assert "<dt>error messages</dt><dd>1</dd>" in text
    folded = text.index('<details class="folded">')
    assert text.index(f'id="{OTHER}"') < folded < text.index(f'id="{invalid.identifier}"')
    assert text.index(f'id="{invalid.identifier}"') < text.index("</section>")
    # No pass is at fault: TVM should refuse it before any runs.
    assert "No pass is named yet" not in card(text, invalid.identifier)
    assert "No pass is named yet" in card(text, OTHER)


def test_siblings_of_one_cause_are_one_row_each_with_its_own_replay(record: Record) -> None:
    bail = "left\nlogged at level INFO: TOPI conv{}d_transpose does not support it"
    siblings = [
        finding_of(
            Reduced(
                made.case(number),
                Outcome(
                    Verdict.SILENT_BAIL,
                    "LegalizeOps",
                    f"nn.conv{number}d_transpose",
                    bail.format(number),
                ),
                {},
            )
        )
        for number in (1, 2)
    ]
    text = page_text(Sources(replace(record, findings=tuple(siblings))))
    assert "<title>relaxcheck: 1 finding in 4 cases</title>" in text
    lead, sibling = (finding.case.identifier for finding in siblings)
    assert ORDER.findall(text) == [lead]
    assert "; also nn.conv2d_transpose</strong>" in text
    assert 'data-operator="nn.conv1d_transpose|nn.conv2d_transpose"' in text
    assert f'<details class="more sibling" id="{sibling}"' in text
    for identifier in (lead, sibling):
        assert f"relaxcheck replay {identifier}" in text
    assert Elements(text).open == []


def test_a_finding_no_script_can_show_says_why(record: Record) -> None:
    split = Outcome(Verdict.ORACLE_SPLIT, "compare", None, "pytorch differs")
    finding = msgspec.structs.replace(made.LAYOUT, verdict=split.verdict, outcome=split)
    text = page_text(Sources(replace(record, findings=(finding,))))
    assert "No script: case" in card(text, OTHER)
    assert "Copy repro.py" not in text


def test_a_campaign_without_findings_or_cases_has_a_page(record: Record) -> None:
    text = page_text(Sources(replace(record, ran=(), findings=())))
    assert "No findings in 0 cases" in text
    assert "Nothing failed." in text
    assert "No case has ended." in text
    assert Elements(text).open == []


def test_the_trend_distinguishes_new_findings_from_earlier_ones(record: Record) -> None:
    first, second = before(record, made.DILATED), before(record, made.LAYOUT)
    rows = trend([first, second, record])
    assert [(row.findings, row.new, row.gone) for row in rows] == [
        (1, None, None),
        (1, 1, 1),
        (2, 0, 0),
    ]
    assert [row.failing for row in rows] == [0.75] * 3
    text = page_text(Sources(record, [first, second]))
    assert "gone" in text
    assert "only new ones" in text
    assert "only new ones" not in page_text(Sources(record))


def test_known_gaps_and_events_are_listed(record: Record) -> None:
    gap = Ran(datetime.now(UTC), Verdict.PROCESS_DEATH, "toy", True, {}, expected_by="a-gap")
    changed = replace(record, ran=(*record.ran, gap), happened=("Workers: 2 died.",), unended=3)
    declared = ExpectedFailure(
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
    for words in ("a-gap: 1 case.", "Workers: 2 died.", "3 more did not end", "1 case lies on no"):
        assert words in text


@pytest.mark.parametrize(
    ("seconds", "wanted"),
    [(42.4, "42 s"), (99.0, "99 s"), (400.0, "7 min"), (8 * 3600.0, "8 h 0 min")],
)
def test_a_duration_is_as_long_as_it_has_to_be(seconds: float, wanted: str) -> None:
    assert duration(seconds) == wanted


def test_results_of_an_export_are_on_the_page(record: Record) -> None:
    entry = entries()[0]
    declared = entry.expected
    assert declared.culprit is not None
    text = page_text(Sources(record, (), {ID: exported(entry, Known())}, command="relaxcheck"))
    assert f"Culprit: <code>{declared.culprit.name}</code>" in text
    assert declared.title in text
    assert unescape(text).count(rendered(entry.case, declared)[ISSUE]) == 1
    assert unescape(text).count((entry.folder / SCRIPT).read_text()) == 2
    for name in declared.verdicts:
        assert f'<th scope="row">{name}</th>' in text


def test_the_lines_of_tvms_sources_are_on_the_page(record: Record) -> None:
    line = {"file": "python/tvm/topi/math.py", "line": 7, "function": "<lambda>"}
    details = {SOURCES: {"release": "0.26.0", "lines": [line]}}
    outcome = msgspec.structs.replace(made.DILATED.outcome, details=details)
    failing = msgspec.structs.replace(made.DILATED, outcome=outcome)
    described = replace(record, findings=(failing,), description={"apache-tvm": "0.27.0"})
    known = Known(culprit=Culprit("FuseOps", Evidence.PREFIX, "without it, it is right"))
    text = page_text(Sources(described, (), {ID: known}, command="relaxcheck"))
    place = "<code>python/tvm/topi/math.py:7</code> (<code>&lt;lambda&gt;</code>)"
    assert f"{place} of apache-tvm 0.26.0" in text
    file = "Defined in <code>src/relax/transform/fuse_ops.cc</code> of apache-tvm 0.27.0."
    assert f"{file} without it, it is right." in " ".join(text.split())
