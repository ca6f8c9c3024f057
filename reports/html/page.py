"""The page: what is shown in which order, and the template that renders it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from jinja2 import Environment, PackageLoader, StrictUndefined

from harness.differential import versions
from harness.gaps import Known as Declared
from harness.matrix import Matrix
from harness.met import utc_today
from harness.options import OPTIONS
from harness.outcome import DESCRIPTIONS, Verdict
from reports.html.accepted import accepted_gaps
from reports.html.coverage import coverage, letter
from reports.html.findings import Known, Shown, shown
from reports.html.plots import Point, timeline, timeline_svg, trend_svg
from reports.html.records import Record
from reports.html.releases import section

_TEMPLATES = Environment(
    loader=PackageLoader("reports"),
    undefined=StrictUndefined,
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
)

_NOTHING = Known()


@dataclass(frozen=True, slots=True)
class Sources:
    """What the page is made from.

    ``record`` is what it is about; ``earlier`` are campaigns before it, the first one first.
    ``known`` says by a finding's case what else is known. ``corpus``: the record is a run of the
    corpus, not a campaign. ``declared`` is what is declared as known. ``matrix`` is that of all
    releases. ``command`` is how the user calls relaxcheck, ``folder`` the argument by which that
    finds the campaign.
    """

    record: Record
    earlier: Sequence[Record] = ()
    known: Mapping[str, Known] | None = None
    corpus: bool = False
    declared: Sequence[Declared] = ()
    matrix: Matrix | None = None
    command: str = "relaxcheck"
    folder: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """A number at the top of the page: its label, itself, and a remark below it."""

    label: str
    value: str
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A campaign in the trend. ``new`` of its findings no earlier one had, ``gone`` ones it lost.

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
    found = [
        shown(one, record, earlier, known.get(one.case.identifier, _NOTHING))
        for one in record.findings
    ]
    line = None if sources.corpus else timeline(record.ran)
    rows = trend([*sources.earlier, record]) if sources.earlier else []
    maps = coverage(record.ran, record.findings)
    return _TEMPLATES.get_template("report.html.j2").render(
        title=_title(record, corpus=sources.corpus),
        tvm=_versions(record),
        corpus=sources.corpus,
        record=record,
        facts=facts(record, found, line.seconds if line else 0.0, corpus=sources.corpus),
        verdicts=_verdicts(record),
        descriptions={str(verdict): said for verdict, said in DESCRIPTIONS.items()},
        findings=ordered(found),
        choices={
            "verdict": [str(v) for v in Verdict if any(one.finding.verdict is v for one in found)],
            "operator": sorted({one.finding.operator for one in found}),
        },
        compared=earlier is not None or any(one.accepted for one in found),
        coverage=[asdict(one) for one in maps],
        letters={letter(number): str(verdict) for number, verdict in enumerate(Verdict)},
        off_axes=sum(one.count for one in record.ran if not one.cells),
        releases=section(sources.matrix) if sources.matrix else None,
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


def moment(when: datetime) -> str:
    """A moment for a person, in UTC."""
    return when.strftime("%Y-%m-%d %H:%M UTC")


def duration(seconds: float) -> str:
    """A duration for a person: ``42 s``, ``7 min``, ``5 h 10 min``."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def facts(
    record: Record, found: Sequence[Shown], seconds: float, *, corpus: bool
) -> tuple[Fact, ...]:
    """The numbers at the top."""
    cases, failed = record.cases, record.failed
    confirmed = sum(one.finding.confirmed is True for one in found)
    known = sum(one.is_known for one in found)
    said = f"{confirmed} confirmed in fresh processes" + (
        f"; {known} known before" if known else ""
    )
    share = f"{failed / cases:.0%}" if cases else "–"
    given = [Fact("findings", str(len(found)), said)]
    if corpus:
        given = [Fact("entries", str(len(found)), "each run once, the fixes off")]
    given += [
        Fact("cases", f"{cases:,}", f"{record.unended} more did not end" if record.unended else ""),
        Fact("failing", share, f"{failed:,} cases"),
    ]
    if seconds and not corpus:
        rate = f"{cases / seconds:.1f} cases a second"
        given.append(Fact("time", duration(seconds), rate))
    return tuple(given)


def ordered(found: Sequence[Shown]) -> list[Shown]:
    """What is known last; of the rest regressions first, then what no earlier campaign had.

    Of these failures, frequent ones.
    """
    return sorted(
        found,
        key=lambda one: (
            one.is_known,
            not one.regression,
            bool(one.seen_in),
            not one.finding.verdict.is_failure,
            -one.met,
            one.title,
            one.finding.fingerprint,
        ),
    )


def trend(records: Sequence[Record]) -> list[Row]:
    """A row a campaign, in the order given."""
    rows: list[Row] = []
    before: set[str] = set()
    for number, one in enumerate(records):
        has = {finding.fingerprint for finding in one.findings}
        last = {f.fingerprint for f in records[number - 1].findings} if number else set()
        rows.append(
            Row(
                one.name,
                _versions(one),
                one.cases,
                one.failed / one.cases if one.ran else 0.0,
                len(has),
                len(has - before) if number else None,
                len(last - has) if number else None,
            )
        )
        before |= has
    return rows


def _trend_plot(rows: Sequence[Row]) -> str:
    names = [f"{number}" for number in range(1, len(rows) + 1)]
    return trend_svg(
        [Point(name, row.findings, row.failing) for name, row in zip(names, rows, strict=True)]
    )


def _title(record: Record, *, corpus: bool) -> str:
    if corpus:
        return f"The corpus on TVM {_versions(record)}"
    count = len(record.findings)
    return f"{count or 'No'} finding{'' if count == 1 else 's'} in {record.cases:,} cases"


def _versions(record: Record) -> str:
    """The versions of TVM that it ran on; empty where it never began."""
    return versions(record.description) if "apache-tvm" in record.description else ""


def _verdicts(record: Record) -> list[tuple[Verdict, int, float, int]]:
    """Each verdict that occurred: cases, their share of all, and those with special values."""
    special = Counter(one.verdict for one in record.ran if one.special)
    counts = record.verdicts
    return [
        (verdict, counts[verdict], counts[verdict] / record.cases, special[verdict])
        for verdict in Verdict
        if counts[verdict]
    ]
