import numpy as np
import pytest

from relaxcheck.oracles.answer import Bounded
from relaxcheck.oracles.compare import Comparison, within


def _reference(values: list[float], bound: list[float]) -> Bounded:
    return Bounded(np.array(values), np.array(bound), "float32")


def test_within_and_its_figures() -> None:
    compared = within(np.array([1.5, 1.0], np.float32), _reference([1, 2], [1, 4]))
    assert compared.ok
    assert (compared.ratio, compared.worst, compared.error, compared.outside) == (0.5, (0,), 1, 0)


def test_outside() -> None:
    compared = within(
        np.array([[1.5, 1.0, 7.0]], np.float32),
        Bounded(np.array([[1.0, 2.0, 3.0]]), np.array([[1.0, 0.5, 1.0]]), "float32"),
    )
    assert not compared.ok
    assert (compared.ratio, compared.worst, compared.outside) == (4, (0, 2), 2)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_are_out_of_place_where_the_reference_is_finite(value: float) -> None:
    compared = within(np.array([1, value], np.float32), _reference([1, 1], [1, 1e30]))
    assert not compared.ok
    assert (compared.ratio, compared.worst) == (np.inf, (1,))


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0])
def test_an_infinite_bound_admits_everything(value: float) -> None:
    assert within(np.array([value], np.float32), _reference([70000.0], [np.inf])).ok


def test_a_zero_bound_admits_no_difference() -> None:
    reference = _reference([1.0], [0.0])
    assert within(np.array([1.0], np.float32), reference).ok
    compared = within(np.nextafter(np.array([1], np.float32), np.float32(2)), reference)
    assert not compared.ok
    assert compared.ratio == np.inf


def test_integers_beyond_float64_are_compared_exactly() -> None:
    reference = Bounded(np.array([2**53 + 1]), np.zeros(1), "int64")
    assert within(np.array([2**53 + 1]), reference).ok
    compared = within(np.array([2**53]), reference)
    assert not compared.ok
    assert compared.error >= 1


def test_an_empty_output_is_within() -> None:
    compared = within(
        np.zeros((0, 3), np.float32), Bounded(np.zeros((0, 3)), np.zeros((0, 3)), "float32")
    )
    assert compared == Comparison(True, 0.0, None, 0.0, 0)


def test_another_shape_is_an_error() -> None:
    with pytest.raises(ValueError, match="shape"):
        within(np.zeros(3, np.float32), _reference([1.0], [0.0]))


def test_a_difference_as_large_as_its_bound_is_within() -> None:
    compared = within(np.array([1.25], np.float32), _reference([1.0], [0.25]))
    assert compared == Comparison(True, 1.0, (0,), 0.25, 0)


def test_no_difference_has_the_ratio_0_even_of_a_zero_bound() -> None:
    compared = within(np.array([1.0, 1.5], np.float32), _reference([1.0, 1.0], [0.0, 1.0]))
    assert compared == Comparison(True, 0.5, (1,), 0.5, 0)


def test_unconstrained_elements_are_counted_and_have_no_error() -> None:
    actual = np.array([100, np.nan, 1.5], np.float32)
    compared = within(actual, _reference([0, 0, 1], [np.inf, np.inf, 1]))
    assert compared == Comparison(True, 0.5, (2,), 0.5, 0, unconstrained=2)


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_are_in_place_where_the_reference_has_them(special: float) -> None:
    actual = np.array([special, 1.0], np.float32)
    assert within(actual, _reference([special, 1.0], [0, 0])) == Comparison(True, 0.0, (0,), 0.0, 0)
    for other in {np.nan, np.inf, -np.inf, 7.0} - {special}:
        compared = within(actual, _reference([other, 1.0], [0, 0]))
        assert compared == Comparison(False, np.inf, (0,), np.inf, 1)


def test_the_sign_of_a_certain_zero_counts_where_it_is_defined() -> None:
    actual = np.array([0.0, -0.0, -0.0, -2.0], np.float32)
    values, bound = np.array([0.0, 0.0, 0.0, -2.0]), np.array([0.0, 0.0, 1.0, 0.0])
    compared = within(actual, Bounded(values, bound, "float32", signed_zeros=True))
    assert compared == Comparison(False, np.inf, (1,), np.inf, 1)
    assert within(actual, Bounded(values, bound, "float32")).ok
    assert within(-actual, Bounded(-values, bound, "float32", signed_zeros=True)).outside == 1


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64"])
def test_integers_have_a_bound_too(dtype: str) -> None:
    reference = Bounded(np.array([5, 5, 5]), np.array([2.0, 1.0, 0.0]), dtype)
    compared = within(np.array([3, 3, 5]).astype(dtype), reference)
    assert compared == Comparison(False, 2.0, (1,), 2.0, 1)


def test_integers_that_float64_cannot_tell_apart_differ_by_1() -> None:
    reference = Bounded(np.array([2**53 + 1]), np.zeros(1), "int64")
    assert within(np.array([2**53]), reference) == Comparison(False, np.inf, (0,), 1.0, 1)


def test_booleans_are_compared_as_numbers() -> None:
    reference = Bounded(np.array([1, 0]), np.zeros(2), "bool")
    assert within(np.array([True, False]), reference) == Comparison(True, 0.0, (0,), 0.0, 0)
    assert within(np.array([True, True]), reference) == Comparison(False, np.inf, (1,), 1.0, 1)
