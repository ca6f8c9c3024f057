"""NaN, infinities and the extremes of dtypes agree with NumPy."""

from typing import Any

import numpy as np
import pytest
from tvm import relax

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.lowerings import (
    special_values,
)
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

OP = relax.op


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize(
    ("name", "axis", "keep", "dtype"),
    [
        ("argmax", 1, False, "float32"),
        ("argmin", None, False, "float16"),
        ("argmax", -1, True, "float64"),
        ("argmin", None, True, "int32"),
        ("argmax", 0, False, "int8"),
    ],
)
def test_places(name: str, axis: int | None, keep: bool, dtype: str, fused: bool) -> None:
    def make(x: Any) -> Any:
        return getattr(OP, name)(x, axis=axis, keepdims=keep)

    run = compiled.run_with(special_values.FIX, make, ("M", 3, "N"), dtypes=(dtype,), fused=fused)
    ends = np.iinfo(dtype) if "int" in dtype else None
    low, high = (ends.min, ends.max) if ends else (-np.inf, np.inf)
    arrays = [np.full((2, 3, 2), bound).astype(dtype) for bound in (low, high)]
    for array in (compiled.sample((2, 3, 4), dtype), *arrays):
        want = getattr(np, name)(array, axis=axis, keepdims=keep)
        np.testing.assert_array_equal(run(array), want)


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "int32"])
def test_unequal(dtype: str) -> None:
    run = compiled.run_with(
        special_values.FIX, OP.not_equal, ("M", 1), (3,), dtypes=(dtype,) * 2, fused=True
    )
    values = [1, 2, np.nan] if dtype != "int32" else [1, 2, 3]
    column, row = np.array(values, dtype)[:, None], np.array([1, *values[1:]], dtype)
    np.testing.assert_array_equal(run(column, row), column != row)
    run = compiled.run_with(
        special_values.FIX, OP.equal, ("M", 1), (3,), dtypes=(dtype,) * 2, fused=True
    )
    np.testing.assert_array_equal(run(column, row), column == row)


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "int32"])
def test_less_itself(dtype: str) -> None:
    def make(x: Any) -> Any:
        return OP.abs(OP.subtract(x, x))

    run = compiled.run_with(special_values.FIX, make, ("M",), dtypes=(dtype,), fused=True)
    values = np.array([1, 2, 3] if dtype == "int32" else [np.inf, -np.inf, np.nan, -2], dtype)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(run(values), np.abs(values - values))


def test_floats_that_have_no_isnan_are_lowered_as_before() -> None:
    for operator in (OP.equal, OP.not_equal, OP.subtract):
        program = compiled.module(operator, ("M",), ("M",), dtypes=("bfloat16",) * 2)
        with installation.install([special_values.FIX]):
            lowered = relax.transform.LegalizeOps()(program)
        assert compiled.calls(lowered) == ["relax.call_tir"]


PROGRAMS: whole.Programs = {
    "special_values": {
        "NaN": (whole.upstream("special_values", "nan_is_unequal_to_itself"),),
        "fused NaN": (whole.upstream("special_values", "nan_is_not_equal_to_itself"),),
        "fused infinities": (
            whole.upstream("special_values", "infinity_less_itself_is_not_a_number"),
        ),
        "ends of dtypes": (
            whole.upstream("special_values", "the_first_of_infinities"),
            whole.upstream("special_values", "the_first_of_the_largest_integers"),
        ),
    },
}

CURES: whole.Cures = {
    "argmin-of-infinity": (("special_values", "ends of dtypes"),),
    "infinity-less-itself": (("special_values", "fused infinities"),),
    "not-equal-of-nan": (("special_values", "NaN"),),
}
