"""Averages weighted by a softmax, by themselves: what a score or a value that is off moves."""

import numpy as np
import pytest

from relaxcheck.oracles.reference import softmax
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate


def _estimate(values: object, error: object = 0.0, dtype: str = "float32") -> Estimate:
    """Of one batch and head."""
    array = np.array(values, np.longdouble)[None, None]
    return Estimate(array, np.broadcast_to(np.array(error, np.float64), array.shape).copy(), dtype)


def _average(scores: Estimate, values: Estimate) -> Estimate:
    seen = np.ones(scores.value.shape, np.bool_)
    return softmax.softmax_average(scores, seen, values, scores.dtype)


def test_a_score_that_is_off_moves_its_weight_by_an_exponential() -> None:
    scores = _estimate([[0.0, 0.0]], 0.125, "float16")
    values = _estimate([[1.0], [3.0]], dtype="float16")
    weights, value = softmax._weighted(scores, np.ones((1, 1, 1, 2), np.bool_), values, "float16")
    assert value.tolist() == [[[[2.0]]]]
    unit = 2 * softmax.EXP_ULPS * FORMATS["float16"].unit
    rise, fall = np.expm1(0.125), -np.expm1(-0.125)
    assert (weights.rise >= rise * (1 + unit) + unit).all()
    assert (weights.rise <= rise * (1 + 3 * unit) + unit).all()
    assert (weights.fall >= fall).all()
    assert (weights.fall <= fall + 2 * unit).all()


def test_an_average_is_off_by_what_its_values_are() -> None:
    result = _average(_estimate([[0.0, 0.0]]), _estimate([[1.0], [3.0]], 1.0))
    assert result.value.item() == 2
    assert 1 <= result.error.item() < 1.001


def test_of_scores_that_say_nothing_each_column_lies_among_its_own_values() -> None:
    scores = _estimate([[0.0, 0.0]], 50.0)
    result = _average(scores, _estimate([[1.0, 1e6], [2.0, 2e6]]))
    assert np.ravel(result.value).tolist() == [1.5, 1.5e6]
    assert 0.5 <= result.error[0, 0, 0, 0] < 0.51
    assert 0.5e6 <= result.error[0, 0, 0, 1] < 0.51e6


def test_only_the_column_whose_sum_may_overflow_has_room() -> None:
    large = 0.6 * FORMATS["float32"].largest
    result = _average(_estimate([[0.0, 0.0]], 100.0), _estimate([[1.0, large], [1.0, large]]))
    assert np.isinf(result.error).ravel().tolist() == [False, True]


@pytest.mark.parametrize("error", [700.0, 1e6])
def test_a_score_that_may_be_the_largest_may_have_the_whole_weight(error: float) -> None:
    result = _average(_estimate([[0.0, -650.0]], [[0.0, error]]), _estimate([[0.0], [1.0]]))
    assert 1 <= result.error.item() < 1.001


def test_a_weight_that_another_score_may_make_zero_leaves_an_infinity_open() -> None:
    values = _estimate([[1.0], [np.inf]], dtype="float16")
    surely = _average(_estimate([[0.0, 0.0]], dtype="float16"), values)
    assert surely.value.item() == np.inf
    assert surely.error.item() == 0
    doubtful = _average(_estimate([[0.0, 0.0]], [[20.0, 0.0]], "float16"), values)
    assert np.isinf(doubtful.error).all()
