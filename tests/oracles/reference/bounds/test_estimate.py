"""Estimates by themselves: what is exact, what is unknown, and the step to float64."""

import ml_dtypes
import numpy as np
import pytest

from relaxcheck.oracles.reference.estimate import (
    FORMATS,
    Estimate,
    as_in,
    exact,
    finished,
    is_ordinary,
    ordinary,
    unknown,
    with_specials,
)

INF, NAN = np.inf, np.nan


def _estimate(value: list[float], error: list[float] | None = None) -> Estimate:
    errors = np.zeros(len(value)) if error is None else np.array(error, np.float64)
    return Estimate(np.array(value, np.longdouble), errors, "float32")


@pytest.mark.parametrize(
    "dtype", ["float8_e4m3fn", "float8_e5m2", "float16", "bfloat16", "float32", "float64"]
)
def test_formats_are_those_of_the_dtypes(dtype: str) -> None:
    numbers = ml_dtypes.finfo(dtype)
    target = FORMATS[dtype]
    assert target.unit == float(numbers.eps) / 2 == 2.0**-target.precision
    assert target.largest == float(numbers.max)
    assert target.smallest == float(numbers.smallest_subnormal)
    assert target.floor in (target.smallest, float(numbers.smallest_normal))
    # From half of a step beyond the largest number all is rounded to infinity.
    step = np.ldexp(np.longdouble(1), np.frexp(target.largest)[1] - target.precision)
    assert step / 2 <= target.ceiling - target.largest <= step
    assert target.saturates == dtype.startswith("float8")


def test_an_input_is_exact_and_has_signed_zeros_where_it_is_a_float() -> None:
    estimate = exact(np.array([1.5, -0.0], np.float16), "float16")
    assert (estimate.value.dtype, estimate.signed) == (np.longdouble, True)
    assert (estimate.value.tolist(), estimate.error.tolist()) == ([1.5, 0.0], [0, 0])
    assert np.signbit(estimate.value).tolist() == [False, True]
    whole = exact(np.array([[3], [200]], np.uint8), "uint8")
    assert (whole.value.dtype, whole.signed, whole.error.shape) == (np.int64, False, (2, 1))
    assert (estimate.dtype, whole.dtype) == ("float16", "uint8")
    assert whole.value.tolist() == [[3], [200]]
    assert not whole.error.any()


def test_an_input_beyond_int64_is_refused() -> None:
    largest = np.array([2**63 - 1], np.uint64)
    assert exact(largest, "uint64").value.tolist() == [2**63 - 1]
    with pytest.raises(ValueError, match=r"^a uint64 input does not fit int64$"):
        exact(largest + np.uint64(1), "uint64")


def test_the_step_to_float64_is_part_of_the_bound() -> None:
    third = np.longdouble(1) / 3
    bounded = finished(Estimate(np.array([third]), np.array([1.0]), "float64", signed=True))
    assert bounded.value.tolist() == [float(third)]
    assert (bounded.dtype, bounded.signed_zeros) == ("float64", True)
    assert 1 <= bounded.bound[0] < 1 + 1e-8
    alone = finished(Estimate(np.array([third]), np.array([0.0]), "float64"))
    assert alone.bound[0] >= float(abs(third - np.longdouble(float(third))))
    assert not alone.signed_zeros


def test_specials_are_certain_and_what_the_format_lacks_is_unconstrained() -> None:
    beyond = FORMATS["float32"].largest * 1.5
    estimate = _estimate([INF, -INF, NAN, beyond, -beyond, FORMATS["float32"].largest])
    with np.errstate(all="raise"):
        bounded = finished(estimate)
    assert bounded.bound.tolist() == [0, 0, 0, INF, INF, 0]


def test_integers_are_finished_as_they_are() -> None:
    estimate = Estimate(np.array([2**62 + 1]), np.array([2.0]), "int64")
    bounded = finished(estimate)
    assert (bounded.value[0], bounded.bound[0], bounded.dtype) == (2**62 + 1, 2.0, "int64")


def test_what_is_not_finite_is_not_ordinary() -> None:
    plain = _estimate([1, -2], [0, 3])
    assert is_ordinary(plain)
    assert ordinary(plain) is plain
    assert plain.reach.tolist() == [1, 5]
    for each in (_estimate([1, NAN]), _estimate([1, INF]), _estimate([1, 0], [0, INF])):
        assert not is_ordinary(each)
        assert unknown(each).tolist() == [False, True]
        assert ordinary(each).value.tolist() == [1, 0]
        assert ordinary(each).error.tolist() == [0, 0]
    kept = ordinary(_estimate([NAN, 4], [0, 2]))
    assert (kept.value.tolist(), kept.error.tolist(), kept.dtype) == ([0, 4], [0, 2], "float32")


def test_an_element_is_unknown_where_some_operand_is() -> None:
    assert unknown().shape == ()
    assert not unknown()
    row, column = _estimate([1, NAN]), Estimate(np.zeros((2, 1)), np.array([[0], [INF]]), "float32")
    assert unknown(row, column).tolist() == [[False, True], [True, True]]


def test_the_precedence_of_specials() -> None:
    undefined, above, below, unconstrained = np.array(
        [[each >> bit & 1 for each in range(16)] for bit in range(4)], np.bool_
    )
    result = with_specials(_estimate([5] * 16, [1] * 16), undefined, above, below, unconstrained)
    for value, error, *flags in zip(
        result.value, result.error, undefined, above, below, unconstrained, strict=True
    ):
        nan, plus, minus, free = flags
        if nan or (plus and minus):
            assert (np.isnan(value), error) == (True, 0), flags
        elif free:
            assert (value, error) == (0, INF), flags
        else:
            wanted = INF if plus else -INF if minus else 5
            assert (value, error) == (wanted, 0 if plus or minus else 1), flags


def test_a_result_is_as_special_as_its_source() -> None:
    source = _estimate([NAN, INF, -INF, 0, 1], [0, 0, 0, INF, 0])
    result = as_in(source, _estimate([7] * 5, [2] * 5))
    assert np.isnan(result.value[0])
    assert result.value[1:].tolist() == [INF, -INF, 0, 7]
    assert result.error.tolist() == [0, 0, 0, INF, 2]
    plain = _estimate([7], [2])
    assert as_in(_estimate([1]), plain) is plain
