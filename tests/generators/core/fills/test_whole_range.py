"""The whole range of a dtype: every exponent, and the points where functions turn."""

from math import log, pi

import ml_dtypes
import mpmath
import numpy as np
import pytest

from relaxcheck.generators.core.fills.whole_range import spanning
from relaxcheck.generators.core.values import numpy_dtype

DTYPES = ("float16", "bfloat16", "float32", "float64")


def _drawn(dtype: str, count: int = 200_000) -> np.ndarray:
    words = np.asarray(np.random.Philox(key=3).random_raw(count), np.uint64)
    drawn = spanning(words, numpy_dtype(dtype))
    assert drawn.dtype == numpy_dtype(dtype)
    return drawn.astype(np.float64)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_exponent_occurs_with_either_sign(dtype: str) -> None:
    known = ml_dtypes.finfo(numpy_dtype(dtype))
    x = _drawn(dtype)
    assert np.isfinite(x).all()
    for half in (x[x > 0], -x[x < 0]):
        seen = set(np.frexp(half)[1].tolist())
        least, most = (int(np.frexp(float(each))[1]) for each in (known.smallest_normal, known.max))
        assert seen.issuperset(range(least, most + 1))
        assert float(known.smallest_subnormal) <= half.min() < float(known.smallest_normal)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_third_is_ordinary(dtype: str) -> None:
    size = np.abs(_drawn(dtype))
    assert 0.3 < ((size > 2.0**-6) & (size < 32)).mean() < 0.8


@pytest.mark.parametrize("dtype", DTYPES)
def test_turning_points_and_their_neighbours_occur(dtype: str) -> None:
    kind = numpy_dtype(dtype)
    known = ml_dtypes.finfo(kind)
    x = _drawn(dtype)
    zeros = x[x == 0]
    assert 0.2 < np.signbit(zeros).mean() < 0.8
    above, below = float(1 + known.eps), float(1 - known.epsneg)
    overflow = float(np.array(log(float(known.max)), kind))
    largest = float(known.max)
    for point in (1.0, above, below, overflow, largest, float(np.array(pi / 2, kind))):
        assert {point, -point} <= set(x.tolist())


@pytest.mark.parametrize(
    ("dtype", "nearest"),
    [("float16", 2.0**-16), ("float32", 2.0**-29), ("float64", 2.0**-60)],
)
def test_the_numbers_closest_to_multiples_of_a_quarter_turn_occur(
    dtype: str, nearest: float
) -> None:
    large = {value for value in _drawn(dtype).tolist() if value > 100}
    with mpmath.workprec(1200):
        cosines = [float(abs(mpmath.cos(value))) for value in large]
    assert min(cosines) < 1.6 * nearest
