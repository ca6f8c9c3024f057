"""The trend of a site: distinct faults by night, a line for each series."""

from collections.abc import Sequence
from itertools import cycle

from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.reports.page.plots import ACCENT, COLOURS, styled, svg_text
from relaxcheck.reports.site.tracking import Series

_SIZE = (12.0, 3.6)
"""Width and height in inches."""

_LINES = (
    ACCENT,
    *(
        COLOURS[verdict]
        for verdict in (
            Verdict.OPAQUE_CRASH,
            Verdict.PASS,
            Verdict.SILENT_BAIL,
            Verdict.UNSUPPORTED,
            Verdict.WRONG_SHAPE,
            Verdict.ORACLE_SPLIT,
        )
    ),
)
"""Colours that are told apart in light and in dark."""

_MARKS = "os^vDPX"


@styled()
def trend_svg(series: Sequence[Series]) -> str:
    """A plot of the faults of each night over its date, one line for each of ``series``."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE, layout="constrained")
    axes = figure.subplots()
    most = 1
    for each, colour, mark in zip(series, cycle(_LINES), cycle(_MARKS), strict=False):
        faults = [night.faults for night in each.nights]
        most = max(most, *faults)
        axes.plot(
            [night.began for night in each.nights],  # type: ignore[arg-type]
            faults,
            color=colour,
            marker=mark,
            markersize=4,
            linewidth=1.5,
            # Between two of these matplotlib reads a formula.
            label=each.title.replace("$", r"\$"),
        )
    locator = AutoDateLocator()  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    axes.set_ylim(0, most * 1.15)
    axes.set_ylabel("distinct faults")
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    return svg_text(figure, "trend")
