import numpy as np
import pytest

from relaxcheck.oracles.answer import Bounded
from relaxcheck.oracles.compare import within


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
    assert compared.ok
    assert compared.worst is None


def test_another_shape_is_an_error() -> None:
    with pytest.raises(ValueError, match="shape"):
        within(np.zeros(3, np.float32), _reference([1.0], [0.0]))
