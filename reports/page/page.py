"""The page: its content in order, and the template that renders it."""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from relaxcheck.harness.campaign.options import OPTIONS
from relaxcheck.harness.known.expected_failures import Known as Declared
from relaxcheck.harness.known.tally import utc_today
from relaxcheck.harness.matrix.matrix import Matrix
from relaxcheck.harness.outcomes.differential import versions
from relaxcheck.harness.outcomes.outcome import DESCRIPTIONS, Verdict
from relaxcheck.harness.programs.support.audit import by_operator
from relaxcheck.harness.programs.support.rows import Support
from relaxcheck.harness.triage.causes import counted_causes
from relaxcheck.harness.wording import plural
from relaxcheck.reports.issue.heading import headings
from relaxcheck.reports.page.accepted import accepted_gaps
from relaxcheck.reports.page.coverage import coverage, letter, preconditions
from relaxcheck.reports.page.findings import Known, shown
from relaxcheck.reports.page.operators import section as operators_section
from relaxcheck.reports.page.plots import Point, timeline, timeline_svg, trend_svg
from relaxcheck.reports.page.records import Record
from relaxcheck.reports.page.releases import section
from relaxcheck.reports.page.sections import Section, sections
from relaxcheck.reports.templating import environment

_TEMPLATES = environment(html=True)

_NOTHING = Known()


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of the page.

    ``record`` is its subject; ``earlier`` are campaigns before it, the first one first. ``known``
    maps the case of a finding to further knowledge. ``corpus``: the record is a run of the corpus,
    not a campaign. ``declared`` are failures declared as known. ``matrix`` is that of all
    releases, ``support`` the table of operators. ``command`` is how the user calls relaxcheck,
    ``folder`` the argument by which that finds the campaign.
    """

    record: Record
    earlier: Sequence[Record] = ()
    known: Mapping[str, Known] | None = None
    corpus: bool = False
    declared: Sequence[Declared] = ()
    matrix: Matrix | None = None
    support: Support | None = None
    command: str = "relaxcheck"
    folder: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """A number at the top of the page, with a label and a remark."""

    label: str
    value: str
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A campaign in the trend: ``new`` counts findings it has first, ``gone`` those it lost.

    Both are None for the first one.
    """

    name: str
    tvm: str
    cases: int
    failing: float
    findings: int
    new: int | None
    gone: int | None


def page_text(sources: Sources) -> str:
    """The page as HTML."""
    record = sources.record
    earlier = sources.earlier or None
    known = sources.known or {}
    about = [known.get(finding.case.identifier, _NOTHING) for finding in record.findings]
    named = {
        finding.fingerprint: each.named
        for finding, each in zip(record.findings, about, strict=True)
        if each.named is not None
    }
    titles = headings(record.findings, named)
    entries = [
        shown(finding, record, earlier, each, titles[finding.fingerprint])
        for finding, each in zip(record.findings, about, strict=True)
    ]
    line = None if sources.corpus else timeline(record.ran, every=record.every)
    known_before = {entry.finding.fingerprint for entry in entries if entry.is_known}
    # A finding of an earlier campaign counts there; a declared one counts nowhere.
    declared = {
        entry.finding.fingerprint
        for entry in entries
        if entry.is_known and entry.accepted is not None and entry.accepted.expires
    }
    records = [*sources.earlier, record]
    rows = trend(records, declared, known_before) if sources.earlier else []
    listed = sections(entries, corpus=sources.corpus)
    maps = coverage(record.ran, record.findings)
    return _TEMPLATES.get_template("page/page.html.j2").render(
        title=_title(record, listed, corpus=sources.corpus),
        tvm=_versions(record),
        corpus=sources.corpus,
        record=record,
        facts=facts(record, listed, line.seconds if line else 0.0, corpus=sources.corpus),
        verdicts=_verdicts(record),
        descriptions={str(verdict): description for verdict, description in DESCRIPTIONS.items()},
        sections=listed,
        rows=[row for section in listed for row in section.rows],
        counted=_counted(listed),
        choices={
            "verdict": [
                str(v) for v in Verdict if any(entry.finding.verdict is v for entry in entries)
            ],
            "operator": sorted({entry.finding.operator for entry in entries}),
        },
        compared=earlier is not None or any(entry.accepted for entry in entries),
        coverage=[asdict(coverage_map) for coverage_map in maps],
        letters={letter(number): str(verdict) for number, verdict in enumerate(Verdict)},
        preconditions=preconditions(maps),
        off_axes=record.every * sum(case.count for case in record.ran if not case.cells),
        every=record.every,
        releases=section(sources.matrix) if sources.matrix else None,
        operators=operators_section(sources.support, _by_operator(record))
        if sources.support
        else None,
        timeline=timeline_svg(line) if line else "",
        trend=rows,
        trend_plot=_trend_plot(rows) if rows else "",
        gaps=accepted_gaps(record, sources.declared, utc_today()),
        options=[(k, record.description[k]) for k in OPTIONS if k in record.description],
        versions=[(k, v) for k, v in sorted(record.description.items()) if k not in OPTIONS],
        command=sources.command,
        folder=sources.folder,
        made=moment(datetime.now(UTC)),
        moment=moment,
    )


def _by_operator(record: Record) -> Mapping[str, Mapping[str, int]]:
    return by_operator(
        (case.family, case.verdict, record.every * case.count) for case in record.ran
    )


def moment(when: datetime) -> str:
    """``when`` as text, in UTC."""
    return when.strftime("%Y-%m-%d %H:%M UTC")


def duration(seconds: float) -> str:
    """A duration as text: ``42 s``, ``7 min``, ``5 h 10 min``."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def facts(
    record: Record, listed: Sequence[Section], seconds: float, *, corpus: bool
) -> tuple[Fact, ...]:
    """The numbers at the top."""
    cases, failed = record.cases, record.failed
    share = f"{failed / cases:.0%}" if cases else "–"
    numbers = [
        Fact(section.title.lower(), str(len(section.rows)), plural(section.count, "case"))
        for section in listed
    ]
    if corpus:
        entries = sum(len(section.rows) for section in listed)
        numbers = [Fact("entries", str(entries), "each run once, the fixes off")]
    numbers += [
        Fact("cases", f"{cases:,}", f"{record.unended} more did not end" if record.unended else ""),
        Fact("failing", share, plural(failed, "case")),
    ]
    if seconds and not corpus:
        rate = f"{cases / seconds:.1f} cases a second"
        numbers.append(Fact("time", duration(seconds), rate))
    return tuple(numbers)


def trend(
    records: Sequence[Record],
    declared: Set[str] = frozenset(),
    known: Set[str] = frozenset(),
) -> list[Row]:
    """One row per campaign, in the given order.

    Findings in ``declared`` are not counted, and those in ``known`` not for the last campaign.
    A cause is new if one of its findings is, as on the page, and gone if none of them is left.
    """
    rows: list[Row] = []
    before: set[str] = set()
    last: list[set[str]] = []
    for number, record in enumerate(records):
        causes = [
            {finding.fingerprint for finding in cause.findings}
            for cause in counted_causes(
                record.findings, declared | known if record is records[-1] else declared
            )
        ]
        has = set().union(*causes)
        rows.append(
            Row(
                record.name,
                _versions(record),
                record.cases,
                record.failed / record.cases if record.ran else 0.0,
                len(causes),
                sum(not cause <= before for cause in causes) if number else None,
                sum(not cause & has for cause in last) if number else None,
            )
        )
        before |= has
        last = causes
    return rows


def _trend_plot(rows: Sequence[Row]) -> str:
    names = [f"{number}" for number in range(1, len(rows) + 1)]
    return trend_svg(
        [Point(name, row.findings, row.failing) for name, row in zip(names, rows, strict=True)]
    )


def _title(record: Record, listed: Sequence[Section], *, corpus: bool) -> str:
    if corpus:
        return f"The corpus on TVM {_versions(record)}"
    count = _counted(listed)
    known = any(not (section.counted or section.folded) for section in listed)
    new = "new " if known else ""
    findings = plural(count, f"{new}finding") if count else f"No {new}findings"
    return f"{findings} in {plural(record.cases, 'case')}"


def _counted(listed: Sequence[Section]) -> int:
    """The number of findings, as the terminal counts them."""
    return sum(len(section.rows) for section in listed if section.counted)


def _versions(record: Record) -> str:
    """The versions of TVM that it ran on; empty if it never began."""
    return versions(record.description) if "apache-tvm" in record.description else ""


def _verdicts(record: Record) -> list[tuple[Verdict, int, float, int]]:
    """Each verdict that occurred: cases, their share of all, and those with special values."""
    special = Counter(case.verdict for case in record.ran if case.special)
    counts = record.verdicts
    return [
        (verdict, counts[verdict], counts[verdict] / record.cases, record.every * special[verdict])
        for verdict in Verdict
        if counts[verdict]
    ]
