from collections import Counter
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.reports.page.coverage import Axis, coverage, letter, preconditions, shown
from relaxcheck.reports.page.records import Ran, ran_of
from relaxcheck.reports.rendering import SHAPES
from tests.reports import html_campaign as made

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def test_a_letter_stands_for_one_value() -> None:
    letters = [letter(number) for number in range(200)]
    assert len(set(letters)) == 200
    assert all(len(letter) == 1 and letter not in "\"\\<>&'" for letter in letters)


@given(
    st.lists(
        st.tuples(
            st.sampled_from((1, 2, 3)), st.booleans(), st.sampled_from((Verdict.PASS, *Verdict))
        ),
        min_size=1,
        max_size=12,
    )
)
def test_the_columns_say_what_the_cases_were(drawn: list[tuple[int, bool, Verdict]]) -> None:
    ran = [
        ran_of(made.case(dilation__w=dilation, symbolic__batch=symbolic), verdict, NOW)
        for dilation, symbolic, verdict in drawn
    ]
    (result,) = coverage(ran)
    by_name = {axis.name: number for number, axis in enumerate(result.axes)}

    def read(name: str) -> list[str]:
        axis = result.axes[by_name[name]]
        values = {letter(number): value for number, value in enumerate(axis.values)}
        return [values[column] for column in result.columns[by_name[name]]]

    assert read("dilation.w") == [str(dilation) for dilation, _, _ in drawn]
    assert read(SHAPES) == ["symbolic" if symbolic else "static" for _, symbolic, _ in drawn]
    verdicts = {letter(number): verdict for number, verdict in enumerate(Verdict)}
    assert [verdicts[verdict] for verdict in result.verdicts] == [verdict for *_, verdict in drawn]


def test_both_sides_of_the_fixes_are_an_axis_only_where_both_ran() -> None:
    off, on = (
        ran_of(replace(made.case(), fixes=side), Verdict.PASS, NOW) for side in (False, True)
    )
    assert "fixes" not in {axis.name for axis in coverage([off, off])[0].axes}
    assert "fixes" in {axis.name for axis in coverage([off, on])[0].axes}


def test_the_preconditions_of_the_pipelines_drawn_are_listed() -> None:
    listed = preconditions(coverage([ran_of(made.case(), Verdict.PASS, NOW)]))
    assert [each.pipeline for each in listed] == ["mixed-precision"]
    assert preconditions(()) == ()


def test_cases_without_cells_make_no_map() -> None:
    assert coverage([Ran(NOW, Verdict.REJECTED, made.NAME, False, {})]) == ()


def test_layouts_and_dilation_are_crossed_first_with_what_is_symbolic() -> None:
    (result,) = coverage([ran_of(made.case(), Verdict.PASS, NOW)])
    assert result.shown == ("data_layout", "dilation.w", "out_layout", SHAPES)


def test_elsewhere_what_is_blamed_most_is_crossed_first() -> None:
    axes = [Axis(name, ("0", "1"), "0") for name in ("a", "b", "c")]
    assert shown(axes, Counter({"c": 3, "gone": 9, "b": 1})) == ("c", "", "b", "")
    assert shown(axes, Counter()) == ("a", "", "b", "")
