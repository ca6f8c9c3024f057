"""Bounds of outputs by what other roundings give."""

import numpy as np
import pytest

from relaxcheck.oracles.outside import difference
from relaxcheck.oracles.torch.bounding import MARGIN, UNITS, Shapes, bounded, spread

UNIT = 2.0**-24


def test_the_bound_is_margin_times_the_distance_and_some_units() -> None:
    own = np.array([1, 2], np.float32)
    wide = np.array([1 + 1e-6, 2])
    found = bounded(own, wide, (), exact=False)
    expected = MARGIN * 1e-6 + UNITS * UNIT * wide
    np.testing.assert_allclose(found.bound, expected, rtol=1e-3)
    np.testing.assert_array_equal(found.value, wide)
    assert difference(own, found) == ""


def test_an_element_near_zero_may_be_as_far_off_as_its_neighbours() -> None:
    size = np.array([1.0, 2.0, 1e-9])
    off = np.array([1e-7, 3e-7, 0.0])
    np.testing.assert_array_equal(spread(off, size), [3e-7] * 3)


def test_where_magnitudes_lie_far_apart_distances_are_relative() -> None:
    size = np.array([1e6, 1.0, 1e-6])
    off = np.array([1e-1, 1e-7, 1e-13])
    np.testing.assert_allclose(spread(off, size), [1e-1, 1e-7, 1e-13])


def test_without_float64_the_center_is_pytorchs_own() -> None:
    own, other = np.array([1, 5], np.float32), np.array([1.001, 5], np.float32)
    found = bounded(own, None, (other,), exact=False)
    np.testing.assert_array_equal(found.value, own)
    assert found.bound[0] > MARGIN * 0.0009


def test_an_exact_output_leaves_open_what_other_results_differ_in() -> None:
    own, other = np.array([1, 2], np.float32), np.array([1, 3], np.float32)
    assert bounded(own, None, (other,), exact=True).bound.tolist() == [0, np.inf]


def test_nan_of_some_roundings_is_unconstrained() -> None:
    own, other = np.array([1, np.nan], np.float32), np.array([np.nan, np.nan], np.float32)
    found = bounded(own, np.array([1, np.nan]), (other,), exact=False)
    assert np.isinf(found.bound).tolist() == [True, False]
    assert np.isnan(found.value[1])


def test_a_shape_that_roundings_decide_is_refused() -> None:
    with pytest.raises(Shapes, match=r"\(2,\), \(3,\)"):
        bounded(np.zeros(2), np.zeros(2), (np.zeros(3),), exact=False)


def test_integers_are_exact_where_all_agree() -> None:
    own = np.array([1, 2, 3])
    found = bounded(own, own, (np.array([1, 2, 4]),), exact=False)
    assert found.bound.tolist() == [0, 0, np.inf]
    assert difference(np.array([1, 9, 3]), found)
