"""The files of a site: one page, its data, and the details of faults, fetched when they are opened.

The page opens from a folder and from a server alike: data are scripts, since a page from a folder
may read nothing else.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath

import msgspec

from relaxcheck.harness.outcomes.severity import Severity
from relaxcheck.harness.wording import in_sight, plural
from relaxcheck.reports.page.page import Fact, duration, moment
from relaxcheck.reports.site.tracking import MEANINGS, OPEN, Fate, Fault, Series
from relaxcheck.reports.site.trend import trend_svg
from relaxcheck.reports.templating import environment

_TEMPLATES = environment(html=True)

INDEX, DATA, DETAILS = "index.html", "faults.js", "details"

_FEW = 40
"""Faults of a kind that the news of a series lists."""


@dataclass(frozen=True, slots=True)
class News:
    """Of ``series`` the faults with one fate; ``listed`` are the first of them."""

    fate: Fate
    count: int
    listed: tuple[tuple[int, Fault], ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """A series on the page: its facts and news; ``alone``: there is one night to compare."""

    title: str
    tvm: str
    alone: bool
    facts: tuple[Fact, ...]
    news: tuple[News, ...]


def files_of(
    series: Sequence[Series], title: str, now: datetime | None = None
) -> Iterator[tuple[PurePosixPath, str]]:
    """The files of the site about ``series``: each with its path in the folder, the page last.

    Raises:
        ValueError: there is no series.
    """
    if not series:
        raise ValueError("no nights")
    numbers, faults = _numbered(series)
    details: defaultdict[str, dict[int, object]] = defaultdict(dict)
    for number, (at, fault) in enumerate(faults):
        details[_part(number)][number] = _detail(fault, series[at])
    for part, held in sorted(details.items()):
        yield PurePosixPath(DETAILS, f"{part}.js"), _script("details", part, held)
    yield PurePosixPath(DATA), _script("faults", "", _data(series, faults))
    made = moment(now or datetime.now(UTC))
    yield PurePosixPath(INDEX), _page(series, title, made, numbers)


def _numbered(
    series: Sequence[Series],
) -> tuple[Mapping[tuple[int, str], int], list[tuple[int, Fault]]]:
    """The number of each fault by series and fingerprint, and the faults in that order."""
    order = list(Severity)
    fates = list(Fate)
    faults = [(at, fault) for at, each in enumerate(series) for fault in each.faults]
    faults.sort(
        key=lambda pair: (
            fates.index(pair[1].fate),
            pair[1].declared,
            order.index(_severity(pair[1])),
            -pair[1].cases,
            pair[1].last.fingerprint,
            pair[0],
        )
    )
    numbers = {(at, fault.last.fingerprint): n for n, (at, fault) in enumerate(faults)}
    return numbers, faults


_PARTS = 256


def _part(number: int) -> str:
    return f"{number % _PARTS:02x}"


def _script(function: str, argument: str, value: object) -> str:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True)
    first = f"{json.dumps(argument)}," if argument else ""
    return f"relaxcheck.{function}({first}{text});\n"


def _data(series: Sequence[Series], faults: Sequence[tuple[int, Fault]]) -> object:
    return {
        "series": [
            {
                "title": each.title,
                "nights": [night.began.strftime("%Y-%m-%d") for night in each.nights],
            }
            for each in series
        ],
        "fates": [str(fate) for fate in Fate],
        "rows": [
            [
                at,
                str(fault.fate),
                _severity(fault),
                in_sight(fault.last.verdict),
                in_sight(fault.last.title),
                in_sight(fault.last.operator),
                fault.first_seen,
                fault.last_seen,
                fault.nights,
                fault.cases,
                bool(fault.last.cured),
                in_sight(fault.last.declared),
            ]
            for at, fault in faults
        ],
    }


def _detail(fault: Fault, series: Series) -> object:
    night = series.nights[fault.last_seen]
    seen = fault.last
    return {
        "message": in_sight(seen.message),
        "blamed": in_sight(seen.blamed),
        "confirmed": seen.confirmed,
        "releases": {in_sight(name): verdict for name, verdict in seen.releases.items()},
        "tvm": in_sight(night.tvm),
        "night": in_sight(night.name),
        "ended": None
        if fault.ended is None
        else series.nights[fault.ended].began.strftime("%Y-%m-%d"),
        "fingerprint": seen.fingerprint,
        "case": _indented(bytes(seen.case)),
    }


def _severity(fault: Fault) -> Severity:
    # Findings without one are no faults (``tracking``).
    assert fault.last.severity is not None
    return fault.last.severity


def _indented(case: bytes) -> str:
    try:
        text = msgspec.json.format(case, indent=1)
    except (msgspec.DecodeError, RecursionError):
        # A file that somebody wrote: its text is shown as it is.
        text = case
    return in_sight(text.decode(errors="replace"))


def _page(
    series: Sequence[Series], title: str, made: str, numbers: Mapping[tuple[int, str], int]
) -> str:
    return _TEMPLATES.get_template("site/index.html.j2").render(
        title=title,
        made=made,
        data=DATA,
        details=DETAILS,
        parts=_PARTS,
        summaries=[_summary(each, at, numbers) for at, each in enumerate(series)],
        meanings=[(str(fate), MEANINGS[fate]) for fate in Fate],
        severities=[str(each) for each in Severity if each is not Severity.ERROR_MESSAGE],
        fates=[str(fate) for fate in Fate],
        series=[each.title for each in series],
        trend=trend_svg(series) if any(len(each.nights) > 1 for each in series) else "",
        operators=_operators(series),
        nights=[
            (each.title, night, duration((night.ended - night.began).total_seconds()))
            for each in series
            for night in reversed(each.nights)
        ],
        moment=moment,
    )


def _summary(series: Series, at: int, numbers: Mapping[tuple[int, str], int]) -> Summary:
    counts = {fate: len(series.of(fate)) for fate in Fate}
    there = series.of(*OPEN)
    wrong = sum(fault.last.severity == Severity.WRONG_RESULT for fault in there)
    expected = series.declared
    gone = sum(fault.fate is Fate.FIXED for fault in expected)
    facts = (
        Fact("faults", str(len(there)), plural(wrong, "wrong result")),
        Fact("new", str(counts[Fate.NEW])),
        Fact("came back", str(counts[Fate.RETURNED])),
        Fact("fixed", str(counts[Fate.FIXED]), "since they were seen"),
        Fact("declared", str(len(expected)), f"besides; {gone} fixed" if gone else "besides"),
        Fact("nights", str(len(series.nights)), f"last {moment(series.last.began)}"),
        Fact("cases", f"{series.last.cases:,}", "in the last night"),
    )
    news = []
    for fate in (Fate.NEW, Fate.RETURNED, Fate.FIXED):
        faults = series.of(fate)
        if fate is Fate.FIXED:
            # Of a declared one somebody has to remove the declaration.
            every = (*faults, *(each for each in expected if each.fate is fate))
            faults = tuple(each for each in every if each.ended == len(series.nights) - 1)
        ordered = sorted(
            ((numbers[at, fault.last.fingerprint], fault) for fault in faults),
            key=lambda pair: pair[0],
        )
        if ordered:
            news.append(News(fate, len(ordered), tuple(ordered[:_FEW])))
    alone = series.compared == len(series.nights) - 1
    return Summary(series.title, series.last.tvm, alone, facts, tuple(news))


def _operators(series: Sequence[Series]) -> list[tuple[str, list[tuple[int, int]]]]:
    """Operators with faults that the last nights saw: (wrong results, all) of each series.

    Declared faults are left out.
    """
    counts: defaultdict[str, list[list[int]]] = defaultdict(lambda: [[0, 0] for _ in series])
    for at, each in enumerate(series):
        for fault in each.of(*OPEN):
            here = counts[fault.last.operator][at]
            here[0] += fault.last.severity == Severity.WRONG_RESULT
            here[1] += 1
    rows = [(name, [(wrong, every) for wrong, every in held]) for name, held in counts.items()]
    return sorted(rows, key=lambda row: (-sum(every for _, every in row[1]), row[0]))
