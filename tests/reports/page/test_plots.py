import re
import xml.etree.ElementTree as ElementTree
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.reports.page.plots import Point, Timeline, timeline, timeline_svg, trend_svg
from relaxcheck.reports.page.records import Ran

START = datetime(2026, 1, 2, tzinfo=UTC)


def ran(seconds: float, verdict: Verdict = Verdict.PASS) -> Ran:
    return Ran(START + timedelta(seconds=seconds), verdict, "toy", False, {})


@given(st.lists(st.tuples(st.floats(0, 30), st.sampled_from(Verdict)), min_size=2, max_size=80))
def test_every_case_stands_in_one_part_of_the_time(steps: list[tuple[float, Verdict]]) -> None:
    at, cases = 0.0, []
    for step, verdict in steps:
        at += step
        cases.append(ran(at, verdict))
    line = timeline(cases)
    if line is None:
        assert cases[0].began == cases[-1].began
        return
    for verdict in Verdict:
        counted = sum(line.counts.get(verdict, ()))
        assert counted == sum(case.verdict is verdict for case in cases)
    assert all(len(column) == line.bins for column in line.counts.values())
    assert sum(rate * line.seconds / line.bins for rate in line.rates) == len(cases) or (
        abs(sum(line.rates) * line.seconds / line.bins - len(cases)) < 1e-6 * len(cases)
    )


def test_a_pause_is_left_out() -> None:
    line = timeline([ran(0), ran(10), ran(10 + 3600), ran(3620)])
    assert line is not None
    assert line.seconds == 10 + 60 + 10


def test_nothing_is_drawn_of_a_single_moment() -> None:
    assert timeline([]) is None
    assert timeline([ran(1)]) is None


def test_plots_are_markup_with_text_in_the_colours_of_the_page() -> None:
    line = Timeline(600.0, 2, {Verdict.PASS: (3, 4), Verdict.WRONG_VALUE: (0, 1)})
    shown = timeline_svg(line)
    for text, words in (
        (shown, ("minutes", "cases a second", "% of cases")),
        (trend_svg([Point("1", 3, 0.5), Point("2", 0, 0.0)]), ("findings",)),
    ):
        root = ElementTree.fromstring(text.replace("xlink:", ""))
        written = [element.text for element in root.iter() if element.tag.endswith("text")]
        for word in words:
            assert word in written
        assert not re.findall(r"#0[1-5][0-9a-f]{4}\b", text)
        assert "width=" not in text[: text.index(">")]
    assert "var(--wrong-value)" in shown
    assert timeline_svg(line) == shown
