"""The ratio of TVM's error to the framework's."""

import math

import numpy as np
import pytest

from relaxcheck.harness.models.judging import MODEL_LIMIT, measured

EXACT = np.array([1.0, 2.0, 4.0])
OWN = EXACT.astype(np.float32) + np.float32([0, 0, 1e-6])


def test_an_error_is_a_multiple_of_the_frameworks() -> None:
    result = EXACT.astype(np.float32) + np.float32([3e-6, 0, 0])
    each = measured(result, OWN, EXACT)
    assert each.ratio == pytest.approx(3, rel=0.2)
    assert each.scale == 4


def test_a_framework_without_an_error_is_credited_with_one_unit() -> None:
    own = EXACT.astype(np.float32)
    assert measured(own + np.float32(4 * 2.0**-23), own, EXACT).ratio == pytest.approx(1, rel=0.1)
    assert measured(own + np.float32(1e-3), own, EXACT).ratio > MODEL_LIMIT


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (OWN[:2], "float32 (2,) instead of float32 (3,)"),
        (OWN.astype(np.float64), "float64 (3,) instead of float32 (3,)"),
        (np.float32([1, np.nan, 4]), "1 of 3 elements are NaN"),
        (np.float32([1, np.inf, 4]), "1 of 3 elements are infinite"),
    ],
)
def test_a_difference_that_no_ratio_says_is_in_words(result: np.ndarray, words: str) -> None:
    each = measured(result, OWN, EXACT)
    assert math.isinf(each.ratio)
    assert words in each.difference


def test_nan_where_the_framework_has_it_is_right() -> None:
    own = np.float32([1, np.nan, np.inf])
    assert measured(own, own, None).ratio == 0
    lost = measured(np.float32([1, 0, np.inf]), own, None)
    assert "NaN or infinite in the framework" in lost.difference


def test_integers_are_equal_or_not() -> None:
    own = np.array([1, 2, 3])
    assert measured(own, own, None).ratio == 0
    assert measured(np.array([1, 3, 3]), own, None).difference == "1 of 3 elements differ"


def test_zeros_have_no_scale() -> None:
    zeros = np.zeros(3, np.float32)
    assert measured(zeros, zeros, None).ratio == 0
    assert measured(zeros + np.float32(1e-6), zeros, None).ratio > MODEL_LIMIT
    assert measured(np.zeros((0,), np.float32), np.zeros((0,), np.float32), None).ratio == 0
