"""Errors that somebody may call rounding, and errors that nobody does."""

from dataclasses import asdict

import ml_dtypes
import numpy as np
import pytest

from relaxcheck.generators.core.values import numpy_dtype
from relaxcheck.harness.outcomes.deviation import (
    WORST,
    Deviation,
    clarity,
    deviation_of,
    far_clearer,
    is_slight,
)
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict


def wrong(actual: float | None, expected: float, bound: float, dtype: str = "float32") -> Outcome:
    """A wrong value whose worst element is this."""
    worst = asdict(Deviation(actual, expected, bound, dtype))
    return Outcome(Verdict.WRONG_VALUE, "compare", details={WORST: worst})


@pytest.mark.parametrize(
    ("actual", "expected", "bound", "dtype", "slight"),
    [
        # Two and a half times its bound, and right to five digits.
        (0.0165503826, 0.016550403, 7.89e-09, "float32", True),
        # Far beyond its bound, and right to half of its digits all the same.
        (1.0001, 1.0, 1e-7, "float32", True),
        (1.001, 1.0, 1e-7, "float32", False),
        (0.0, 4.1e-8, 1e-14, "float32", False),
        (None, 1.0, 1e-7, "float32", False),
        # float64 that was computed in float32.
        (0.17743440901780624, 0.1774344018642526, 1e-16, "float64", False),
        (0.1774344018642536, 0.1774344018642526, 1e-16, "float64", True),
        (1.02, 1.0, 1e-3, "float16", True),
        (1.05, 1.0, 1e-3, "float16", False),
        (1.05, 1.0, 1e-3, "bfloat16", True),
        # Its bound is so wide that it has no digit that is sure.
        (3e-7, 1e-7, 1e-7, "float32", True),
        (1e-6, 0.0, 1e-9, "float32", False),
        (1e-6, 0.0, 0.0, "float32", False),
    ],
)
def test_slight_is_what_somebody_may_call_rounding(
    actual: float | None, expected: float, bound: float, dtype: str, slight: bool
) -> None:
    assert is_slight(wrong(actual, expected, bound, dtype)) is slight


def test_no_other_failure_is_slight() -> None:
    crash = Outcome(Verdict.OPAQUE_CRASH, details=wrong(1.0, 1.0, 0.0).details)
    integers = Outcome(Verdict.WRONG_VALUE, "compare")
    assert not is_slight(crash)
    assert not is_slight(integers)
    assert deviation_of(crash) is deviation_of(integers) is None


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("expected", [1.0, -1.5, 0.1, 300.0, 1e-3, 2.0**-14])
def test_an_ulp_is_the_distance_to_the_next_number(dtype: str, expected: float) -> None:
    number = np.array(abs(expected), numpy_dtype(dtype))
    wider = np.nextafter(number, np.array(np.inf, number.dtype)).astype("float64")
    assert Deviation(0.0, float(number), 0.0, dtype).ulp == wider - number.astype("float64")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_least_ulp_is_that_of_subnormal_numbers(dtype: str) -> None:
    known = ml_dtypes.finfo(dtype)
    least = float(known.smallest_subnormal)
    assert Deviation(0.0, least, 0.0, dtype).ulp == least
    assert Deviation(0.0, float(known.smallest_normal), 0.0, dtype).ulp == least


def test_ordinary_results_are_clearer_than_extreme_ones_and_large_errors_than_slight() -> None:
    slight = wrong(0.0165503826, 0.016550403, 7.89e-09)
    rough, zero = wrong(4.5418e-5, 4.5399e-5, 2e-11), wrong(0.0, 1e-9, 5e-16)
    underflow, overflow = wrong(0.0, 1e-40, 1e-45), wrong(None, 2.5e150, 1e145, "float64")
    for clear, other in [
        (rough, slight),
        (zero, rough),
        (rough, underflow),
        (slight, overflow),
        (wrong(1.00001, 1.0, 1e-8), wrong(1.0000002, 1.0, 1e-8)),
    ]:
        assert far_clearer(clear, other)
        assert not far_clearer(other, clear)
    # Beyond doubt, more convinces nobody else.
    assert not far_clearer(wrong(9.0, 1.0, 0.0), wrong(1.5, 1.0, 0.0))
    assert clarity(Outcome(Verdict.WRONG_VALUE)) == clarity(wrong(None, 1.0, 0.0))
