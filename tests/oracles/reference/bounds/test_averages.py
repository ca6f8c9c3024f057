"""Sums, means and variances by themselves: their values, and bounds that hold and are no wider."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from relaxcheck.oracles.reference.averages import average, running_average, shared, spread, total
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate

UNIT = FORMATS["float32"].unit
X = np.array([[1.0, 2.0, 4.0], [8.0, 16.0, 33.0]])
Reduced = Callable[[Estimate, tuple[int, ...], bool], Estimate]


def _estimate(values: np.ndarray, error: float = 0.0) -> Estimate:
    return Estimate(values.astype(np.longdouble), np.full(values.shape, error), "float32")


def _one_pass(operand: Estimate, axes: tuple[int, ...], keep: bool) -> Estimate:
    return spread(operand, axes, keep, one_pass=True)


def _two_passes(operand: Estimate, axes: tuple[int, ...], keep: bool) -> Estimate:
    return spread(operand, axes, keep, one_pass=False)


REDUCTIONS: dict[str, tuple[Reduced, Callable[..., np.ndarray]]] = {
    "sum": (total, np.sum),
    "mean": (average, np.mean),
    "running mean": (running_average, np.mean),
    "variance": (_two_passes, np.var),
    "variance in one pass": (_one_pass, np.var),
}


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("keep", [True, False])
def test_the_value_is_numpys_and_the_bound_a_few_roundings(
    name: str, axes: tuple[int, ...], keep: bool
) -> None:
    reduced, numpys = REDUCTIONS[name]
    result, wanted = reduced(_estimate(X), axes, keep), numpys(X, axis=axes, keepdims=keep)
    assert result.value.shape == result.error.shape == wanted.shape
    assert np.allclose(result.value.astype(np.float64), wanted, rtol=1e-15, atol=0)
    assert (result.error <= 60 * UNIT * (X * X).sum()).all()


@pytest.mark.parametrize("name", REDUCTIONS)
def test_what_the_operands_may_be_off_moves_the_result(name: str) -> None:
    reduced, numpys = REDUCTIONS[name]
    off = 0.125
    result = reduced(_estimate(X, off), (1,), False)
    for signs in np.ndindex(2, 2, 2):
        moved = numpys(X + off * (2 * np.array(signs) - 1), axis=1)
        assert (np.abs(moved - result.value) <= result.error).all()
    # All terms that are off together, and the mean with them.
    assert (result.error <= 40 * off * np.abs(X).sum(1)).all()


@pytest.mark.parametrize("name", sorted(REDUCTIONS.keys() - {"sum"}))
def test_of_no_elements_there_is_no_mean(name: str) -> None:
    reduced, _ = REDUCTIONS[name]
    result = reduced(_estimate(np.zeros((2, 0))), (1,), False)
    assert result.value.tolist() == [0, 0]
    assert result.error.tolist() == [np.inf, np.inf]


@pytest.mark.parametrize("name", ["variance", "variance in one pass"])
@pytest.mark.parametrize("special", [np.nan, np.inf, 3e38])
def test_a_variance_is_known_only_of_numbers_whose_squares_are(name: str, special: float) -> None:
    values = np.array([[1.0, 2.0], [1.0, special]])
    result = REDUCTIONS[name][0](_estimate(values), (1,), False)
    assert np.isfinite(result.error).tolist() == [True, False]
    assert result.value[1] == 0


def test_a_quotient_by_a_power_of_two_is_exact_where_the_result_is_normal() -> None:
    normal = FORMATS["float32"].smallest * 2.0**23
    sums = np.array([7.0, 7.0, 0.0, -6.0, 4 * normal, 2 * normal])
    result = shared(_estimate(sums), np.array([4, 3, 8, 2, 4, 4]))
    assert (result.error == 0).tolist() == [True, False, True, True, True, False]
    assert np.allclose(result.value.astype(np.float64), sums / [4, 3, 8, 2, 4, 4], rtol=1e-15)
    assert result.error[1] <= 4 * UNIT * 7 / 3
    largest = FORMATS["float32"].largest
    assert shared(_estimate(np.array([largest])), np.array(1)).error.tolist() == [0]


def test_a_quotient_of_what_is_off_is_off() -> None:
    moved = shared(_estimate(np.array([8.0]), error=1.0), np.array(4))
    assert 0.25 <= moved.error[0] <= 0.2501
    unknown = replace(_estimate(np.array([8.0])), error=np.array([np.inf]))
    assert shared(unknown, np.array(4)).error.tolist() == [np.inf]
    assert shared(_estimate(np.array([np.nan])), np.array(4)).error.tolist() == [np.inf]


def test_a_running_mean_loses_relative_to_the_largest_element() -> None:
    flat = _estimate(np.array([[1024.0, -1024.0, 1.0, -1.0]]))
    plain, running = average(flat, (1,), False), running_average(flat, (1,), False)
    extra = running.error - plain.error
    assert 4 * UNIT * 1024 <= extra[0] <= 16 * UNIT * 1024
    alone = _estimate(np.array([[5.0]]))
    assert running_average(alone, (1,), False).error == average(alone, (1,), False).error


def test_a_sum_of_integers_wraps_around_at_64_bits() -> None:
    three = Estimate(np.full(3, 2**62), np.zeros(3), "int64")
    assert total(three, (0,), False).value == 3 * 2**62 - 2**64


def test_a_variance_in_one_pass_loses_relative_to_the_squares() -> None:
    result = _one_pass(_estimate(1000 + np.array([[0.0, 1.0, 2.0, 3.0]])), (1,), False)
    # Both squares round in each of the sums, and an error of the mean counts twice its size.
    assert 40 * UNIT * 1e6 <= result.error[0] <= 100 * UNIT * 1e6
