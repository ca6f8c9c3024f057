"""The plots of the page, as SVG that takes its colours from the page, light or dark."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from io import StringIO
from typing import TYPE_CHECKING, Any

from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.reports.page.records import Ran

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PAUSE = timedelta(minutes=1)
"""Longer pauses between two cases are left out: the campaign stood still."""

_BINS, _CASES_A_BIN = 48, 12
"""The most parts of the time, and the fewest cases in each, on average."""

_SIZE = (12.0, 3.2)
"""Width and height in inches; at the page's width text is a little smaller than the page's."""

_VARIABLES = {
    "#010101": "var(--text)",
    "#020202": "var(--line)",
    "#030303": "var(--muted)",
    "#040404": "var(--accent)",
}
"""Placeholders for the page's colours; those of verdicts follow."""

_TEXT, _LINE, _MUTED, ACCENT = _VARIABLES
COLOURS = {verdict: f"#0505{number:02x}" for number, verdict in enumerate(Verdict, 16)}
"""Placeholders for the page's colours of verdicts, as ``ACCENT`` is one for another."""


@contextmanager
def styled() -> Iterator[None]:
    """A context in which figures are drawn and written in the style of the page."""
    # The import takes half a second, which no other command should wait for.
    import matplotlib

    style: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": "relaxcheck",
        "text.color": _TEXT,
        "axes.labelcolor": _MUTED,
        "axes.edgecolor": _LINE,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.grid.axis": "y",
        "axes.axisbelow": True,
        "grid.color": _LINE,
        "grid.linewidth": 0.6,
        "xtick.color": _LINE,
        "ytick.color": _LINE,
        "xtick.labelcolor": _MUTED,
        "ytick.labelcolor": _MUTED,
        "font.size": 10,
    }
    with matplotlib.rc_context(style):
        yield


@dataclass(frozen=True, slots=True)
class Timeline:
    """Drawn cases over a campaign's time: ``seconds`` is how long it ran, pauses left out.

    ``counts`` has for each verdict that occurred the cases in each of ``bins`` equal parts.
    """

    seconds: float
    bins: int
    counts: Mapping[Verdict, tuple[int, ...]]

    @property
    def rates(self) -> tuple[float, ...]:
        """Cases a second in each part."""
        each = self.seconds / self.bins
        totals = (sum(column) for column in zip(*self.counts.values(), strict=True))
        return tuple(total / each for total in totals)


@dataclass(frozen=True, slots=True)
class Point:
    """A campaign in the trend: its name, findings, and the share of its cases that failed."""

    name: str
    findings: int
    failing: float


def timeline(ran: Sequence[Ran], bins: int = _BINS, every: int = 1) -> Timeline | None:
    """The timeline of ``ran``, in order of time; None where all began at once.

    Each of them stands for ``every`` cases.
    """
    at, times = 0.0, []
    for number, case in enumerate(ran):
        step = case.began - ran[number - 1].began if number else timedelta()
        at += min(step, _PAUSE).total_seconds()
        times.append(at)
    if at <= 0:
        return None
    bins = max(1, min(bins, len(ran) // _CASES_A_BIN))
    counts: dict[Verdict, list[int]] = {
        verdict: [0] * bins for verdict in Verdict if any(case.verdict is verdict for case in ran)
    }
    for case, time in zip(ran, times, strict=True):
        counts[case.verdict][min(int(time / at * bins), bins - 1)] += every
    return Timeline(at, bins, {verdict: tuple(column) for verdict, column in counts.items()})


@styled()
def timeline_svg(line: Timeline) -> str:
    """Two plots, side by side: the share of each verdict, and cases a second."""
    figure, shares, rates = _pair()
    unit, name = (60.0, "minutes") if line.seconds > 300 else (1.0, "seconds")
    width = line.seconds / line.bins / unit
    starts = [number * width for number in range(line.bins)]
    totals = [sum(column) for column in zip(*line.counts.values(), strict=True)]
    bottom = [0.0] * line.bins
    for verdict, column in line.counts.items():
        heights = [
            100 * n / total if total else 0.0 for n, total in zip(column, totals, strict=True)
        ]
        colour = COLOURS[verdict]
        shares.bar(starts, heights, width, bottom, align="edge", color=colour, linewidth=0)
        bottom = [a + b for a, b in zip(bottom, heights, strict=True)]
    shares.set_ylim(0, 100)
    shares.set_ylabel("% of cases")
    edges = [*starts, line.seconds / unit]
    rates.stairs(line.rates, edges, color=ACCENT, fill=True, alpha=0.25)
    rates.stairs(line.rates, edges, color=ACCENT, linewidth=1.5)
    rates.set_ylim(0)
    rates.set_ylabel("cases a second")
    for axes in (shares, rates):
        axes.set_xlim(0, line.seconds / unit)
        axes.set_xlabel(name)
    return svg_text(figure, "timeline")


@styled()
def trend_svg(points: Sequence[Point]) -> str:
    """Findings, and the share of failing cases, over campaigns in their order."""
    figure, findings, failing = _pair()
    places = range(len(points))
    for axes, values, label in (
        (findings, [point.findings for point in points], "findings"),
        (failing, [100 * point.failing for point in points], "% of cases that fail"),
    ):
        axes.plot(places, values, color=ACCENT, marker="o", markersize=4, linewidth=1.5)
        axes.set_ylim(0, max(*values, 1) * 1.15)
        axes.set_ylabel(label)
        axes.set_xticks(places, [point.name for point in points])
        axes.margins(x=0.08)
    return svg_text(figure, "trend")


def _pair() -> "tuple[Figure, Axes, Axes]":
    """A figure of two plots, side by side."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE, layout="constrained")
    left, right = figure.subplots(1, 2)
    return figure, left, right


def svg_text(figure: "Figure", name: str) -> str:
    """``figure`` as an element of a page: in the page's font and colours, as wide as there is room.

    Its size stays as the ``viewBox``. Identifiers begin with ``name``: no other plot has the same.
    """
    out = StringIO()
    figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(
        r'<svg [^>]*?(viewBox="[^"]*")[^>]*>', r'<svg \1 class="plot" role="img">', text, count=1
    )
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"font: [^;\"]*;?", "", text)
    text = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", text)
    for colour, variable in {**_VARIABLES, **_verdict_variables()}.items():
        text = text.replace(colour, variable)
    return text


def _verdict_variables() -> dict[str, str]:
    return {colour: f"var(--{verdict})" for verdict, colour in COLOURS.items()}
