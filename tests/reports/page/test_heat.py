import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from relaxcheck.harness.outcomes.output import Output
from relaxcheck.harness.programs.outputs import output_of
from relaxcheck.oracles.answer import Bounded
from relaxcheck.oracles.compare import within
from relaxcheck.reports.page.heat import MOST_PLANES, MOST_SIDE, heat, ratio, step

VALUES = st.sampled_from((0.0, 1.0, -2.5, 1e-3, math.inf, -math.inf, math.nan))
BOUNDS = st.sampled_from((0.0, 1e-3, 1.0, math.inf))


def output(actual: np.ndarray, wanted: np.ndarray, bound: np.ndarray) -> Output:
    made = output_of("y", {"n": 3}, "exact", actual, Bounded(wanted, bound, "float64"))
    assert made is not None
    return made


@given(VALUES, VALUES, BOUNDS)
def test_an_element_is_as_far_off_as_the_comparison_says(
    actual: float, expected: float, bound: float
) -> None:
    if not math.isfinite(expected):
        # The reference gives no room there.
        bound = 0.0
    comparison = within(
        np.array([actual]), Bounded(np.array([expected]), np.array([bound]), "float64")
    )
    result = ratio(actual, expected, bound)
    assert (result <= 1) is comparison.ok
    assert max(result, 0.0) == pytest.approx(comparison.ratio)


@given(hnp.array_shapes(min_dims=0, max_dims=4, max_side=4), st.data())
def test_the_worst_element_is_shown_and_none_twice(
    shape: tuple[int, ...], data: st.DataObject
) -> None:
    actual = np.zeros(shape)
    at = tuple(data.draw(st.integers(0, size - 1)) for size in shape)
    actual[at] = 5.0
    result = heat(output(actual, np.zeros(shape), np.full(shape, 0.5)))
    cells = [cell for plane in result.planes for row in plane.rows for cell in row]
    (worst,) = [cell for cell in cells if cell.worst]
    assert (worst.actual, worst.expected, worst.error, worst.ratio) == ("5", "0", "5", "10")
    assert result.outside == 1
    assert len(result.planes) <= MOST_PLANES
    assert len(cells) + result.hidden * math.prod(shape[-2:]) == actual.size
    assert not result.cut


def test_of_a_large_output_what_is_around_the_worst_element_is_shown() -> None:
    actual = np.zeros((3, 60, 50))
    actual[1, 57, 20] = np.nan
    result = heat(output(actual, np.zeros(actual.shape), np.zeros(actual.shape)))
    assert result.cut
    assert [plane.title for plane in result.planes] == ["[0, :, :]", "[1, :, :]", "[2, :, :]"]
    plane = result.planes[1]
    assert (len(plane.rows), len(plane.rows[0])) == (MOST_SIDE, MOST_SIDE)
    cell = plane.rows[57 - plane.first_row][20 - plane.first_column]
    assert (cell.worst, cell.actual, cell.ratio, cell.heat) == (True, "nan", "∞", 6)


def test_the_planes_that_are_furthest_off_are_kept() -> None:
    actual = np.arange(MOST_PLANES + 3, dtype=float).reshape(-1, 1, 1)
    result = heat(output(actual, np.zeros(actual.shape), np.ones(actual.shape)))
    assert result.hidden == 3
    assert [plane.title for plane in result.planes] == [f"[{n}, :, :]" for n in range(3, 9)]


def test_integers_are_compared_exactly() -> None:
    wanted = np.array([2**60])
    result = heat(
        Output("y", {}, "exact", "int64", (1,), (str(2**60 + 1),), (str(2**60),), ("0.0",))
    )
    assert result.outside == 1
    bounded = Bounded(wanted, np.zeros(1), "int64")
    made = output_of("y", {}, "exact", wanted + 1, bounded)
    assert made is not None
    assert made.actual == (str(2**60 + 1),)


def test_results_of_different_shapes_are_not_kept() -> None:
    bounded = Bounded(np.zeros((2, 2)), np.zeros((2, 2)), "float32")
    assert output_of("y", {}, "normal", np.zeros((2, 3), "float32"), bounded) is None
    large = Bounded(np.zeros(1 << 17), np.zeros(1 << 17), "float32")
    assert output_of("y", {}, "normal", np.zeros(1 << 17, "float32"), large) is None
    empty = output_of("y", {}, "normal", np.zeros(0), Bounded(np.zeros(0), np.zeros(0), "float64"))
    assert empty is not None
    with pytest.raises(ValueError, match="no elements"):
        heat(empty)


@pytest.mark.parametrize(
    ("value", "wanted"),
    [(-1.0, -1), (0.5, 0), (1.0, 0), (2.0, 1), (20.0, 2), (1e9, 5), (math.inf, 6)],
)
def test_the_heat_rises_by_powers_of_ten(value: float, wanted: int) -> None:
    assert step(value) == wanted
