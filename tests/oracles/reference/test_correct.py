"""Elementary functions through mpmath: digits of tables, and long double beside it everywhere."""

import mpmath
import numpy as np
import pytest

from relaxcheck.generators.core.fills.whole_range import spanning
from relaxcheck.oracles.reference import correct
from relaxcheck.oracles.reference.estimate import OWN_UNIT

LONG_DOUBLE = pytest.mark.skipif(OWN_UNIT > 2.0**-60, reason="long double is no longer than double")

UNARY = {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh,
    "atan": np.arctan, "atanh": np.arctanh, "cos": np.cos, "cosh": np.cosh, "exp": np.exp,
    "log": np.log, "sin": np.sin, "sinh": np.sinh, "tan": np.tan, "tanh": np.tanh,
    "rsqrt": lambda x: 1 / np.sqrt(x),
}  # fmt: skip

DOMAINS = {
    "acos": (-1, 1), "asin": (-1, 1), "atanh": (-0.99, 0.99), "acosh": (1, np.inf),
    "log": (1e-320, np.inf), "rsqrt": (1e-320, np.inf),
    "cosh": (-11000, 11000), "exp": (-11000, 11000), "sinh": (-11000, 11000),
    "tanh": (-11000, 11000),
}  # fmt: skip


def _drawn(count: int) -> np.ndarray:
    words = np.random.Philox(key=7).random_raw(count)
    return spanning(np.asarray(words, np.uint64), np.dtype("float64"))


@pytest.mark.parametrize(
    ("operator", "operands", "wanted"),
    [
        # Digits of e, pi, the natural logarithm of 2 and of tables in Abramowitz and Stegun.
        ("exp", (1.0,), "2.718281828459045235360287"),
        ("acos", (-1.0,), "3.141592653589793238462643"),
        ("log", (2.0,), "0.693147180559945309417232"),
        ("erf", (1.0,), "0.842700792949714869341220"),
        ("atan2", (-1.0, -1.0), "-2.356194490192344928846983"),
        ("power", (2.0, 0.5), "1.414213562373095048801688"),
        ("log_add_exp", (0.0, 0.0), "0.693147180559945309417232"),
        ("sigmoid", (0.0,), "0.5"),
        # The double closest to a multiple of pi/2 (J.-M. Muller, Elementary Functions, 11.3.2).
        ("cos", (6381956970095103.0 * 2.0**797,), "-4.68716592425462761e-19"),
    ],
)
def test_known_digits(operator: str, operands: tuple[float, ...], wanted: str) -> None:
    value = correct.correct(operator, *operands)
    # A table of 17 digits is good for 2**-56.
    digits = 2 * OWN_UNIT if len(wanted) > 24 else 2.0**-56
    assert abs(value - np.longdouble(wanted)) <= digits * abs(np.longdouble(wanted))


def test_a_sum_of_exponentials_keeps_the_digits_that_cancel() -> None:
    """With both operands log(1/2), rounded to a double, only that rounding is left."""
    half = -float(np.log(2))
    with mpmath.workprec(200):
        wanted = mpmath.mpf(half) + mpmath.log(2)
    value = float(correct.correct("log_add_exp", half, half))
    assert 0 < abs(value) < 2.0**-53
    assert abs(value / float(wanted) - 1) < 1e-15


@LONG_DOUBLE
@pytest.mark.parametrize("operator", UNARY)
def test_long_double_is_as_good_over_the_whole_range(operator: str) -> None:
    """Its own error is what the bounds of the reference grant it: 8 unit roundoffs."""
    low, high = DOMAINS.get(operator, (-np.inf, np.inf))
    drawn = _drawn(1200)
    x = drawn[(drawn >= low) & (drawn <= high)]
    assert len(x) > 300
    quick = UNARY[operator](x.astype(np.longdouble))
    exact = np.array([correct.correct(operator, float(each)) for each in x], np.longdouble)
    np.testing.assert_array_less(
        np.abs(quick - exact), 8 * OWN_UNIT * np.abs(exact) + np.longdouble("1e-4900")
    )


def test_only_exact_doubles_are_computed_again() -> None:
    x = np.array([0.5, 1.0, np.inf, 2.0], np.longdouble)
    error = np.array([0, 1e-20, 0, 0])
    marked = np.array([7, 7, np.inf, 7], np.longdouble)
    result = correct.corrected("exp", "float64", [(x, error)], marked)
    np.testing.assert_array_equal(result[1:3], [7, np.inf])
    np.testing.assert_allclose(result[[0, 3]].astype(np.float64), np.exp([0.5, 2.0]), rtol=2.0**-52)
    # Float32 is decided by long double, and so is a large tensor.
    assert correct.corrected("exp", "float32", [(x, error)], marked) is marked
    large = np.ones(correct.MOST + 1, np.longdouble)
    assert correct.corrected("exp", "float64", [(large, np.zeros(len(large)))], large) is large


def test_zeros_keep_their_sign() -> None:
    """The angle of (-1, -0) is -pi."""
    zero, minus = np.array([-0.0], np.longdouble), np.array([-1.0], np.longdouble)
    none = np.zeros(1)
    angle = np.arctan2(zero, minus)
    result = correct.corrected("atan2", "float64", [(zero, none), (minus, none)], angle)
    assert float(result[0]) == -np.pi


def test_scalars_are_computed_again() -> None:
    operand = (np.longdouble(1), np.float64(0))
    result = correct.corrected("exp", "float64", [operand], np.longdouble(7))
    assert float(result) == float(np.e)


@pytest.mark.parametrize("number", ["0", "-3.5", "1e-4800", "-1.7e4000", "1.25"])
def test_numbers_of_any_exponent(number: str) -> None:
    with mpmath.workprec(120):
        assert correct.to_long_double(mpmath.mpf(number)) == np.longdouble(number)
