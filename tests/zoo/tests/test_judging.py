"""The ratio of errors: what is right, and each way to be wrong."""

import math

import numpy as np

from tests.zoo.judging import THRESHOLD, difference, ratio, worst

EXACT = np.array([1.0, -2.0, 4.0])
EAGER = (EXACT * (1 + 1e-7)).astype(np.float32)


def test_an_error_like_pytorchs_own_has_a_small_ratio() -> None:
    assert ratio(EAGER, EAGER, EXACT) <= 1.0
    near = (EXACT * (1 - 1e-7)).astype(np.float32)
    assert ratio(near, EAGER, EXACT) < 4.0


def test_a_small_difference_is_far_beyond_the_threshold() -> None:
    assert ratio((EXACT * 1.001).astype(np.float32), EAGER, EXACT) > 100 * THRESHOLD


def test_an_exact_eager_result_allows_the_floor() -> None:
    one = np.ones(2, np.float32)
    assert ratio(np.nextafter(one, np.float32(2)), one, one.astype(np.float64)) == 1.0


def test_shape_dtype_and_special_values_have_to_be_equal() -> None:
    assert math.isinf(ratio(EAGER[None], EAGER, EXACT))
    assert math.isinf(ratio(EAGER.astype(np.float64), EAGER, EXACT))
    lost = EAGER.copy()
    lost[1] = np.nan
    assert math.isinf(ratio(lost, EAGER, EXACT))
    assert math.isinf(ratio(EAGER, lost, EXACT))
    up, down = np.array([np.inf], np.float32), np.array([-np.inf], np.float32)
    assert math.isinf(ratio(up, down, down))
    assert ratio(lost, lost, EXACT) <= 1.0


def test_integers_have_to_be_equal() -> None:
    whole = np.array([3, 4])
    assert ratio(whole, whole, whole) == 0.0
    assert math.isinf(ratio(whole + 1, whole, whole))


def test_the_worst_of_several_results_counts_and_none_may_lack() -> None:
    assert math.isinf(worst([EAGER], [EAGER, EAGER], [EXACT, EXACT]))
    bad = (EXACT * 2).astype(np.float32)
    assert worst([EAGER, bad], [EAGER, EAGER], [EXACT, EXACT]) > THRESHOLD


def test_the_difference_names_the_result() -> None:
    assert difference([EAGER, EAGER[:2]], [EAGER, EAGER]) == (
        "result 1 is float32[2] for float32[3]"
    )
    assert "result 0: off by 4" in difference([(EXACT * 2).astype(np.float32)], [EAGER])
    assert difference([], [EAGER]) == "0 results for 1"
