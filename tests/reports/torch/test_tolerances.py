"""The tolerances of a script are the bounds of the oracle."""

import ast

import numpy as np
import pytest

from relaxcheck.oracles.answer import Bounded
from relaxcheck.oracles.compare import within
from relaxcheck.reports.torch.tolerances import comparison, tolerances

VALUE = np.array([[1e-9, -0.5, 3.0], [0.0, 2e4, -7.0]])


@pytest.mark.parametrize(
    "bound",
    [
        np.full(VALUE.shape, 1e-6),
        32 * 2.0**-24 * np.abs(VALUE) + 1e-6,
        32 * 2.0**-24 * np.abs(VALUE) + 1e-30,
        np.array([[1e-15, 1e-7, 1e-6], [0.0, 1e-2, 1e-6]]),
        np.zeros(VALUE.shape),
    ],
)
@pytest.mark.parametrize("share", [0.99, 1.01])
def test_an_element_is_wrong_where_it_is_outside_its_bound(
    bound: np.ndarray[tuple[int, ...], np.dtype[np.float64]], share: float
) -> None:
    bounded = Bounded(VALUE, bound, "float32")
    rtol, atol = map(ast.literal_eval, tolerances(bounded))
    for at in np.ndindex(VALUE.shape):
        actual = VALUE.copy()
        actual[at] += share * max(bound[at], 1e-12)
        error = np.abs(actual - VALUE)
        assert (error <= np.array(atol) + rtol * np.abs(VALUE)).all() == within(actual, bounded).ok


def test_alike_bounds_are_one_number() -> None:
    assert tolerances(Bounded(VALUE, np.full(VALUE.shape, 1e-3), "float32")) == ("0", "0.001")
    relative = 32 * 2.0**-24 * np.abs(VALUE) + 1e-6
    assert tolerances(Bounded(VALUE, relative, "float32")) == ("1.91e-06", "1e-06")
    # The same parts exactly, as magnitudes that are powers of two have them.
    powers = np.array([1.0, 2.0, 4.0])
    same = Bounded(powers, 32 * 2.0**-24 * (powers + 8), "float32")
    assert tolerances(same) == ("1.91e-06", "1.526e-05")
    integers = Bounded(np.arange(3), np.zeros(3), "int64")
    assert tolerances(integers) == ("0", "0")
    assert tolerances(Bounded(np.zeros((0, 2)), np.zeros((0, 2)), "float32")) == ("0", "0")
    assert tolerances(Bounded(np.array(2.0), np.array(0.25), "float32")) == ("0", "0.25")


def test_what_may_be_anything_is_listed() -> None:
    first = Bounded(np.arange(3.0), np.array([0.0, np.inf, 1.0]), "float32")
    second = Bounded(np.arange(2.0), np.zeros(2), "float32")
    assert comparison([first, second])[-1] == "close |= np.array([[0, 1, 0], 0][number], bool)"
    assert tolerances(first) == ("0", "[0, 0, 1]")
    assert not any("np.array" in line for line in comparison([second]))


@pytest.mark.parametrize(
    ("dtypes", "wanted", "own", "close"),
    [
        (("float32",), 1.0, 1.4, True),
        (("float32",), 1.0, 1.6, False),
        (("float32",), np.inf, np.inf, True),
        (("float32",), np.inf, 1.0, False),
        (("float32",), np.nan, np.nan, True),
        (("int64",), 2**60, 2**60 + 1, False),
        (("int64", "float32"), 2**60, 2**60 + 1, False),
        (("float32", "int64"), 1.0, 1.4, True),
    ],
)
def test_the_statements_compare(
    dtypes: tuple[str, ...], wanted: float, own: float, close: bool
) -> None:
    dtype = dtypes[0]
    atol = 0.5 if dtype == "float32" else 0.0
    bounds = [Bounded(np.ones(2), np.full(2, atol), dtype) for dtype in dtypes]
    names = {
        "np": np,
        "number": 0,
        "own": np.array([own, 1], dtype),
        "wanted": np.array([wanted, 1], dtype),
    }
    exec("\n".join(comparison(bounds)), names)
    assert names["close"].tolist() == [close, True]  # type: ignore[attr-defined]
